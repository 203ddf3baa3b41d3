"""A marked part of a page is asked for by who holds the task, read once, and always comes to an end."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from review.actions._enqueue import DESK_QUEUE, READ_REGION
from review.actions.leasing import lease_next_task, lease_task, release_task
from review.actions.regions import (
    AT_ONCE,
    GAVE_UP,
    PATIENCE,
    ClaimedRegion,
    claim_region,
    fail_region,
    give_up_regions,
    record_region_read,
    request_region,
)
from review.actions.submitting import FieldVerdict, submit_task
from review.exceptions import ConflictError, ForbiddenError, InvalidInputError, LeaseLostError
from review.models import AuditEntry, Event, RegionReading, RegionState, ReviewTask
from review.selectors.access import SYSTEM
from tests.conftest import Cast
from tests.review.actions.review_room import actor, let_lease_lapse, make_open_task

BOX = (0.1, 0.2, 0.5, 0.25)


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    """Held by the reviewer."""
    return lease_task(actor=actor(cast.reviewer), task=make_open_task(cast.document_type)).task


def ask(cast: Cast, task: ReviewTask, **values: object) -> RegionReading:
    asked: dict[str, object] = {"page_number": 1, "bbox": BOX, "field_path": "/total", **values}
    return request_region(actor=actor(cast.reviewer), task=task, **asked)  # type: ignore[arg-type]


def acts(region: RegionReading) -> list[str]:
    entries = AuditEntry.objects.filter(object_type="regionreading", object_id=str(region.pk)).order_by("id")
    return list(entries.values_list("action", flat=True))


def told(region: RegionReading) -> list[tuple[str, str]]:
    events = Event.objects.filter(name__startswith="region.", payload__region_id=region.pk).order_by("id")
    return [(event.name, event.payload["state"]) for event in events]


def age(region: RegionReading, by: timedelta) -> None:
    RegionReading.objects.filter(pk=region.pk).update(created_at=timezone.now() - by)


def test_a_region_waits_in_the_queue_of_the_desk(cast: Cast, task: ReviewTask) -> None:
    OrmQ.objects.all().delete()
    region = ask(cast, task)
    assert (region.state, region.reviewer, region.bbox) == (RegionState.QUEUED, cast.reviewer, list(BOX))
    (queued,) = OrmQ.objects.all()
    package = SignedPackage.loads(queued.payload)
    assert (queued.key, package["func"], package["args"]) == (DESK_QUEUE, READ_REGION, (region.pk,))
    assert acts(region) == ["region.requested"]
    assert told(region) == [("region.requested", "queued")]


def test_what_is_told_to_everybody_holds_no_document_text(cast: Cast, task: ReviewTask) -> None:
    region = ask(cast, task)
    claim = claim_region(region_id=region.pk)
    assert claim is not None
    record_region_read(actor=SYSTEM, claim=claim, text="SECRET 9.00", value="9.00")
    payloads = [*Event.objects.values_list("payload", flat=True), *AuditEntry.objects.values_list("detail", flat=True)]
    assert "SECRET" not in str(payloads)


@pytest.mark.parametrize("standing", ["free", "taken over", "finished"])
def test_only_who_holds_the_task_may_ask(cast: Cast, standing: str) -> None:
    task = make_open_task(cast.document_type)
    if standing == "taken over":
        lease_task(actor=actor(cast.manager), task=task)
    if standing == "finished":
        lease = lease_task(actor=actor(cast.reviewer), task=task)
        verdicts = [FieldVerdict("/total", "confirmed")]
        submit_task(actor=actor(cast.reviewer), task=task, lease_token=lease.token, verdicts=verdicts)
    with pytest.raises(LeaseLostError):
        ask(cast, task)
    assert not RegionReading.objects.exists()


def test_a_late_holder_may_still_ask(cast: Cast, task: ReviewTask) -> None:
    let_lease_lapse(task)
    assert ask(cast, task).pk


def test_who_gave_the_task_back_may_not(cast: Cast) -> None:
    task = make_open_task(cast.document_type)
    lease = lease_next_task(actor=actor(cast.reviewer), project=cast.project)
    assert lease is not None
    release_task(actor=actor(cast.reviewer), task=task, lease_token=lease.token)
    with pytest.raises(LeaseLostError):
        ask(cast, task)


def test_stet_itself_asks_for_nothing(task: ReviewTask) -> None:
    with pytest.raises(ForbiddenError):
        request_region(actor=SYSTEM, task=task, page_number=1, bbox=BOX, field_path="/total")


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"page_number": 2}, "/page_number"),
        ({"field_path": "/nothing"}, "/field_path"),
        ({"field_path": ""}, "/field_path"),
    ],
)
def test_what_does_not_exist_is_refused_with_its_place(
    cast: Cast, task: ReviewTask, values: dict[str, object], pointer: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ask(cast, task, **values)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == [pointer]
    assert not OrmQ.objects.filter(key=DESK_QUEUE).exists()


def test_a_script_that_ran_away_is_stopped(cast: Cast, task: ReviewTask) -> None:
    regions = [ask(cast, task) for _ in range(AT_ONCE)]
    with pytest.raises(ConflictError) as caught:
        ask(cast, task)
    assert caught.value.code == "too_many_regions"
    claim = claim_region(region_id=regions[0].pk)
    assert claim is not None
    fail_region(actor=SYSTEM, claim=claim, code="engine_failed")
    assert ask(cast, task).pk


def test_a_region_is_claimed_once(cast: Cast, task: ReviewTask) -> None:
    region = ask(cast, task)
    claims = [claim_region(region_id=region.pk) for _ in range(3)]
    assert [claim is not None for claim in claims] == [True, False, False]
    region.refresh_from_db()
    assert region.state == RegionState.READING
    assert claims[0] is not None
    assert region.claim_token == claims[0].token != ""


def test_a_region_that_is_gone_is_not_claimed(db: None) -> None:
    assert claim_region(region_id=999_999) is None


def test_what_was_read_is_kept_and_told(cast: Cast, task: ReviewTask) -> None:
    region = ask(cast, task)
    claim = claim_region(region_id=region.pk)
    assert claim is not None
    assert record_region_read(actor=SYSTEM, claim=claim, text="RM 9.00", value="9.00")
    region.refresh_from_db()
    assert (region.state, region.text, region.value) == (RegionState.DONE, "RM 9.00", "9.00")
    assert region.finished_at is not None
    assert acts(region) == ["region.requested", "region.read"]
    assert told(region)[-1] == ("region.read", "done")
    assert not record_region_read(actor=SYSTEM, claim=claim, text="again", value=None)
    region.refresh_from_db()
    assert region.text == "RM 9.00"


def test_a_failure_is_an_end_too(cast: Cast, task: ReviewTask) -> None:
    region = ask(cast, task)
    claim = claim_region(region_id=region.pk)
    assert claim is not None
    assert fail_region(actor=SYSTEM, claim=claim, code="engine_failed")
    region.refresh_from_db()
    assert (region.state, region.error_code, region.text) == (RegionState.FAILED, "engine_failed", None)
    assert told(region)[-1] == ("region.read", "failed")
    assert claim_region(region_id=region.pk) is None


def test_who_lost_the_claim_records_nothing(cast: Cast, task: ReviewTask) -> None:
    region = ask(cast, task)
    claim = claim_region(region_id=region.pk)
    assert claim is not None
    stale = ClaimedRegion(claim.region, "0" * 32)
    assert not record_region_read(actor=SYSTEM, claim=stale, text="x", value=None)
    assert acts(region) == ["region.requested"]


@pytest.mark.parametrize("is_claimed", [False, True])
def test_what_nobody_reads_in_time_is_given_up(cast: Cast, task: ReviewTask, is_claimed: bool) -> None:
    region, fresh = ask(cast, task), ask(cast, task)
    claim = claim_region(region_id=region.pk) if is_claimed else None
    age(region, PATIENCE + timedelta(seconds=1))
    assert give_up_regions(actor=SYSTEM) == 1
    for one in (region, fresh):
        one.refresh_from_db()
    assert (region.state, region.error_code, fresh.state) == (RegionState.FAILED, GAVE_UP, RegionState.QUEUED)
    assert told(region)[-1] == ("region.read", "failed")
    assert give_up_regions(actor=SYSTEM) == 0
    if claim is not None:
        assert not record_region_read(actor=SYSTEM, claim=claim, text="too late", value=None)
