import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from review.models import FieldReview, RegressionItem, RegressionSet, Snapshot, SnapshotItem
from tests.conftest import Cast
from tests.review.snapshots import add_reviewed, taken


@pytest.fixture(autouse=True)
def _scratch(settings: Settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path


def run(command: str, *options: Any) -> tuple[str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    call_command(command, *map(str, options), stdout=stdout, stderr=stderr)
    return stdout.getvalue(), stderr.getvalue()


def test_it_prints_the_sides_what_is_left_out_and_the_checksum(cast: Cast) -> None:
    add_reviewed(cast.document_type, "a")
    add_reviewed(cast.document_type, "b", verdicts={})
    printed, warned = run("snapshot", "--project", "receipts", "--seed", "2026")
    snapshot = Snapshot.objects.get()
    assert "train: 1 documents, 1 groups" in printed
    assert "left out, not_by_people: 1" in printed
    assert f"snapshot {snapshot.pk}  sha256 {snapshot.sha256}" in printed
    assert (snapshot.seed, warned) == ("2026", "")


def test_it_warns_of_an_empty_snapshot(cast: Cast) -> None:
    _, warned = run("snapshot", "--project", "receipts")
    assert "empty" in warned


def test_it_says_how_to_make_a_regression_set_known(cast: Cast) -> None:
    regression_set = RegressionSet.objects.create(
        project=cast.project, document_type=cast.document_type, name="s", digest="d"
    )
    RegressionItem.objects.create(regression_set=regression_set, name="a", original="a", sha256="a", truth={})
    with pytest.raises(CommandError, match="Import the set again"):
        run("snapshot", "--project", "receipts")


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--test-share", "1"], "below 1"), (["--seed", ""], "seed"), (["--validation-share", "0.99"], "leave something")],
)
def test_a_wish_that_makes_no_sense_is_refused(cast: Cast, options: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run("snapshot", "--project", "receipts", *options)


def test_an_archive_is_written_of_a_snapshot(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    out = tmp_path / "coco.zip"
    snapshot = taken(cast.project)
    printed, _ = run("export", "--snapshot", snapshot.pk, "--format", "coco", "--out", out)
    assert snapshot.manifest["counts"]["labels"] == FieldReview.objects.count() > 0
    assert printed.startswith(f"1 records, {FieldReview.objects.count()} labels")
    assert hashlib.sha256(out.read_bytes()).hexdigest() in printed
    with zipfile.ZipFile(out) as file:
        assert len(json.loads(file.read("annotations/train.json"))["images"]) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--snapshot", "99", "--format", "coco"], "There is no snapshot 99"),
        (["--project", "receipts", "--format", "coco"], "manage.py snapshot"),
    ],
)
def test_what_cannot_be_written_is_said_with_the_remedy(
    cast: Cast, tmp_path: Path, options: list[str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        run("export", *options, "--out", tmp_path / "out")


def test_a_snapshot_is_of_one_moment(cast: Cast, tmp_path: Path) -> None:
    options = ["--snapshot", taken(cast.project).pk, "--format", "jsonl", "--since", "2026-01-01"]
    with pytest.raises(CommandError, match="one moment"):
        run("export", *options, "--out", tmp_path / "out")


def test_a_snapshot_that_is_not_taken_is_not_written(cast: Cast, tmp_path: Path) -> None:
    snapshot = Snapshot.objects.create(project=cast.project, seed="x", validation_share=0, test_share=0)
    with pytest.raises(CommandError, match="is queued"):
        run("export", "--snapshot", snapshot.pk, "--format", "jsonl", "--out", tmp_path / "out")


def test_lines_that_were_changed_leave_no_file_behind(cast: Cast, tmp_path: Path) -> None:
    add_reviewed(cast.document_type, "a")
    snapshot = taken(cast.project)
    SnapshotItem.objects.update(row="{}")
    with pytest.raises(CommandError, match="train is no longer what the snapshot froze"):
        run("export", "--snapshot", snapshot.pk, "--format", "jsonl", "--out", tmp_path / "out.zip")
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []
