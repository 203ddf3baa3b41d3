"""Conversations: what is asked, what is answered, in the forms that the trainers document."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import datasets
import pytest
from jsonschema import Draft202012Validator
from PIL import Image

from inference.serving.prompts import load_prompt
from review.models import Snapshot
from tests.conftest import Cast
from tests.review.snapshots import SIZE, add_reviewed, json_lines, taken, unpacked

TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
PICTURES: dict[str, Any] = {"type": "array", "items": {"type": "string", "pattern": r"^images/.+\.jpg$"}, "minItems": 1}
PART: dict[str, Any] = {
    "oneOf": [
        {"required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": TEXT}},
        {
            "required": ["type", "image_url"],
            "properties": {
                "type": {"const": "image_url"},
                "image_url": {"required": ["url"], "properties": {"url": {"pattern": "^data:image/jpeg;base64,"}}},
            },
        },
    ]
}
PARTS: dict[str, Any] = {"items": PART}
# After OpenAI's guide to fine-tuning models that see: user and assistant in turn, at least one of the latter.
OPENAI: dict[str, Any] = {
    "required": ["messages"],
    "additionalProperties": False,
    "properties": {
        "messages": {
            "prefixItems": [
                {
                    "required": ["role", "content"],
                    "properties": {"role": {"const": "user"}, "content": PARTS},
                },
                {"required": ["role", "content"], "properties": {"role": {"const": "assistant"}, "content": TEXT}},
            ],
            "minItems": 2,
            "items": False,
        }
    },
}


def _said(role: str, role_key: str, text_key: str) -> dict[str, Any]:
    return {"required": [role_key, text_key], "properties": {role_key: {"const": role}, text_key: TEXT}}


# After LLaMA-Factory's data/README: ShareGPT, one `<image>` in the text for each of `images`.
SHAREGPT: dict[str, Any] = {
    "required": ["conversations", "images"],
    "properties": {
        "conversations": {
            "prefixItems": [_said("human", "from", "value"), _said("gpt", "from", "value")],
            "minItems": 2,
            "items": False,
        },
        "images": PICTURES,
    },
}
RANKING: dict[str, Any] = {
    "required": ["conversations", "chosen", "rejected", "images"],
    "properties": {
        "conversations": {"prefixItems": [_said("human", "from", "value")], "minItems": 1, "items": False},
        "chosen": _said("gpt", "from", "value"),
        "rejected": _said("gpt", "from", "value"),
        "images": PICTURES,
    },
}
# After ms-swift's "Custom Dataset": messages, images, and rejected_response for preferences.
SWIFT: dict[str, Any] = {
    "required": ["messages", "images"],
    "properties": {
        "messages": {
            "prefixItems": [_said("user", "role", "content"), _said("assistant", "role", "content")],
            "minItems": 2,
            "items": False,
        },
        "images": PICTURES,
        "rejected_response": TEXT,
    },
}
# After ERNIE's docs/datasets: mask and no_mask in turn, each picture before the text that it belongs to.
ERNIE: dict[str, Any] = {
    "required": ["image_info", "text_info"],
    "properties": {
        "image_info": {
            "items": {
                "required": ["matched_text_index", "image_url"],
                "properties": {"matched_text_index": {"const": 0}, "image_url": {"pattern": r"^\./images/.+\.jpg$"}},
            },
            "minItems": 1,
        },
        "text_info": {
            "prefixItems": [_said("mask", "tag", "text"), _said("no_mask", "tag", "text")],
            "minItems": 2,
            "items": False,
        },
    },
}
ANSWER = {"company": "BOOK r", "date": "2018-12-25", "total": "9.10"}
READ = ANSWER | {"total": "9.00"}


@pytest.fixture
def snapshot(cast: Cast) -> Snapshot:
    """One receipt whose total was read wrong, and one that was read right."""
    add_reviewed(cast.document_type, "r", verdicts={"/total": ("corrected", "9.10")})
    add_reviewed(cast.document_type, "right")
    return taken(cast.project)


def checked(rows: list[Any], schema: dict[str, Any]) -> list[Any]:
    for row in rows:
        Draft202012Validator(schema).validate(row)
    return rows


def test_openai_gets_messages_with_the_picture_in_them(snapshot: Snapshot, tmp_path: Path) -> None:
    rows = checked(json_lines(unpacked(snapshot, "openai", tmp_path) / "train.jsonl"), OPENAI)
    asked, answered = rows[0]["messages"]
    assert json.loads(answered["content"]) == ANSWER
    (url,) = [part["image_url"]["url"] for part in asked["content"] if part["type"] == "image_url"]
    assert Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size == SIZE


def test_what_is_asked_is_what_the_product_asks(snapshot: Snapshot, tmp_path: Path) -> None:
    (asked, _), *_ = [row["messages"] for row in json_lines(unpacked(snapshot, "openai", tmp_path) / "train.jsonl")]
    texts = [part["text"] for part in asked["content"] if part["type"] == "text"]
    assert load_prompt("v2").texts["task"].strip().splitlines()[0] in texts[0]
    assert '"company"' in "".join(texts)


def test_the_answer_is_in_the_order_of_the_schema(snapshot: Snapshot, tmp_path: Path) -> None:
    (_, answered), *_ = [row["messages"] for row in json_lines(unpacked(snapshot, "openai", tmp_path) / "train.jsonl")]
    assert list(json.loads(answered["content"])) == ["company", "date", "total"]


def test_llamafactory_finds_its_files_by_dataset_info(snapshot: Snapshot, tmp_path: Path) -> None:
    folder = unpacked(snapshot, "llamafactory", tmp_path)
    info = json.loads((folder / "dataset_info.json").read_text())
    assert info.keys() == {"stet_train", "stet_train_preferences"}
    for name, schema in (("stet_train", SHAREGPT), ("stet_train_preferences", RANKING)):
        described = info[name]
        assert described["formatting"] == "sharegpt"
        rows = checked(json_lines(folder / described["file_name"]), schema)
        for row in rows:
            assert {column in row for column in described["columns"].values()} == {True}
            assert row["conversations"][0]["value"].count("<image>") == len(row["images"])
            assert all((folder / image).is_file() for image in row["images"])
    assert info["stet_train_preferences"]["ranking"] is True


def test_swift_gets_messages_and_the_answer_that_was_rejected(snapshot: Snapshot, tmp_path: Path) -> None:
    folder = unpacked(snapshot, "swift", tmp_path)
    rows = checked(json_lines(folder / "train.jsonl"), SWIFT)
    assert len(rows) == 2
    (pair,) = checked(json_lines(folder / "train_preferences.jsonl"), SWIFT)
    assert json.loads(pair["rejected_response"]) == READ
    assert json.loads(pair["messages"][1]["content"]) == ANSWER
    assert pair["messages"][0]["content"].count("<image>") == 1


def loaded(folder: Path) -> Any:
    datasets.disable_progress_bars()
    return datasets.load_dataset("imagefolder", data_dir=str(folder), cache_dir=str(folder.parent / "cache"))["train"]


def test_trl_gets_conversations_with_decoded_pictures(snapshot: Snapshot, tmp_path: Path) -> None:
    rows = loaded(unpacked(snapshot, "trl", tmp_path))
    assert len(rows) == 2
    for row in rows:
        assert [image.size for image in row["images"]] == [SIZE]
        user, assistant = row["messages"]
        assert (user["role"], assistant["role"]) == ("user", "assistant")
        # As many placeholders as pictures, which TRL's collator insists on.
        assert [part["type"] for part in user["content"]].count("image") == len(row["images"])
        assert json.loads(assistant["content"][0]["text"]).keys() == ANSWER.keys()


def test_a_preference_is_the_readers_answer_against_the_reviewers(snapshot: Snapshot, tmp_path: Path) -> None:
    (row,) = loaded(unpacked(snapshot, "preference", tmp_path))
    assert json.loads(row["chosen"][0]["content"][0]["text"]) == ANSWER
    assert json.loads(row["rejected"][0]["content"][0]["text"]) == READ
    assert [part["type"] for part in row["prompt"][0]["content"]].count("image") == len(row["images"]) == 1


def test_paddleocr_vl_gets_masked_and_unmasked_texts(snapshot: Snapshot, tmp_path: Path) -> None:
    folder = unpacked(snapshot, "paddleocr_vl", tmp_path)
    rows = checked(json_lines(folder / "train.jsonl"), ERNIE)
    asked, answered = (part["text"] for part in rows[0]["text_info"])
    assert asked == 'OCR:{"company":"","date":"","total":""}'
    assert json.loads(answered) == ANSWER
    assert (folder / rows[0]["image_info"][0]["image_url"]).is_file()


def test_a_page_is_asked_only_for_what_stands_on_it(cast: Cast, tmp_path: Path) -> None:
    record = add_reviewed(cast.document_type, "two", n_pages=2)
    record.run.predictions.filter(field_path="/total").update(page_number=2)
    rows = json_lines(unpacked(taken(cast.project), "swift", tmp_path) / "train.jsonl")
    first, second = (json.loads(row["messages"][1]["content"]) for row in rows)
    assert first == {"company": "BOOK two", "date": "2018-12-25", "total": None}
    assert second == {"company": None, "date": None, "total": "9.00"}


def test_pages_are_left_out_where_nobody_knows_on_which_a_value_stands(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "two", n_pages=2, verdicts={"/total": ("corrected", "123.45")})
    folder = unpacked(taken(cast.project), "swift", tmp_path)
    assert not (folder / "train.jsonl").exists()
    assert json.loads((folder / "export.json").read_text())["left_out"] == {"page_of_a_value_unknown": 2}


def test_values_are_taught_as_they_are_printed(cast: Cast, tmp_path: Path) -> None:
    record = add_reviewed(cast.document_type, "r")
    record.run.predictions.filter(field_path="/date").update(raw_text="25/12/2018")
    (row,) = json_lines(unpacked(taken(cast.project), "swift", tmp_path) / "train.jsonl")
    assert json.loads(row["messages"][1]["content"])["date"] == "25/12/2018"
