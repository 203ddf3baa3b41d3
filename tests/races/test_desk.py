"""Many workers and many tabs at once: a region is read once, one task is kept ready, a report counts once."""

import functools

import pytest

from review.actions.leasing import Lease, lease_next_task
from review.actions.regions import ClaimedRegion, claim_region, give_up_regions, record_region_read, request_region
from review.actions.timing import record_time
from review.models import AuditEntry, DocumentType, Project, RegionReading, RegionState, ReviewTask, TimeSpent, User
from review.selectors.access import SYSTEM
from tests.races.threads import all_at_once
from tests.review.actions.review_room import actor, make_open_task


def held(project: Project, document_type: DocumentType, reviewer: User) -> Lease:
    make_open_task(document_type)
    lease = lease_next_task(actor=actor(reviewer), project=project)
    assert lease is not None
    return lease


def test_sixteen_workers_for_one_region_make_one_reading(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    lease = held(project, document_type, reviewers[0])
    region = request_region(
        actor=actor(reviewers[0]), task=lease.task, page_number=1, bbox=(0.1, 0.1, 0.5, 0.2), field_path="/total"
    )
    claims = all_at_once([functools.partial(claim_region, region_id=region.pk)] * 16)
    assert [claim for claim in claims if isinstance(claim, Exception)] == []
    assert sum(isinstance(claim, ClaimedRegion) for claim in claims) == 1


@pytest.mark.parametrize("round_number", range(3))
def test_a_region_that_is_read_and_given_up_at_once_ends_one_way(
    project: Project, document_type: DocumentType, reviewers: list[User], round_number: int
) -> None:
    lease = held(project, document_type, reviewers[0])
    region = request_region(
        actor=actor(reviewers[0]), task=lease.task, page_number=1, bbox=(0.1, 0.1, 0.5, 0.2), field_path="/total"
    )
    claim = claim_region(region_id=region.pk)
    assert claim is not None
    RegionReading.objects.update(created_at="2020-01-01T00:00:00Z")
    read = functools.partial(record_region_read, actor=SYSTEM, claim=claim, text="9.00", value="9.00")
    give_up = functools.partial(give_up_regions, actor=SYSTEM)
    answers = all_at_once([read, give_up, give_up])
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    region.refresh_from_db()
    assert (region.state == RegionState.DONE) is (answers[0] is True)
    assert sum(bool(answer) for answer in answers) == 1
    assert AuditEntry.objects.filter(action="region.read").count() == 1


def test_eight_tabs_that_ask_for_the_next_task_keep_one_ready(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    for _ in range(10):
        make_open_task(document_type)
    lease = held(project, document_type, reviewers[0])
    ask = functools.partial(lease_next_task, actor=actor(reviewers[0]), project=project, besides=lease.task)
    answers = all_at_once([ask] * 8)
    assert [answer for answer in answers if not isinstance(answer, Lease)] == []
    assert len({(answer.task.pk, answer.token) for answer in answers if isinstance(answer, Lease)}) == 1
    assert ReviewTask.objects.filter(lease_holder=reviewers[0]).count() == 2


def test_two_reviewers_are_never_kept_the_same_task(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    for _ in range(16):
        make_open_task(document_type)
    people = reviewers[:8]
    leases = [lease_next_task(actor=actor(one), project=project) for one in people]
    asks = [
        functools.partial(lease_next_task, actor=actor(one), project=project, besides=lease.task)
        for one, lease in zip(people, leases, strict=True)
        if lease is not None
    ]
    ready = [answer for answer in all_at_once(asks) if isinstance(answer, Lease)]
    assert len(ready) == 8
    everything = [lease.task.pk for lease in (*leases, *ready) if lease is not None]
    assert len(set(everything)) == 16


def test_a_report_that_is_sent_eight_times_at_once_counts_once(
    project: Project, document_type: DocumentType, reviewers: list[User]
) -> None:
    lease = held(project, document_type, reviewers[0])
    report = functools.partial(
        record_time, actor=actor(reviewers[0]), task=lease.task, client_key="k", seconds={"": 9.0, "/total": 2.0}
    )
    answers = all_at_once([report] * 8)
    assert [answer for answer in answers if isinstance(answer, Exception)] == []
    assert dict(TimeSpent.objects.values_list("field_path", "seconds")) == {"": 9.0, "/total": 2.0}
