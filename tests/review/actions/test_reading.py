"""Pages are claimed and read once each; the last one is told so."""

import functools
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from inference.types import (
    PageReading,
    RawAnswer,
)
from review.actions.reading import (
    begin_routing,
    claim_page,
    fail_page,
    record_page_read,
    release_page,
)
from review.models import (
    AuditEntry,
    Document,
    Event,
    ExtractionRun,
    Page,
    PageRead,
    Reading,
)
from review.models import RawAnswer as StoredAnswer
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.races.threads import all_at_once
from tests.review.actions.reading_room import claim, complete, opened, page_reading, read

# --- pages --------------------------------------------------------------------------------------------------------


def test_a_claim_counts_the_attempt(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    claimed = claim(page_read_id)
    stored = PageRead.objects.get()
    assert (stored.state, stored.n_attempts, stored.claim_token) == ("claimed", 1, claimed.token)
    assert claimed.page_read.n_attempts == 1


def test_a_claimed_page_cannot_be_claimed_again(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    claim(page_read_id)
    assert claim_page(page_read_id=page_read_id) is None
    assert PageRead.objects.get().n_attempts == 1


def test_a_claim_that_is_too_old_is_taken_over(cast: Cast, settings: Settings) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    first = claim(page_read_id)
    PageRead.objects.update(claimed_at=timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1))
    second = claim(page_read_id)
    assert second.token != first.token
    assert second.page_read.n_attempts == 2


def test_who_lost_a_claim_records_nothing(cast: Cast, settings: Settings) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    first = claim(page_read_id)
    PageRead.objects.update(claimed_at=timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1))
    second = claim(page_read_id)
    assert not record_page_read(actor=SYSTEM, claim=first, reading=page_reading())
    assert not fail_page(actor=SYSTEM, claim=first, code="engine_failed")
    document.refresh_from_db()
    assert (document.n_pages_read, Reading.objects.count()) == (0, 0)
    assert record_page_read(actor=SYSTEM, claim=second, reading=page_reading())


@pytest.mark.parametrize(("is_counted", "n_attempts"), [(True, 1), (False, 0)])
def test_a_released_page_is_pending_again(cast: Cast, is_counted: bool, n_attempts: int) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    release_page(claim=claim(page_read_id), is_counted=is_counted)
    stored = PageRead.objects.get()
    assert (stored.state, stored.n_attempts, stored.claim_token) == ("pending", n_attempts, "")


def test_a_page_that_waits_says_on_its_document_for_what(cast: Cast) -> None:
    document, (first, second) = opened(cast.document_type, 2)
    touched_at = Document.objects.get(pk=document.pk).touched_at
    release_page(claim=claim(first), is_counted=False, code="engine_unavailable")
    document.refresh_from_db()
    assert (document.status, document.reasons, document.touched_at) == (
        "processing",
        ["engine_unavailable"],
        touched_at,
    )
    read(second)
    document.refresh_from_db()
    assert document.reasons == []


def test_who_lost_a_claim_says_nothing_on_the_document(cast: Cast, settings: Settings) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    lost = claim(page_read_id)
    PageRead.objects.update(claimed_at=timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS + 1))
    claim(page_read_id)
    release_page(claim=lost, is_counted=False, code="engine_unavailable")
    document.refresh_from_db()
    assert document.reasons == []
    assert PageRead.objects.get().state == "claimed"


