"""Time is kept once a report, for who worked on the task, and never makes a keystroke fail."""

import pytest

from review.actions.leasing import lease_task
from review.actions.submitting import FieldVerdict, submit_task
from review.actions.timing import MAX_SECONDS, record_time
from review.exceptions import ForbiddenError, InvalidInputError, LeaseLostError
from review.models import AuditEntry, ReviewTask, TimeSpent
from review.selectors.access import SYSTEM
from tests.conftest import Cast
from tests.review.actions.review_room import actor, let_lease_lapse, make_open_task


@pytest.fixture
def task(cast: Cast) -> ReviewTask:
    """Held by the reviewer."""
    return lease_task(actor=actor(cast.reviewer), task=make_open_task(cast.document_type)).task


def report(cast: Cast, task: ReviewTask, key: str = "1", **seconds: float) -> None:
    by_path = {"" if name == "whole" else f"/{name}": spent for name, spent in seconds.items()}
    record_time(actor=actor(cast.reviewer), task=task, client_key=key, seconds=by_path)


def kept() -> dict[str, float]:
    return {f"{row.client_key}:{row.field_path}": row.seconds for row in TimeSpent.objects.all()}


def test_each_part_is_kept(cast: Cast, task: ReviewTask) -> None:
    report(cast, task, "a", whole=12.5, total=4.0)
    report(cast, task, "b", whole=3.0)
    assert kept() == {"a:": 12.5, "a:/total": 4.0, "b:": 3.0}
    assert set(TimeSpent.objects.values_list("reviewer", flat=True)) == {cast.reviewer.pk}


def test_a_report_that_is_sent_twice_counts_once(cast: Cast, task: ReviewTask) -> None:
    for spent in (12.5, 99.0):
        report(cast, task, "a", whole=spent)
    assert kept() == {"a:": 12.5}


def test_it_moves_nothing(cast: Cast, task: ReviewTask) -> None:
    before = AuditEntry.objects.count()
    report(cast, task, whole=1.0)
    assert AuditEntry.objects.count() == before


def test_a_cell_of_a_group_is_a_field_only_where_the_schema_has_it(cast: Cast, task: ReviewTask) -> None:
    with pytest.raises(InvalidInputError) as caught:
        report(cast, task, whole=1.0, nothing=2.0)
    assert caught.value.details["problems"][0]["pointer"] == "/nothing"
    assert kept() == {}


@pytest.mark.parametrize("spent", [-0.1, MAX_SECONDS + 1, float("nan"), float("inf")])
def test_impossible_times_are_refused(cast: Cast, task: ReviewTask, spent: float) -> None:
    with pytest.raises(InvalidInputError):
        report(cast, task, total=spent)
    assert kept() == {}


def test_no_time_at_all_is_a_time(cast: Cast, task: ReviewTask) -> None:
    report(cast, task, whole=0.0)
    assert kept() == {"1:": 0.0}


def test_who_finished_the_task_reports_the_rest_afterwards(cast: Cast) -> None:
    lease = lease_task(actor=actor(cast.reviewer), task=make_open_task(cast.document_type))
    verdicts = [FieldVerdict("/total", "confirmed")]
    submit_task(actor=actor(cast.reviewer), task=lease.task, lease_token=lease.token, verdicts=verdicts)
    report(cast, lease.task, whole=2.0)
    assert kept() == {"1:": 2.0}


def test_a_late_holder_reports_too(cast: Cast, task: ReviewTask) -> None:
    let_lease_lapse(task)
    report(cast, task, whole=2.0)
    assert kept() == {"1:": 2.0}


def test_who_never_worked_on_it_reports_nothing(cast: Cast) -> None:
    task = make_open_task(cast.document_type)
    with pytest.raises(LeaseLostError):
        report(cast, task, whole=2.0)
    lease_task(actor=actor(cast.manager), task=task)
    with pytest.raises(LeaseLostError):
        report(cast, task, whole=2.0)
    with pytest.raises(ForbiddenError):
        record_time(actor=SYSTEM, task=task, client_key="1", seconds={"": 1.0})
    assert kept() == {}


def test_two_people_may_use_the_same_key(cast: Cast, task: ReviewTask) -> None:
    report(cast, task, "a", whole=1.0)
    let_lease_lapse(task)
    lease_task(actor=actor(cast.manager), task=task)
    record_time(actor=actor(cast.manager), task=task, client_key="a", seconds={"": 5.0})
    assert sorted(TimeSpent.objects.values_list("seconds", flat=True)) == [1.0, 5.0]
