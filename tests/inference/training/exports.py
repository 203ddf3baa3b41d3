"""Exports of a snapshot in TRL's form, as `review.exports` writes them, without a database."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inference.imaging.pages import encode_page
from inference.serving.prompts import compact_json, load_prompt
from inference.training.questions import as_parts, asked_of
from tests.inference.serving.asking import SCHEMA, VALUES, a_page


def write_export(
    folder: Path,
    answers: Mapping[str, Sequence[Any]] | None = None,
    *,
    schema: Mapping[str, Any] = SCHEMA,
    prompt_version: str = "v2",
    manifest: Mapping[str, Any] | None = None,
) -> Path:
    """Write an export whose answers by side are these (values, or texts as they are); `manifest` is changed so."""
    answers = {"train": [VALUES]} if answers is None else answers
    folder.mkdir(parents=True)
    told = {
        "project": "elsewhere",
        "snapshot": 7,
        "holding": "settled",
        "is_without_regression_sets": True,
        "document_types": [{"document_type": "slip", "schema_version": 1, "schema": schema}],
        **(manifest or {}),
    }
    (folder / "manifest.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    asked = list(as_parts(asked_of(load_prompt(prompt_version), schema)))
    documents = []
    for split, said in answers.items():
        (folder / split).mkdir()
        lines = []
        for number, answer in enumerate(said, start=1):
            documents.append({"split": split, "document": {"id": number}})
            name = f"{number:08d}-001.jpg"
            (folder / split / name).write_bytes(encode_page(a_page(f"PAGE {split} {number}")))
            text = answer if isinstance(answer, str) else compact_json(answer)
            messages = [
                {"role": "user", "content": asked},
                {"role": "assistant", "content": [{"type": "text", "text": text}]},
            ]
            lines.append(json.dumps({"images_file_names": [name], "messages": messages}, ensure_ascii=False))
        (folder / split / "metadata.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "documents.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in documents), encoding="utf-8")
    sign(folder)
    return folder


def sign(folder: Path) -> None:
    """Write the checksums of what lies in the folder now."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))
