"""From a received file to an end state, by the tasks alone; delivered twice, late and out of order."""

import hashlib
import random
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from pytest_django import Settings

from inference.imaging.hashing import content_hash
from inference.imaging.pages import decode_page, encode_page
from review import tasks, tasks_reading
from review.actions.intake import receive_document
from review.actions.reading import rerun_document
from review.actions.recovery import free_claims
from review.models import (
    Document,
    ExtractionRun,
    FieldPrediction,
    Page,
    PageRead,
    Reading,
    Record,
    RoutingDecision,
)
from review.selectors.access import SYSTEM
from review.tasks import TaskFailedError, open_document, read_page, route_run, sweep
from review.tasks_engines import name_worker
from tests import factories
from tests.conftest import Cast
from tests.review.conftest import Script, picture
from tests.review.queueing import queued, work_off
from tests.review.reading_through import finished, opened_pages, pages_of, send
from tests.review.scripted import WORDS


def stored_pages_of(data: bytes, tmp_path: Path) -> list[str]:
    """The content hashes of the pages as an engine sees them that reads them from storage."""
    return [content_hash(decode_page(encode_page(opened.image))) for opened in opened_pages(data, tmp_path)]


def test_a_document_of_one_page_is_read_in_one_go(cast: Cast, script: Script) -> None:
    document = send(cast, picture())
    assert work_off() == [("open_document", document.pk)]
    document = finished(document)
    assert (document.status, document.n_pages, document.n_pages_read) == ("stored", 1, 1)
    assert Record.objects.get(document=document).values["/total"] == "9.00"
    assert FieldPrediction.objects.get(field_path="/date").value == "2018-12-25"


def test_a_document_of_many_pages_is_read_one_task_a_page(cast: Cast, script: Script) -> None:
    document = send(cast, picture(kind="TIFF", n_pages=3))
    done = work_off()
    assert [name for name, _ in done] == ["open_document", "read_page", "read_page", "read_page"]
    document = finished(document)
    assert (document.status, document.n_pages, document.n_pages_read) == ("stored", 3, 3)
    assert RoutingDecision.objects.count() == 1


def test_fields_are_found_on_the_page_they_stand_on(cast: Cast, script: Script, tmp_path: Path) -> None:
    data = picture(kind="TIFF", n_pages=2)
    first, second = stored_pages_of(data, tmp_path)
    script(pages={first: {"words": WORDS[:2]}, second: {"words": WORDS[2:]}})
    send(cast, data)
    work_off()
    found = dict(FieldPrediction.objects.values_list("field_path", "page_number"))
    assert (found["/date"], found["/total"]) == (1, 2)


def test_page_numbers_stay_right_behind_a_page_that_failed(cast: Cast, script: Script, tmp_path: Path) -> None:
    data = picture(kind="TIFF", n_pages=2)
    script(pages={stored_pages_of(data, tmp_path)[0]: {"fault": "engine_failed"}})
    document = send(cast, data)
    work_off()
    assert FieldPrediction.objects.get(field_path="/total").page_number == 2
    document = finished(document)
    assert (document.status, document.reasons[0], document.n_pages_read) == ("review", "engine_failed", 1)


def test_the_original_of_a_plain_jpeg_is_its_page(cast: Cast, script: Script) -> None:
    document = send(cast, picture())
    work_off()
    page = Page.objects.get()
    assert page.image.name == document.original.name
    assert page.image_sha256 == document.sha256


def test_a_page_that_is_opened_again_has_the_checksum_of_what_lies_there_now(cast: Cast, script: Script) -> None:
    document = send(cast, picture())
    work_off()
    Page.objects.update(image="old.jpg", image_sha256="0" * 64)
    rerun_document(actor=SYSTEM, document=document)
    work_off()
    page = Page.objects.get()
    assert (page.image.name, page.image_sha256) == (document.original.name, document.sha256)


def test_other_pages_are_stored_under_their_content(cast: Cast, script: Script, tmp_path: Path) -> None:
    data = picture(kind="PNG")
    send(cast, data)
    work_off()
    page = Page.objects.get()
    assert page.image.name == f"projects/{cast.project.pk}/pages/{page.image_sha256}.jpg"
    assert [page.content_hash] == pages_of(data, tmp_path)
    kept = Path(default_storage.path(str(page.image.name))).read_bytes()
    assert kept[:2] == b"\xff\xd8"
    assert page.image_sha256 == hashlib.sha256(kept).hexdigest()
    assert (page.width, page.height) == (200, 300)


def test_the_same_page_is_read_once_in_a_project(cast: Cast, script: Script, tmp_path: Path) -> None:
    data = picture(kind="PNG")
    (digest,) = pages_of(data, tmp_path)
    send(cast, data)
    work_off()
    other_type = factories.make_document_type(cast.project, "other")
    receive_document(actor=SYSTEM, project=cast.project, document_type=other_type, file=ContentFile(data), filename="x")
    work_off()
    assert (Reading.objects.count(), Reading.objects.get().content_hash) == (1, digest)
    assert list(PageRead.objects.order_by("pk").values_list("is_cached", flat=True)) == [False, True]
    assert ExtractionRun.objects.order_by("-pk")[0].cpu_seconds == 0.0


def test_another_project_never_sees_the_cache(cast: Cast, script: Script) -> None:
    for project, document_type in [
        (cast.project, cast.document_type),
        (cast.other_project, cast.other_document_type),
    ]:
        receive_document(
            actor=SYSTEM, project=project, document_type=document_type, file=ContentFile(picture()), filename="x"
        )
    work_off()
    assert not PageRead.objects.filter(is_cached=True).exists()
    assert Reading.objects.count() == 2


