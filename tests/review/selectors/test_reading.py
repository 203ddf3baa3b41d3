"""What the tasks ask for before they read and route."""

from dataclasses import replace

from inference.types import BBox, PageReading, Word
from review.models import Document, ExtractionRun, Page, PageRead, Reading
from review.selectors.reading import (
    ReadingKey,
    cached_reading_id,
    reading_by_id,
    reading_progress,
    run_to_route,
    unread_page_ids,
)
from tests import factories
from tests.conftest import Cast


def run_with(cast: Cast, *states: str) -> ExtractionRun:
    document = factories.make_document(cast.document_type, status="processing")
    assert cast.document_type.active_version is not None
    run = ExtractionRun.objects.create(
        document=document,
        engine_version=factories.make_engine_version(),
        schema_version=cast.document_type.active_version,
    )
    # Stored in the wrong order on purpose.
    for number, state in reversed(list(enumerate(states, 1))):
        page = Page.objects.create(document=document, page_number=number, image="x", width=10 * number, height=1)
        reading = None
        if state in ("read", "cached"):
            payload = PageReading(10 * number, 1, (), 0.5).as_json()
            reading = Reading.objects.create(
                project=cast.project,
                engine_version=run.engine_version,
                content_hash=f"{run.pk}-{number}",
                payload=payload,
                cpu_seconds=0.5,
            )
        stored_state = "read" if state == "cached" else state
        PageRead.objects.create(
            run=run,
            page=page,
            state=stored_state,
            reading=reading,
            is_cached=state == "cached",
            error_code="time_limit" if state == "failed" else "",
        )
    return run


def test_a_run_is_routed_with_its_pages_in_order(cast: Cast) -> None:
    due = run_to_route(run_with(cast, "read", "read", "read").pk)
    assert due is not None
    assert [reading.width for reading in due.readings] == [10, 20, 30]
    assert due.failures == ()


def test_a_failed_page_is_an_empty_one_in_its_place(cast: Cast) -> None:
    due = run_to_route(run_with(cast, "read", "failed", "read").pk)
    assert due is not None
    assert [(reading.width, reading.words) for reading in due.readings] == [(10, ()), (20, ()), (30, ())]
    assert due.failures == ("time_limit",)


def test_cached_readings_cost_nothing(cast: Cast) -> None:
    due = run_to_route(run_with(cast, "read", "cached", "failed", "read").pk)
    assert due is not None
    assert due.cpu_seconds == 1.0


def test_a_run_with_unread_pages_is_not_due(cast: Cast) -> None:
    assert run_to_route(run_with(cast, "read", "pending").pk) is None
    assert run_to_route(run_with(cast, "claimed").pk) is None


def test_a_run_that_is_routed_or_replaced_is_not_due(cast: Cast) -> None:
    run = run_with(cast, "read")
    ExtractionRun.objects.update(state="routed")
    assert run_to_route(run.pk) is None
    ExtractionRun.objects.update(state="reading", is_current=False)
    assert run_to_route(run.pk) is None
    assert run_to_route(4711) is None


def test_unread_pages_come_in_order_and_without_those_in_hand(cast: Cast) -> None:
    run = run_with(cast, "pending", "read", "claimed", "pending")
    numbers = [PageRead.objects.get(pk=pk).page.page_number for pk in unread_page_ids(run.document_id)]
    assert numbers == [1, 4]


def test_a_finished_document_has_no_unread_pages(cast: Cast) -> None:
    run = run_with(cast, "pending")
    Document.objects.update(status="stored")
    assert unread_page_ids(run.document_id) == []


def test_the_cache_is_keyed_by_project_engine_content_and_request(cast: Cast) -> None:
    run = run_with(cast, "read")
    reading = Reading.objects.get()
    key = ReadingKey(cast.project.pk, run.engine_version_id, reading.content_hash)
    assert cached_reading_id(key) == reading.pk
    assert reading_by_id(reading.pk) == PageReading(10, 1, (), 0.5)
    others = [
        replace(key, project_id=cast.other_project.pk),
        replace(key, engine_version_id=key.engine_version_id + 1),
        replace(key, content_hash="other"),
        replace(key, request_digest="a" * 64),
    ]
    assert [cached_reading_id(other) for other in others] == [None] * 4


def test_a_failed_page_has_the_words_that_were_found_on_it(cast: Cast) -> None:
    run = run_with(cast, "failed")
    words = (Word("9.00", BBox(0.1, 0.1, 0.2, 0.2), 0.9),)
    kept = Reading.objects.create(
        project=cast.project,
        engine_version=factories.make_engine_version("ocr"),
        content_hash="x",
        payload=PageReading(10, 1, words, 2.5).as_json(),
        cpu_seconds=2.5,
    )
    PageRead.objects.update(reading=kept)
    due = run_to_route(run.pk)
    assert due is not None
    assert (due.readings[0].words, due.readings[0].answer) == (words, None)
    assert due.failures == ("time_limit",)
    assert due.cpu_seconds == 2.5


def test_progress_runs_from_the_first_that_waits_to_the_last(cast: Cast) -> None:
    assert reading_progress() is None
    factories.make_document(cast.document_type, status="stored")
    batch = [factories.make_document(cast.document_type) for _ in range(3)]
    first = reading_progress()
    assert first is not None
    assert (first.n_documents, first.n_read, first.n_waiting) == (3, 0, 3)
    Document.objects.filter(pk=batch[0].pk).update(status="review")
    second = reading_progress(first)
    assert second is not None
    assert (second.n_documents, second.n_read, second.n_waiting) == (3, 1, 2)
    Document.objects.filter(pk__in=[document.pk for document in batch]).update(status="stored")
    third = reading_progress(second)
    assert third is not None
    assert (third.n_documents, third.n_read, third.n_waiting) == (3, 3, 0)
    assert reading_progress() is None


def test_copies_are_no_progress_of_their_own(cast: Cast) -> None:
    first = factories.make_document(cast.document_type)
    factories.make_document(cast.document_type, duplicate_of=first)
    progress = reading_progress()
    assert progress is not None
    assert (progress.n_documents, progress.n_waiting) == (1, 1)
