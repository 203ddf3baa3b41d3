"""What cannot be read now waits, and says for what; what cannot be read at all goes to a person."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from inference.errors import EngineUnavailableError
from review import tasks, tasks_reading
from review.actions.recovery import beat
from review.exceptions import StorageFullError
from review.models import (
    Event,
    ExtractionRun,
    FieldPrediction,
    PageRead,
    ReviewTask,
    WorkerHeartbeat,
)
from review.tasks import TaskFailedError, open_document, read_page, sweep
from review.tasks_engines import name_worker, reader_of
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import queued, work_off
from tests.review.reading_through import finished, pages_of, send
from tests.review.scripted import WORDS
from tests.review.vlm import read_with_vlm


def test_a_page_that_the_engine_refuses_goes_to_a_person_at_once(cast: Cast, script: Script) -> None:
    script(default={"fault": "engine_failed"})
    document = send(cast, picture())
    work_off()
    document = finished(document)
    assert (document.status, document.reasons[0]) == ("review", "engine_failed")
    assert PageRead.objects.get().n_attempts == 1
    assert ReviewTask.objects.filter(document=document, state="open").exists()


def test_a_page_that_took_its_worker_with_it_too_often_goes_to_a_person(
    cast: Cast, script: Script, settings: Settings
) -> None:
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    first, second = PageRead.objects.order_by("pk")
    PageRead.objects.filter(pk=first.pk).update(n_attempts=settings.STET_MAX_ATTEMPTS)
    read_page(first.pk)
    read_page(second.pk)
    document = finished(document)
    first.refresh_from_db()
    assert (first.state, first.error_code) == ("failed", "engine_failed")
    assert (document.status, document.reasons[0]) == ("review", "engine_failed")


def test_a_page_waits_for_an_engine_that_is_away(cast: Cast, script: Script, tmp_path: Path) -> None:
    data = picture()
    (digest,) = pages_of(data, tmp_path)
    script(pages={digest: {"fault": "engine_unavailable", "times": 5, "words": WORDS}})
    document = send(cast, data)
    work_off()
    for _ in range(4):
        assert finished(document).status == "processing"
        assert PageRead.objects.get().n_attempts == 0
        read_page(PageRead.objects.get().pk)
    read_page(PageRead.objects.get().pk)
    assert finished(document).status == "stored"


@pytest.mark.parametrize("n_lost", [1, 2])
def test_a_page_on_which_the_engine_broke_off_is_tried_again_and_each_time_counts(
    cast: Cast, script: Script, n_lost: int
) -> None:
    script(default={"words": WORDS, "fault": "answer_lost", "times": n_lost})
    document = send(cast, picture())
    work_off()
    for n in range(1, n_lost + 1):
        document = finished(document)
        assert (document.status, document.reasons) == ("processing", ["answer_lost"])
        assert (PageRead.objects.get().state, PageRead.objects.get().n_attempts) == ("pending", n)
        read_page(PageRead.objects.get().pk)
    assert (finished(document).status, document.reasons) == ("stored", [])


@pytest.mark.parametrize(("is_beside_others", "n_attempts"), [(True, 0), (False, 1)])
def test_a_page_on_which_a_server_broke_off_beside_others_has_its_attempt_back_and_is_asked_alone(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch, is_beside_others: bool, n_attempts: int
) -> None:
    read_with_vlm(cast.project)
    script(default={"words": WORDS, "answer": {"values": {}, "fault": "answer_lost"}})
    monkeypatch.setattr(tasks_reading, "_was_beside_others", lambda _claim: is_beside_others)
    send(cast, picture())
    work_off()
    page_read = PageRead.objects.get()
    assert (page_read.state, page_read.n_attempts) == ("pending", n_attempts)
    assert page_read.broke_off_at is not None


def test_an_engine_that_never_comes_back_is_waited_for_and_the_document_says_so(
    cast: Cast, script: Script, settings: Settings
) -> None:
    script(default={"fault": "engine_unavailable"})
    document = send(cast, picture())
    work_off()
    for _ in range(3 * settings.STET_MAX_ATTEMPTS):
        read_page(PageRead.objects.get().pk)
    document = finished(document)
    assert (document.status, document.reasons) == ("processing", ["engine_unavailable"])
    assert PageRead.objects.get().n_attempts == 0


def test_a_page_whose_document_took_long_to_open_has_a_task_of_its_own(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else opening and reading together would outlast the time of one task."""
    monkeypatch.setattr(tasks, "READ_AT_ONCE_SECONDS", -1.0)
    document = send(cast, picture())
    assert work_off() == [("open_document", document.pk), ("read_page", PageRead.objects.get().pk)]
    assert finished(document).status == "stored"


