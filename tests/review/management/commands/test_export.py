import datetime as dt
import hashlib
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from review.models import Record
from tests.conftest import Cast
from tests.review.labels import add_record


def export(*options: str, project: str = "receipts", out: Path) -> tuple[str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    call_command("export", "--project", project, "--out", str(out), *options, stdout=stdout, stderr=stderr)
    return stdout.getvalue(), stderr.getvalue()


def test_it_prints_counts_and_checksum_of_the_file(cast: Cast, tmp_path: Path) -> None:
    records = [add_record(cast.document_type) for _ in range(2)]
    out = tmp_path / "out.jsonl"
    printed, warned = export("--format", "jsonl", out=out)
    assert [json.loads(line)["record_id"] for line in out.read_text().splitlines()] == [one.pk for one in records]
    assert f"2 records, 0 labels, {out.stat().st_size} bytes" in printed
    assert hashlib.sha256(out.read_bytes()).hexdigest() in printed
    assert warned == ""


def test_it_warns_when_there_is_nothing(cast: Cast, tmp_path: Path) -> None:
    printed, warned = export("--format", "csv", out=tmp_path / "out.csv")
    assert "0 records" in printed
    assert "Nothing to export" in warned
    assert (tmp_path / "out.csv").read_text().startswith("record_id,")


@pytest.mark.parametrize(
    ("since", "n"), [("2026-03-01", 2), ("2026-03-02T00:00:00Z", 1), ("2026-03-02T08:00:01+08:00", 0)]
)
def test_since_leaves_older_ones_out(cast: Cast, tmp_path: Path, since: str, n: int) -> None:
    for day in (1, 2):
        record = add_record(cast.document_type)
        Record.objects.filter(pk=record.pk).update(created_at=dt.datetime(2026, 3, day, tzinfo=dt.UTC))
    printed, _ = export("--format", "jsonl", "--since", since, out=tmp_path / "out.jsonl")
    assert printed.startswith(f"{n} records")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "xml"], "invalid choice"),
        (["--format", "jsonl", "--since", "yesterday"], "yesterday"),
        (["--format", "jsonl", "--since", "2026-13-45"], "2026-13-45"),
    ],
)
def test_wrong_options_are_named(cast: Cast, tmp_path: Path, options: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        export(*options, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_project_is_named(cast: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        export("--format", "jsonl", project="nowhere", out=tmp_path / "out")


def test_a_folder_that_is_not_there_is_named(cast: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written: No such file"):
        export("--format", "jsonl", out=tmp_path / "missing" / "out")
