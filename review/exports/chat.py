"""Conversations for language models: a page and what is asked of it, and the answer that people stand behind.

What is asked is word for word what Stet asks when it serves (`inference/serving/prompts`), so that a model that was
trained on it is asked in production what it has learned. One page, one conversation.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from inference.serving.page_images import PreparedImage
from inference.serving.prompts import compact_json, load_prompt, turns_for
from review.exports.archive import Archive
from review.exports.samples import Sample, SamplePage, values_on

_IMAGE = cast("PreparedImage", object())
_BREAK = "\n"


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is asked of one page, texts around a picture (None), the answer, and the reader's where it differs."""

    page: SamplePage
    asked: tuple[str | None, ...]
    answer: str
    rejected: str | None

    def with_marker(self) -> str:
        """Return what is asked as one text in which `<image>` stands for the picture."""
        return _BREAK.join("<image>" if part is None else part for part in self.asked)

    def as_parts(self) -> list[dict[str, Any]]:
        """Return what is asked as typed parts, with the picture as a part of its own."""
        return [{"type": "image"} if part is None else {"type": "text", "text": part} for part in self.asked]


@dataclass(slots=True)
class Conversations:
    """The conversations of samples, for document types by their schemas; `left_out` counts pages by why."""

    schemas: dict[tuple[str, int], dict[str, Any]]
    prompt_version: str
    left_out: dict[str, int] = field(default_factory=dict)
    _asked: dict[tuple[str, int], tuple[str | None, ...]] = field(default_factory=dict)

    def of(self, sample: Sample) -> Iterator[Conversation]:
        """Yield one conversation a page."""
        for page in sample.pages:
            values = values_on(sample, page)
            if values is None:
                self.left_out["page_of_a_value_unknown"] = self.left_out.get("page_of_a_value_unknown", 0) + 1
                continue
            read = values_on(sample, page, is_predicted=True)
            rejected = compact_json(read) if read not in (None, values) else None
            yield Conversation(page, self._question(sample), compact_json(values), rejected)

    def _question(self, sample: Sample) -> tuple[str | None, ...]:
        key = (str(sample.row["document_type"]), int(sample.row["schema_version"]))
        if key not in self._asked:
            (turn,) = turns_for(load_prompt(self.prompt_version), self.schemas[key], _IMAGE)
            self._asked[key] = tuple(part if isinstance(part, str) else None for part in turn.parts)
        return self._asked[key]


