"""Attempts to open are counted, never made by two at once, and end."""

import functools
import hashlib
from collections import Counter
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from pytest_django import Settings

from review.actions._restarting import reset_document
from review.actions.opening import (
    EngineIdentity,
    StoredPage,
    begin_opening,
    fail_opening,
    keep_opening,
    keep_page_image,
    postpone_opening,
    record_opened,
)
from review.models import (
    AuditEntry,
    Document,
    EngineVersion,
    Event,
    ExtractionRun,
    Page,
    PageRead,
    SchemaVersion,
)
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.races.threads import all_at_once
from tests.review.queueing import queued

ENGINE = EngineIdentity("scripted", "d" * 64, {"x": 1})


def pages(n: int, mark: str = "a") -> list[StoredPage]:
    return [StoredPage(number, f"pages/{mark}{number}.jpg", 100, 200, f"{mark}{number}") for number in range(1, n + 1)]


@pytest.fixture
def document(cast: Cast) -> Document:
    return factories.make_document(cast.document_type)


def begin(document: Document) -> Document | None:
    return begin_opening(actor=SYSTEM, document_id=document.pk)


def test_an_attempt_is_counted_before_the_work(document: Document) -> None:
    begun = begin(document)
    document.refresh_from_db()
    assert begun is not None
    assert begun.n_attempts == document.n_attempts == 1


def test_an_attempt_under_way_is_left_alone(document: Document) -> None:
    assert begin(document) is not None
    assert begin(document) is None
    document.refresh_from_db()
    assert document.n_attempts == 1


def age(document: Document, settings: Settings) -> None:
    long_ago = timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1)
    Document.objects.filter(pk=document.pk).update(touched_at=long_ago)


def test_an_attempt_whose_process_is_dead_is_repeated_at_once(document: Document, dead_mark: str) -> None:
    begin(document)
    Document.objects.filter(pk=document.pk).update(claim_token=f"{dead_mark}{'0' * 16}")
    begun = begin(document)
    assert begun is not None
    assert begun.n_attempts == 2


def test_an_attempt_of_another_hosts_process_is_left_alone(document: Document) -> None:
    begin(document)
    Document.objects.filter(pk=document.pk).update(claim_token="0" * 32)
    assert begin(document) is None


def test_an_attempt_that_was_not_heard_of_again_is_repeated(document: Document, settings: Settings) -> None:
    begin(document)
    age(document, settings)
    begun = begin(document)
    assert begun is not None
    assert begun.n_attempts == 2


def test_a_long_attempt_that_gives_signs_of_life_is_left_alone(document: Document, settings: Settings) -> None:
    begun = begin(document)
    assert begun is not None
    age(document, settings)
    keep_opening(document=begun)
    assert begin(document) is None


def test_a_file_that_kills_its_worker_ends_unreadable_and_says_so(document: Document, settings: Settings) -> None:
    for _ in range(settings.STET_MAX_ATTEMPTS):
        assert begin(document) is not None
        age(document, settings)
    assert begin(document) is None
    document.refresh_from_db()
    assert (document.status, document.reasons) == ("unreadable", ["engine_failed"])
    assert document.finished_at is not None
    assert AuditEntry.objects.get(action="document.failed").detail["n_attempts"] == settings.STET_MAX_ATTEMPTS
    assert Event.objects.filter(name="document.failed").exists()


def test_an_attempt_without_an_engine_does_not_count(document: Document, settings: Settings) -> None:
    for _ in range(settings.STET_MAX_ATTEMPTS + 2):
        begun = begin(document)
        assert begun is not None
        postpone_opening(document=begun, code="engine_unavailable")
    document.refresh_from_db()
    assert (document.n_attempts, document.status) == (0, "received")
    assert document.reasons == ["engine_unavailable"]


def test_who_lost_its_attempt_says_nothing_of_the_document(document: Document, settings: Settings) -> None:
    late = begin(document)
    assert late is not None
    age(document, settings)
    assert begin(document) is not None
    postpone_opening(document=late, code="engine_unavailable")
    document.refresh_from_db()
    assert (document.n_attempts, document.reasons) == (2, [])


def test_who_lost_its_attempt_to_a_restart_touches_nothing_of_the_next(document: Document) -> None:
    """Both are the first attempt at it."""
    late = begin(document)
    assert late is not None
    reset_document(document)
    again = begin(document)
    assert again is not None
    assert late.n_attempts == again.n_attempts == 1
    postpone_opening(document=late, code="engine_unavailable")
    keep_opening(document=late)
    assert not fail_opening(actor=SYSTEM, document=late, code="unreadable")
    assert record_opened(actor=SYSTEM, document=late, pages=pages(1), engine=ENGINE) is None
    document.refresh_from_db()
    assert (document.status, document.n_attempts, document.reasons) == ("received", 1, [])
    assert (document.claim_token, document.touched_at) == (again.claim_token, again.touched_at)
    assert record_opened(actor=SYSTEM, document=again, pages=pages(1), engine=ENGINE)