def fields_that_fail(patch: pytest.MonkeyPatch, times: int | None = None) -> list[int]:
    """Have the making of fields fail so many times, or each time; return how often it was tried, as it grows."""
    tried: list[int] = []

    def fields_of(*args: Any) -> Any:
        tried.append(1)
        if times is None or len(tried) <= times:
            raise ZeroDivisionError("SECRET text of the document")
        return tasks_reading.fields_of(*args)

    patch.setattr(tasks, "fields_of", fields_of)
    return tried


def test_a_document_that_cannot_be_routed_goes_to_a_person_and_says_why(
    cast: Cast, script: Script, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STET_CLAIM_SECONDS = 0
    tried = fields_that_fail(monkeypatch)
    document = send(cast, picture())
    for n in range(1, settings.STET_MAX_ATTEMPTS + 1):
        with pytest.raises(TaskFailedError):
            work_off()
        assert (finished(document).status, len(tried)) == ("processing", n)
        sweep()
    work_off()
    document = finished(document)
    assert (document.status, document.reasons[0]) == ("review", "routing_failed")
    assert len(tried) == settings.STET_MAX_ATTEMPTS
    assert ExtractionRun.objects.get().error_code == "routing_failed"
    assert ReviewTask.objects.filter(document=document, state="open").exists()
    assert {one.field_path: one.value for one in FieldPrediction.objects.all()} == {
        "/company": None,
        "/date": None,
        "/total": None,
    }
    sweep()
    assert work_off() == []


def test_a_document_whose_routing_failed_once_is_routed_by_the_sweep(
    cast: Cast, script: Script, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STET_CLAIM_SECONDS = 0
    fields_that_fail(monkeypatch, times=1)
    document = send(cast, picture())
    with pytest.raises(TaskFailedError):
        work_off()
    sweep()
    work_off()
    assert (finished(document).status, ExtractionRun.objects.get().n_routing_attempts) == ("stored", 2)


def test_a_document_waits_for_an_engine_that_cannot_be_built(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = send(cast, picture())
    monkeypatch.delenv("STET_SCRIPTED_ANSWERS")
    tasks_before = queued()
    script_path_gone = pytest.raises(EngineUnavailableError)
    with script_path_gone:
        reader_of(document)
    work_off()
    document = finished(document)
    assert tasks_before == [("open_document", document.pk)]
    assert (document.status, document.n_attempts, document.reasons) == ("received", 0, ["engine_unavailable"])


def test_the_heartbeat_says_that_the_engine_is_away_and_back(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_worker("w")
    try:
        beat(name="w", n_workers=1, engine_name="scripted", started_at=timezone.now())
        with monkeypatch.context() as patch:
            patch.delenv("STET_SCRIPTED_ANSWERS")
            send(cast, picture())
            work_off()
            assert WorkerHeartbeat.objects.get().engine_error == "engine_unavailable"
            sweep()
            assert WorkerHeartbeat.objects.get().engine_error == "engine_unavailable"
        sweep()
        assert WorkerHeartbeat.objects.get().engine_error == ""
    finally:
        name_worker("")


def test_an_unreadable_file_says_why(cast: Cast, script: Script) -> None:
    document = send(cast, picture())
    data = bytearray(Path(document.original.path).read_bytes())
    Path(document.original.path).write_bytes(bytes(data[:300]))
    work_off()
    document = finished(document)
    assert document.status == "unreadable"
    assert document.reasons == ["truncated"]
    assert Event.objects.filter(name="document.failed").exists()


def test_a_document_waits_while_the_disk_is_full(cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    document = send(cast, picture(kind="PNG"))

    def full(*args: Any) -> str:
        raise StorageFullError

    with monkeypatch.context() as patch:
        patch.setattr(tasks, "keep_page_image", full)
        work_off()
        assert (finished(document).status, document.n_attempts) == ("received", 0)
        assert document.reasons == ["storage_full"]
    open_document(document.pk)
    assert (finished(document).status, document.reasons) == ("stored", [])


def test_an_unforeseen_error_counts_and_is_tried_again(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    first, second = PageRead.objects.order_by("pk")

    def fail(name: str, page_number: int) -> None:
        raise KeyError("SECRET text of the document")

    with monkeypatch.context() as patch:
        patch.setattr(tasks_reading, "load_page", fail)
        with pytest.raises(TaskFailedError):
            read_page(first.pk)
    first.refresh_from_db()
    assert (first.state, first.n_attempts) == ("pending", 1)
    read_page(first.pk)
    read_page(second.pk)
    assert finished(document).status == "stored"