def line(data: object) -> bytes:
    """Return one line of JSON; characters stay as they are."""
    return utf8(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n")


def utf8(text: str) -> bytes:
    """Return text as it is written: untouched, but for halves of surrogate pairs, which become an escape."""
    return text.encode("utf-8", errors="backslashreplace")


def write_openai(archive: Archive, sample: Sample, conversations: Conversations) -> None:
    """Messages with the picture as a data URL: OpenAI's fine-tuning of models that see."""
    for one in conversations.of(sample):
        url = "data:image/jpeg;base64," + base64.b64encode(one.page.jpeg()).decode()
        asked = [
            {"type": "image_url", "image_url": {"url": url}} if part is None else {"type": "text", "text": part}
            for part in one.asked
        ]
        messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": one.answer}]
        archive.part(f"{sample.split}.jsonl").write(line({"messages": messages}))


def write_llamafactory(archive: Archive, sample: Sample, conversations: Conversations) -> None:
    """ShareGPT as LLaMA-Factory reads it; pairs for preference training beside it."""
    for one in conversations.of(sample):
        picture = _picture(archive, sample, one)
        asked = {"from": "human", "value": one.with_marker()}
        answer = {"from": "gpt", "value": one.answer}
        told = {"conversations": [asked, answer], "images": [picture]}
        archive.part(f"stet_{sample.split}.jsonl").write(line(told))
        if one.rejected is not None:
            pair = {"chosen": answer, "rejected": {"from": "gpt", "value": one.rejected}}
            told = {"conversations": [asked], **pair, "images": [picture]}
            archive.part(f"stet_{sample.split}_preferences.jsonl").write(line(told))


def close_llamafactory(archive: Archive) -> None:
    """Say what the files are: dataset_info.json."""
    info: dict[str, Any] = {}
    for name in archive.part_names("stet_"):
        stem = name.removesuffix(".jsonl")
        columns = {"messages": "conversations", "images": "images"}
        info[stem] = {"file_name": name, "formatting": "sharegpt", "columns": columns}
        if stem.endswith("_preferences"):
            info[stem] |= {"ranking": True, "columns": columns | {"chosen": "chosen", "rejected": "rejected"}}
    archive.put("dataset_info.json", json.dumps(info, indent=2).encode() + b"\n")


def write_swift(archive: Archive, sample: Sample, conversations: Conversations) -> None:
    """ms-swift's messages, with `rejected_response` in the pairs for preference training."""
    for one in conversations.of(sample):
        picture = _picture(archive, sample, one)
        messages = [{"role": "user", "content": one.with_marker()}, {"role": "assistant", "content": one.answer}]
        told: dict[str, Any] = {"messages": messages, "images": [picture]}
        archive.part(f"{sample.split}.jsonl").write(line(told))
        if one.rejected is not None:
            told = told | {"rejected_response": one.rejected}
            archive.part(f"{sample.split}_preferences.jsonl").write(line(told))


def write_trl(archive: Archive, sample: Sample, conversations: Conversations) -> None:
    """TRL's conversational vision form, as a folder of images that `datasets` loads with `images` decoded."""
    for one in conversations.of(sample):
        messages = [{"role": "user", "content": one.as_parts()}, _said(one.answer)]
        _in_image_folder(archive, sample, one, {"messages": messages})


def write_preference(archive: Archive, sample: Sample, conversations: Conversations) -> None:
    """TRL's preference form: the reader's answer rejected, what people made of it chosen; only where they differ."""
    for one in conversations.of(sample):
        if one.rejected is not None:
            prompt = [{"role": "user", "content": one.as_parts()}]
            pair = {"chosen": [_said(one.answer)], "rejected": [_said(one.rejected)]}
            _in_image_folder(archive, sample, one, {"prompt": prompt, **pair})


def write_paddleocr_vl(archive: Archive, sample: Sample, conversations: Conversations) -> None:
    """ERNIEKit's SFT form for PaddleOCR-VL: its task word, the empty form of the answer, and the answer."""
    for one in conversations.of(sample):
        picture = _picture(archive, sample, one)
        told = {
            "image_info": [{"matched_text_index": 0, "image_url": f"./{picture}"}],
            "text_info": [
                {"text": "OCR:" + compact_json(_emptied(json.loads(one.answer))), "tag": "mask"},
                {"text": one.answer, "tag": "no_mask"},
            ],
        }
        archive.part(f"{sample.split}.jsonl").write(line(told))


def _emptied(node: Any) -> Any:  # noqa: ANN401 - a tree of mappings and lists
    """Return the form of an answer without its values, with one row of each list."""
    if isinstance(node, dict):
        return {key: _emptied(child) for key, child in node.items()}
    return [_emptied(row) for row in node[:1]] if isinstance(node, list) else ""


def _said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def _picture(archive: Archive, sample: Sample, one: Conversation) -> str:
    """Put the page into the archive; return its name."""
    name = f"images/{sample.picture(one.page)}"
    archive.put(name, one.page.jpeg())
    return name


def _in_image_folder(archive: Archive, sample: Sample, one: Conversation, told: dict[str, Any]) -> None:
    name = sample.picture(one.page)
    archive.put(f"{sample.split}/{name}", one.page.jpeg())
    archive.part(f"{sample.split}/metadata.jsonl").write(line({"images_file_names": [name], **told}))