def test_a_document_that_was_just_opened_can_be_opened_anew_at_once(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    assert record_opened(actor=SYSTEM, document=begun, pages=pages(1), engine=ENGINE)
    reset_document(document)
    assert begin(document) is not None


def test_a_duplicate_is_never_opened(cast: Cast, document: Document) -> None:
    copy = factories.make_document(cast.document_type, duplicate_of=document)
    assert begin(copy) is None


@pytest.mark.parametrize("status", ["processing", "review", "stored", "unreadable"])
def test_only_a_received_document_is_opened(document: Document, status: str) -> None:
    Document.objects.filter(pk=document.pk).update(status=status)
    assert begin(document) is None


def test_a_document_that_does_not_exist_is_not_opened(db: None) -> None:
    assert begin_opening(actor=SYSTEM, document_id=4711) is None


def test_an_opened_document_has_pages_and_work(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    reads = record_opened(actor=SYSTEM, document=begun, pages=pages(3), engine=ENGINE)
    assert reads is not None
    document.refresh_from_db()
    assert (document.status, document.n_pages, document.n_pages_read) == ("processing", 3, 0)
    assert [page.page_number for page in Page.objects.filter(document=document)] == [1, 2, 3]
    run = ExtractionRun.objects.get(document=document)
    assert (run.is_current, run.state, run.schema_version) == (True, "reading", document.document_type.active_version)
    assert queued() == [("read_page", read.pk) for read in reads]
    assert Event.objects.get(name="document.opened").payload["n_pages"] == 3


def test_a_single_page_is_left_to_the_caller(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    reads = record_opened(actor=SYSTEM, document=begun, pages=pages(1), engine=ENGINE)
    assert reads is not None
    assert len(reads) == 1
    assert queued() == []


def test_a_single_page_is_queued_for_a_caller_without_time(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    reads = record_opened(actor=SYSTEM, document=begun, pages=pages(1), engine=ENGINE, is_read_at_once=False)
    assert reads is not None
    assert queued() == [("read_page", reads[0].pk)]


def test_an_opened_document_waits_for_nothing_any_more(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    postpone_opening(document=begun, code="storage_full")
    again = begin(document)
    assert again is not None
    record_opened(actor=SYSTEM, document=again, pages=pages(1), engine=ENGINE)
    document.refresh_from_db()
    assert (document.status, document.reasons) == ("processing", [])


def test_the_second_to_open_a_document_records_nothing(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    assert record_opened(actor=SYSTEM, document=begun, pages=pages(2), engine=ENGINE) is not None
    assert record_opened(actor=SYSTEM, document=begun, pages=pages(2), engine=ENGINE) is None
    assert (ExtractionRun.objects.count(), PageRead.objects.count()) == (1, 2)


def test_a_document_keeps_the_schema_version_that_reads_it(document: Document) -> None:
    newer = SchemaVersion.objects.create(
        document_type=document.document_type, number=2, schema=factories.SCHEMA, digest="2" * 64
    )
    document.document_type.active_version = newer
    document.document_type.save()
    begun = begin(document)
    assert begun is not None
    record_opened(actor=SYSTEM, document=begun, pages=pages(1), engine=ENGINE)
    document.refresh_from_db()
    assert document.schema_version == newer


def test_one_engine_version_is_one_row(cast: Cast) -> None:
    for _ in range(2):
        begun = begin(factories.make_document(cast.document_type))
        assert begun is not None
        record_opened(actor=SYSTEM, document=begun, pages=pages(1), engine=ENGINE)
    version = EngineVersion.objects.get()
    assert (version.name, version.digest, version.spec) == ("scripted", "d" * 64, {"x": 1})


def test_reopening_replaces_pages_but_keeps_their_rows(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    record_opened(actor=SYSTEM, document=begun, pages=pages(2), engine=ENGINE)
    before = list(Page.objects.filter(document=document).values_list("pk", flat=True))
    Document.objects.filter(pk=document.pk).update(status="received", n_attempts=0)
    begun = begin(document)
    assert begun is not None
    record_opened(actor=SYSTEM, document=begun, pages=pages(3, "b"), engine=ENGINE)
    after = list(Page.objects.filter(document=document))
    assert [page.pk for page in after][:2] == before
    assert [page.content_hash for page in after] == ["b1", "b2", "b3"]
    assert list(ExtractionRun.objects.order_by("pk").values_list("is_current", flat=True)) == [False, True]


def test_failing_is_done_once(document: Document) -> None:
    begun = begin(document)
    assert begun is not None
    assert fail_opening(actor=SYSTEM, document=begun, code="damaged")
    assert not fail_opening(actor=SYSTEM, document=begun, code="truncated")
    document.refresh_from_db()
    assert (document.status, document.reasons) == ("unreadable", ["damaged"])


def test_copies_of_an_unreadable_document_are_unreadable_too(cast: Cast, document: Document) -> None:
    copy = factories.make_document(cast.document_type, duplicate_of=document)
    fail_opening(actor=SYSTEM, document=document, code="damaged")
    copy.refresh_from_db()
    assert (copy.status, copy.reasons) == ("unreadable", ["duplicate", "damaged"])


def test_the_same_page_is_stored_once(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path_factory.mktemp("incoming")
    digest = hashlib.sha256(b"jpeg").hexdigest()
    kept = {keep_page_image(7, b"jpeg") for _ in range(2)}
    assert kept == {(f"projects/7/pages/{digest}.jpg", digest)}
    assert default_storage.listdir("projects/7/pages")[1] == [f"{digest}.jpg"]


@pytest.mark.django_db(transaction=True)
def test_of_many_deliveries_at_once_one_opens_the_document() -> None:
    document = factories.make_document(factories.make_document_type(factories.make_project()))
    begun = all_at_once([functools.partial(begin, document)] * 6)
    assert Counter(begun) == {None: 5, document: 1}
    document.refresh_from_db()
    assert document.n_attempts == 1


def test_who_began_before_a_document_was_moved_to_another_type_opens_nothing(cast: Cast, document: Document) -> None:
    late = begin(document)
    assert late is not None
    other = factories.make_document_type(cast.project, "invoice")
    Document.objects.filter(pk=document.pk).update(document_type=other, n_attempts=0)
    assert record_opened(actor=SYSTEM, document=late, pages=pages(1), engine=ENGINE) is None
    document.refresh_from_db()
    assert document.status == "received"
    assert not ExtractionRun.objects.exists()
