"""The formats in which a snapshot is written, by name, and the one loop that writes an archive in any of them."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from inference.serving.prompts import prompt_versions
from inference.types import parse_document_type
from review.exports import chat, coco, csv, forms, hugging_face, label_studio, paddle
from review.exports.archive import Archive
from review.exports.manifest import manifest_text
from review.exports.rows import Row
from review.exports.samples import Sample, sample_of
from review.models import Snapshot, Split
from review.selectors.snapshots import lines_of, records_of

Add = Callable[[Archive, Sample], None]
DEFAULT_ARCHIVE = "zip"


class SnapshotChangedError(Exception):
    """The frozen lines are no longer those that the manifest was made of."""


@dataclass(slots=True)
class _Job:
    """What a format may ask of the snapshot it is written from, and what it must do when all records are in."""

    snapshot: Snapshot
    closing: list[Callable[[Archive], None]] = field(default_factory=list)
    conversations: chat.Conversations | None = None

    def talk(self) -> chat.Conversations:
        """Return the conversations, whose prompt is that of the engine that read, or else the newest."""
        if self.conversations is None:
            manifest = self.snapshot.manifest
            types = manifest["document_types"]
            schemas = {(one["document_type"], one["schema_version"]): one["schema"] for one in types}
            used = manifest["prompt_versions"]
            self.conversations = chat.Conversations(schemas, used[-1] if used else prompt_versions()[-1])
        return self.conversations

    def field_names(self) -> list[str]:
        """Return the classes of boxes, of all document types of the snapshot, sorted."""
        names: set[str] = set()
        for one in self.snapshot.manifest["document_types"]:
            spec = parse_document_type(one["schema"])
            paths = [one.path for one in spec.fields]
            paths += [group.path + column.path for group in spec.groups for column in group.columns]
            names |= {path.removeprefix("/").replace("/", ".") for path in paths}
        return sorted(names)


def _plain(write: Add) -> Callable[[_Job], Add]:
    return lambda _job: write


def _talking(
    write: Callable[[Archive, Sample, chat.Conversations], None], close: Callable[[Archive], None] | None = None
) -> Callable[[_Job], Add]:
    def build(job: _Job) -> Add:
        talk = job.talk()
        if close is not None:
            job.closing.append(close)
        return lambda archive, sample: write(archive, sample, talk)

    return build


def _parquet(job: _Job) -> Add:
    writer = hugging_face.ParquetWriter()
    job.closing.append(lambda _archive: writer.close())
    return writer.add


def _coco(job: _Job) -> Add:
    job.closing.append(lambda archive: coco.close_coco(archive, job.field_names(), Split.values))
    return coco.write_coco


def _label_studio(job: _Job) -> Add:
    job.closing.append(lambda archive: label_studio.close_label_studio(archive, job.field_names()))
    return label_studio.write_label_studio


FORMATS: Mapping[str, Callable[[_Job], Add] | None] = {
    # Lines as they were frozen: no picture, no words, nothing to parse.
    "jsonl": None,
    "csv": None,
    "parquet": _parquet,
    "imagefolder": _plain(hugging_face.write_imagefolder),
    "openai": _talking(chat.write_openai),
    "llamafactory": _talking(chat.write_llamafactory, chat.close_llamafactory),
    "swift": _talking(chat.write_swift),
    "trl": _talking(chat.write_trl),
    "preference": _talking(chat.write_preference),
    "paddleocr_det": _plain(paddle.write_paddleocr_det),
    "paddleocr_rec": _plain(paddle.write_paddleocr_rec),
    "paddleocr_vl": _talking(chat.write_paddleocr_vl),
    "label_studio": _label_studio,
    "coco": _coco,
    "funsd": _plain(forms.write_funsd),
    "sroie": _plain(forms.write_sroie),
    "cord": _plain(forms.write_cord),
}


def write_snapshot(
    target: BinaryIO, snapshot: Snapshot, format_name: str, *, scratch: Path, archive_kind: str = DEFAULT_ARCHIVE
) -> Iterator[int]:
    """Write a taken snapshot as an archive, yielding how many records are in it after every batch.

    Whoever stops iterating stops the writing. Raise SnapshotChangedError, PageChangedError, OSError.
    """
    job, n_written = _Job(snapshot), 0
    build = FORMATS[format_name]
    with Archive(target, archive_kind, scratch) as archive:
        archive.put("manifest.json", manifest_text(snapshot.manifest))
        counted = _lines(archive, snapshot, format_name) if build is None else _samples(archive, snapshot, build(job))
        for n in counted:
            n_written += n
            yield n_written
        for close in job.closing:
            close(archive)
        left_out = job.conversations.left_out if job.conversations is not None else {}
        archive.put("export.json", _about(format_name, n_written, left_out))


def _samples(archive: Archive, snapshot: Snapshot, add: Add) -> Iterator[int]:
    for split in Split.values:
        for batch in records_of(snapshot, split):
            for record in batch:
                sample = sample_of(record)
                add(archive, sample)
                archive.part("documents.jsonl").write(chat.line(_document(sample)))
            yield len(batch)


def _lines(archive: Archive, snapshot: Snapshot, format_name: str) -> Iterator[int]:
    """Write the frozen lines, or one line of CSV for each of their labels; the lines must be those of the manifest."""
    for split in Split.values:
        part = archive.part(f"{split}.{format_name}")
        if format_name == "csv":
            part.write(csv.HEADER)
        for batch in lines_of(snapshot, split):
            if format_name == "csv":
                part.write(b"".join(csv.encode(json.loads(row)) for row in batch))
            else:
                part.write("".join(f"{row}\n" for row in batch).encode())
            yield len(batch)
        if format_name == "jsonl" and part.digest() != snapshot.manifest["split"]["sides"][split]["sha256"]:
            raise SnapshotChangedError(split)


def _document(sample: Sample) -> Row:
    """Return which record this is: enough to trace every line of any format back to it."""
    row = sample.row
    return {
        "record_id": row["record_id"],
        "revision": row["revision"],
        "document": row["document"],
        "split": row["split"],
        "group": row["group"],
        "pages": row["pages"],
        "states": {field["field_path"]: field["state"] for field in row["fields"]},
    }


def _about(format_name: str, n_records: int, left_out: Mapping[str, int]) -> bytes:
    told: dict[str, Any] = {"format": format_name, "n_records": n_records, "left_out": dict(left_out)}
    return json.dumps(told, indent=1, sort_keys=True).encode() + b"\n"