def test_answers_that_came_before_the_model_was_lost_are_kept(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    release_page(
        claim=claim(page_read_id), is_counted=True, code="answer_lost", attempts=[RawAnswer("the the", "stop")]
    )
    kept = StoredAnswer.objects.get()
    assert (kept.page_read_id, kept.error_code) == (page_read_id, "answer_lost")


@pytest.mark.parametrize(("n_attempts", "is_last"), [(1, False), (2, False), (3, True)])
def test_a_claim_knows_whether_anybody_will_try_again(cast: Cast, n_attempts: int, is_last: bool) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    PageRead.objects.update(n_attempts=n_attempts - 1)
    assert claim(page_read_id).is_last_attempt is is_last


def test_each_attempt_to_route_is_counted_before_it_is_made(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    run_id = ExtractionRun.objects.get().pk
    assert begin_routing(run_id=run_id) is None
    read(page_read_id)
    assert [begin_routing(run_id=run_id) for _ in range(2)] == [1, 2]
    complete(Document.objects.get())
    assert begin_routing(run_id=run_id) is None
    assert ExtractionRun.objects.get().n_routing_attempts == 2


def test_a_read_page_keeps_its_reading_and_moves_the_document(cast: Cast) -> None:
    document, (page_read_id,) = opened(cast.document_type)
    quality = {"sharpness": 12.0}
    record_page_read(actor=SYSTEM, claim=claim(page_read_id), reading=page_reading(quality=quality))
    stored = PageRead.objects.select_related("reading").get()
    document.refresh_from_db()
    assert stored.reading is not None
    assert PageReading.from_json(stored.reading.payload) == page_reading(quality=quality)
    assert (stored.state, stored.is_cached, document.n_pages_read) == ("read", False, 1)
    assert Page.objects.get().quality == quality
    assert Event.objects.get(name="document.page_read").payload["n_pages_read"] == 1
    assert AuditEntry.objects.get(action="document.page_read").detail["page_number"] == 1


def test_only_the_last_page_is_told_so(cast: Cast) -> None:
    _, ids = opened(cast.document_type, 3)
    assert [read(page_read_id) for page_read_id in (ids[2], ids[0], ids[1])] == [False, False, True]


def test_a_failed_page_may_be_the_last(cast: Cast) -> None:
    document, ids = opened(cast.document_type, 2)
    assert not read(ids[0])
    assert fail_page(actor=SYSTEM, claim=claim(ids[1]), code="engine_failed")
    document.refresh_from_db()
    assert document.n_pages_read == 1
    assert PageRead.objects.get(pk=ids[1]).error_code == "engine_failed"


@pytest.mark.parametrize("state", ["read", "failed"])
def test_a_finished_page_is_not_read_again(cast: Cast, state: str) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    PageRead.objects.update(state=state)
    assert claim_page(page_read_id=page_read_id) is None


def test_a_page_of_an_earlier_run_is_not_read(cast: Cast) -> None:
    _, (page_read_id,) = opened(cast.document_type)
    ExtractionRun.objects.update(is_current=False)
    assert claim_page(page_read_id=page_read_id) is None


def test_a_cached_reading_is_linked(cast: Cast) -> None:
    _, (first,) = opened(cast.document_type)
    read(first)
    _, (second,) = opened(cast.document_type)
    assert record_page_read(actor=SYSTEM, claim=claim(second), reading=Reading.objects.get().pk)
    assert PageRead.objects.get(pk=second).is_cached
    assert Reading.objects.count() == 1


def test_the_same_pixels_read_at_the_same_moment_make_one_reading(cast: Cast) -> None:
    _, (first,) = opened(cast.document_type)
    _, (second,) = opened(cast.document_type)
    Page.objects.update(content_hash="same")
    claims = [claim(first), claim(second)]
    assert all(record_page_read(actor=SYSTEM, claim=one, reading=page_reading()) for one in claims)
    assert Reading.objects.count() == 1
    assert PageRead.objects.filter(reading__isnull=False).count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_last_pages_that_finish_at_once_exactly_one_is_the_last() -> None:
    document_type = factories.make_document_type(factories.make_project())
    for _ in range(3):
        _, ids = opened(document_type, 4)
        claims = [claim(page_read_id) for page_read_id in ids]
        finish = functools.partial(record_page_read, actor=SYSTEM, reading=page_reading())
        answers = all_at_once([functools.partial(finish, claim=one) for one in claims])
        assert Counter(answers) == {False: 3, True: 1}
