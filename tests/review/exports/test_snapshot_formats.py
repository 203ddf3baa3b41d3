"""Every format, from a snapshot to the folder that somebody unpacks."""

import hashlib
import json
from pathlib import Path

import pytest

from review.exports.snapshot_formats import FORMATS, SnapshotChangedError
from review.models import SnapshotItem, WorkState
from tests.conftest import Cast
from tests.review.snapshots import add_reviewed, json_lines, taken, unpacked, written


@pytest.mark.parametrize("archive", ["zip", "tar"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_a_whole_archive_whose_checksums_hold(
    cast: Cast, tmp_path: Path, name: str, archive: str
) -> None:
    for number in range(3):
        add_reviewed(cast.document_type, f"r{number}", verdicts={"/total": ("corrected", "9.10")})
    snapshot = taken(cast.project)
    assert snapshot.state == WorkState.DONE
    folder = unpacked(snapshot, name, tmp_path, archive=archive)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    lines = (line.split("  ", 1) for line in (folder / "SHA256SUMS").read_text().splitlines())
    sums = {file: digest for digest, file in lines}
    assert files == {*sums, "SHA256SUMS"}
    assert {"manifest.json", "export.json"} <= files
    for file, digest in sums.items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
    assert hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest() == snapshot.sha256
    assert json.loads((folder / "export.json").read_text())["n_records"] == 3


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_snapshot_gives_the_same_bytes(cast: Cast, tmp_path: Path, name: str) -> None:
    add_reviewed(cast.document_type, "r")
    snapshot = taken(cast.project)
    assert written(snapshot, name, tmp_path) == written(snapshot, name, tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_a_snapshot_of_nothing_is_a_whole_archive(cast: Cast, tmp_path: Path, name: str) -> None:
    folder = unpacked(taken(cast.project), name, tmp_path)
    assert json.loads((folder / "manifest.json").read_text())["counts"]["documents"] == 0


@pytest.mark.parametrize("name", FORMATS)
def test_every_file_of_json_is_whole_json(cast: Cast, tmp_path: Path, name: str) -> None:
    add_reviewed(cast.document_type, "r")
    add_reviewed(cast.document_type, "s", n_pages=2)
    folder = unpacked(taken(cast.project), name, tmp_path)
    for path in folder.rglob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    for path in folder.rglob("*.jsonl"):
        assert all(isinstance(row, dict) for row in json_lines(path))


def test_lines_that_were_changed_after_the_fact_are_not_exported(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "r")
    snapshot = taken(cast.project)
    item = SnapshotItem.objects.get()
    SnapshotItem.objects.update(row=item.row.replace("9.00", "8.00"))
    with pytest.raises(SnapshotChangedError):
        written(snapshot, "jsonl", tmp_path)


def test_every_line_of_a_format_with_pictures_can_be_traced_back(cast: Cast, tmp_path: Path) -> None:
    record = add_reviewed(cast.document_type, "r", verdicts={"/total": ("corrected", "9.10")})
    folder = unpacked(taken(cast.project), "swift", tmp_path)
    (document,) = json_lines(folder / "documents.jsonl")
    assert document["record_id"] == record.pk
    assert document["document"]["sha256"] == record.document.sha256
    assert document["states"] == {"/company": "model", "/date": "model", "/total": "corrected"}
    assert (document["pages"][0]["width"], document["pages"][0]["height"]) == (200, 300)
