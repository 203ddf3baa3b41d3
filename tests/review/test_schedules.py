"""What runs by the clock is in the database once, and every name that is queued leads to a task."""

import pydoc

import pytest
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler
from django_q.signing import SignedPackage

from review.actions import _enqueue
from review.schedules import EVERY_MINUTE, ensure_schedules

SWEEP = EVERY_MINUTE["sweep"]


def test_each_is_scheduled_once_however_often_a_worker_starts(db: None) -> None:
    for _ in range(3):
        ensure_schedules()
    assert dict(Schedule.objects.values_list("name", "func")) == EVERY_MINUTE
    assert set(Schedule.objects.values_list("minutes", "repeats")) == {(1, -1)}


def test_a_schedule_that_somebody_broke_is_put_right(db: None) -> None:
    Schedule.objects.create(name="sweep", func="os.abort", schedule_type=Schedule.ONCE)
    Schedule.objects.create(name="second", func=SWEEP, schedule_type=Schedule.MINUTES)
    ensure_schedules()
    assert dict(Schedule.objects.values_list("name", "func")) == EVERY_MINUTE


@pytest.mark.django_db(transaction=True)
def test_the_scheduler_queues_tasks_that_leave_no_row() -> None:
    ensure_schedules()
    Schedule.objects.update(next_run=timezone.now())
    scheduler()
    packages = [SignedPackage.loads(row.payload) for row in OrmQ.objects.all()]
    assert {package["func"] for package in packages} == set(EVERY_MINUTE.values())
    assert {(package["args"], package["save"]) for package in packages} == {((), False)}


@pytest.mark.parametrize(
    "name",
    [
        _enqueue.OPEN_DOCUMENT,
        _enqueue.READ_PAGE,
        _enqueue.ROUTE_RUN,
        _enqueue.WRITE_EXPORT,
        _enqueue.READ_REGION,
        *EVERY_MINUTE.values(),
    ],
)
def test_every_queued_name_leads_to_a_task(name: str) -> None:
    assert callable(pydoc.locate(name))
