"""From a folder to documents, and to the figures that scripts read."""

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from review.actions import _storing
from review.actions.recovery import beat
from review.exceptions import StorageFullError
from review.management.commands import ingest
from review.models import Document
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import work_off


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jpg").write_bytes(picture("a"))
    (folder / "deep" / "b.png").write_bytes(picture("b", kind="PNG"))
    return folder


def run(path: Path, *flags: str, **options: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    arguments = [str(path), "--project", "receipts", "--type", "receipt", "--settle-seconds", "0", *flags]
    call_command("ingest", *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is alive, and works while the command waits."""
    beat(name="w", n_workers=1, engine_name="scripted", started_at=timezone.now())
    monkeypatch.setattr(time, "sleep", lambda seconds: work_off())


def test_all_files_below_a_folder_are_taken_in(cast: Cast, script: Script, inbox: Path) -> None:
    out, _ = run(inbox, "--priority", "3")
    assert set(Document.objects.values_list("filename", "priority")) == {("a.jpg", 3), ("b.png", 3)}
    assert "documents 2" in out
    assert "waiting 2" in out


def test_a_single_file_is_taken_in(cast: Cast, script: Script, inbox: Path) -> None:
    run(inbox / "a.jpg")
    assert Document.objects.get().filename == "a.jpg"


def test_the_last_line_is_one_object_whose_parts_add_up(cast: Cast, script: Script, inbox: Path, worker: None) -> None:
    (inbox / "notes.txt").write_text("nothing to read\n" * 9)
    (inbox / "empty.pdf").write_bytes(b"")
    out, err = run(inbox, "--wait", "--json")
    figures = json.loads(out.splitlines()[-1])
    assert list(figures) == ["documents", "pages", "stored", "sampled", "review", "failed", "seconds"]
    assert (figures["documents"], figures["pages"], figures["failed"]) == (4, 2, 2)
    assert sum(figures[name] for name in ("stored", "sampled", "review", "failed")) == 4
    assert figures["seconds"] >= 0
    assert "notes.txt: This is a text file" in err
    assert "empty.pdf: This file is empty" in err


def test_unreadable_documents_count_as_failed(cast: Cast, script: Script, inbox: Path, worker: None) -> None:
    script(default={"fault": "engine_failed"})
    out, _ = run(inbox, "--wait", "--json")
    figures = json.loads(out.splitlines()[-1])
    assert (figures["review"], figures["failed"]) == (2, 0)


def test_a_copy_counts_like_the_document_it_repeats(cast: Cast, script: Script, inbox: Path, worker: None) -> None:
    (inbox / "copy.jpg").write_bytes(picture("a"))
    out, _ = run(inbox, "--wait", "--json")
    figures = json.loads(out.splitlines()[-1])
    assert (figures["documents"], figures["failed"]) == (3, 0)
    assert figures["stored"] + figures["sampled"] == 3


def test_waiting_without_a_worker_says_so_and_how_to_start_one(
    cast: Cast, script: Script, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "WORKER_GRACE_SECONDS", 0.0)
    out, err = io.StringIO(), io.StringIO()
    arguments = [str(inbox), "--project", "receipts", "--type", "receipt", "--settle-seconds", "0", "--wait", "--json"]
    with pytest.raises(CommandError, match="They are safe"):
        call_command("ingest", *arguments, "--timeout", "0.6", stdout=out, stderr=err)
    assert err.getvalue().count("No worker is running") == 1
    assert "manage.py work" in err.getvalue()
    figures = json.loads(out.getvalue().splitlines()[-1])
    assert (figures["documents"], figures["failed"]) == (2, 2)
    assert set(Document.objects.values_list("status", flat=True)) == {"received"}


def test_nothing_at_the_path_is_an_error(cast: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nothing at"):
        run(tmp_path / "missing")


def test_an_empty_folder_is_no_error(cast: Cast, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    out, _ = run(tmp_path / "empty", "--wait", "--json")
    assert json.loads(out)["documents"] == 0


def test_a_full_storage_stops_the_command_with_the_count_so_far(
    cast: Cast, script: Script, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_keep = _storing.keep_file
    kept: list[str] = []

    def keep(name: str, *args: Any) -> None:
        if kept:
            raise StorageFullError
        kept.append(name)
        real_keep(name, *args)

    monkeypatch.setattr("review.actions.intake.keep_file", keep)
    with pytest.raises(CommandError, match="1 files were taken in before"):
        run(inbox)
    assert Document.objects.count() == 1


def test_a_file_that_may_not_be_read_is_reported(
    cast: Cast, script: Script, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = Path.open

    def refuse(path: Path, *args: Any, **values: Any) -> Any:
        if path.name == "a.jpg":
            raise PermissionError(13, "Permission denied")
        return real_open(path, *args, **values)

    monkeypatch.setattr(Path, "open", refuse)
    _, err = run(inbox)
    assert "a.jpg: The file cannot be opened: Permission denied" in err
    assert Document.objects.get().filename == "b.png"


def test_a_file_that_is_still_being_written_is_reported_not_taken(
    cast: Cast, script: Script, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = lambda paths, *times: [(path, path.suffix == ".jpg") for path in paths]  # noqa: E731 - said in one place
    monkeypatch.setattr(ingest, "settled_files", looks)
    out, err = run(inbox, "--json")
    assert json.loads(out)["failed"] == 1
    assert "still being written" in err


def test_a_file_that_proves_unreadable_is_named_with_the_reason(
    cast: Cast, script: Script, inbox: Path, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_damaged(_seconds: float) -> None:
        Document.objects.filter(filename="b.png").update(status="unreadable", reasons=["damaged"])
        work_off()

    monkeypatch.setattr(time, "sleep", find_damaged)
    _, err = run(inbox, "--wait")
    assert err == "b.png: the file is damaged\n"


def test_a_copy_is_named_with_the_document_that_came_before(cast: Cast, script: Script, inbox: Path) -> None:
    run(inbox / "a.jpg")
    _, err = run(inbox / "a.jpg")
    assert f"a.jpg: sent before as document {Document.objects.order_by('pk')[0].pk}" in err


def test_the_command_fails_when_nothing_became_a_document(cast: Cast, script: Script, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing to read\n" * 9)
    with pytest.raises(CommandError, match="No file became a document"):
        run(tmp_path)