def test_a_changed_engine_reads_again(cast: Cast, script: Script) -> None:
    first = send(cast, picture("one"))
    work_off()
    script(default={"words": WORDS[:3]})
    second = send(cast, picture("two"))
    work_off()
    versions = {run.document_id: run.engine_version_id for run in ExtractionRun.objects.all()}
    assert versions[first.pk] != versions[second.pk]


def test_an_engine_that_changes_between_opening_and_reading_restarts_the_document(cast: Cast, script: Script) -> None:
    document = send(cast, picture(kind="TIFF", n_pages=2))
    open_document(document.pk)
    script(default={"words": WORDS, "sleep_seconds": 0.001})
    work_off()
    assert finished(document).status == "stored"
    old, new = ExtractionRun.objects.order_by("pk")
    assert (old.state, old.error_code, new.state) == ("failed", "engine_changed", "routed")
    assert set(Reading.objects.values_list("engine_version", flat=True)) == {new.engine_version_id}


def test_a_project_may_name_its_own_engine(cast: Cast, script: Script, settings: Settings) -> None:
    settings.STET_ENGINE = "rapidocr"
    cast.project.engine_name = "scripted"
    cast.project.save()
    send(cast, picture())
    work_off()
    assert ExtractionRun.objects.get().engine_version.name == "scripted"


def test_no_document_text_reaches_log_or_queue(
    cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    document = send(cast, picture())

    def fail(*args: Any) -> None:
        raise ValueError("SECRET text of the document")

    monkeypatch.setattr(tasks_reading, "extract", fail)
    with pytest.raises(TaskFailedError) as failure:
        open_document(document.pk)
    assert "SECRET" not in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__
    assert "ValueError" in caplog.text
    assert "SECRET" not in caplog.text


def test_a_task_delivered_twice_does_nothing_the_second_time(cast: Cast, script: Script) -> None:
    document = send(cast, picture(kind="TIFF", n_pages=2))
    for task, object_ids in [
        (open_document, [document.pk]),
        (read_page, list(range(1, 100))),
        (route_run, list(range(1, 100))),
    ]:
        for object_id in object_ids * 2:
            task(object_id)
    counts: list[tuple[Any, int]] = [(ExtractionRun, 1), (PageRead, 2), (Page, 2), (RoutingDecision, 1), (Record, 1)]
    for model, n in counts:
        assert model.objects.count() == n, model.__name__
    assert PageRead.objects.filter(n_attempts=1).count() == 2
    assert finished(document).status == "stored"


def test_deliveries_in_any_order_and_number_end_the_same(cast: Cast, script: Script) -> None:
    chance = random.Random(7)
    documents = [send(cast, picture(str(number), kind="TIFF", n_pages=2)) for number in range(3)]
    for document in documents:
        open_document(document.pk)
    deliveries: list[tuple[Any, int]] = [(read_page, pk) for pk in PageRead.objects.values_list("pk", flat=True)] * 2
    deliveries += [(route_run, run_id) for run_id in ExtractionRun.objects.values_list("pk", flat=True)] * 2
    deliveries += [(open_document, document.pk) for document in documents]
    chance.shuffle(deliveries)
    for task, object_id in deliveries:
        task(object_id)
    assert {finished(document).status for document in documents} == {"stored"}
    assert (RoutingDecision.objects.count(), Record.objects.count()) == (3, 3)


def test_a_redelivered_opening_goes_on_with_a_page_left_unread(cast: Cast, script: Script) -> None:
    """The worker was killed after the document was opened and before its page was claimed."""
    document = send(cast, picture())
    work_off()
    PageRead.objects.update(state="pending", reading=None)
    ExtractionRun.objects.update(state="reading")
    RoutingDecision.objects.all().delete()
    FieldPrediction.objects.all().delete()
    ExtractionRun.objects.get().candidate_set.delete()
    Document.objects.update(status="processing")
    open_document(document.pk)
    assert finished(document).status == "stored"


def test_the_sweep_brings_everything_to_an_end(cast: Cast, script: Script, settings: Settings) -> None:
    """All promises are lost, at every stage; three sweeps later nothing is left unfinished."""
    settings.STET_CLAIM_SECONDS = 0
    documents = [send(cast, picture(str(number), kind="TIFF", n_pages=2)) for number in range(4)]
    open_document(documents[1].pk)
    for document in documents[2:]:
        open_document(document.pk)
        for page_read_id in PageRead.objects.filter(run__document=document).values_list("pk", flat=True)[:1]:
            read_page(page_read_id)
    PageRead.objects.filter(run__document=documents[3]).update(state="read", reading=Reading.objects.all()[0])
    for _ in range(3):
        tasks_lost = queued()
        assert isinstance(tasks_lost, list)
        sweep()
        work_off()
    assert {finished(document).status for document in documents} == {"stored"}
    assert RoutingDecision.objects.count() == 4


def test_the_sweep_of_a_process_that_will_be_forked_builds_no_engine(
    db: None, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("engine_error", "model_errors"):
        monkeypatch.setattr(tasks, name, lambda: 1 / 0)
    name_worker("w")
    try:
        sweep(is_engine_checked=False)
        with pytest.raises(TaskFailedError):
            sweep()
    finally:
        name_worker("")


def test_a_sweep_with_nothing_to_do_says_nothing(db: None, script: Script, caplog: pytest.LogCaptureFixture) -> None:
    sweep()
    assert free_claims() == 0
    assert caplog.text == ""


def test_a_long_opening_gives_signs_of_life(cast: Cast, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    signs: list[Document] = []
    monkeypatch.setattr(tasks, "SIGN_OF_LIFE_SECONDS", -1.0)
    monkeypatch.setattr(tasks, "keep_opening", lambda *, document: signs.append(document))
    document = send(cast, picture(kind="TIFF", n_pages=3))
    work_off()
    assert signs == [document] * 3
