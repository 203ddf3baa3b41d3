"""Who is at work, by their heartbeats; since when work waits."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ
from pytest_django import Settings

from review.models import WorkerHeartbeat
from review.selectors.workers import BEATS_MISSED, is_worker_alive, oldest_waiting_since, worker_summary


def worker(name: str, *, seconds_ago: float = 0.0, error: str = "", n_workers: int = 2, engine: str = "x") -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(
        name=name,
        n_workers=n_workers,
        engine_name=engine,
        engine_error=error,
        started_at=now,
        seen_at=now - timedelta(seconds=seconds_ago),
    )


def test_nobody_is_at_work_at_first(db: None) -> None:
    assert not is_worker_alive()
    summary = worker_summary()
    assert (summary.is_alive, summary.is_engine_ready, summary.n_workers, summary.seen_at) == (False, False, 0, None)


def test_a_worker_that_missed_its_beats_is_absent(db: None, settings: Settings) -> None:
    worker("a", seconds_ago=BEATS_MISSED * settings.STET_HEARTBEAT_SECONDS + 1)
    assert not is_worker_alive()
    worker("b", seconds_ago=BEATS_MISSED * settings.STET_HEARTBEAT_SECONDS - 1)
    assert is_worker_alive()


def test_workers_are_counted_together(db: None) -> None:
    worker("a", engine="rapidocr")
    worker("b", n_workers=3, engine="scripted")
    worker("c", seconds_ago=1000, n_workers=50)
    summary = worker_summary()
    assert (summary.n_clusters, summary.n_workers, summary.engine_names) == (2, 5, ("rapidocr", "scripted"))


@pytest.mark.parametrize(
    ("errors", "shown", "is_ready"),
    [
        (["", ""], "", True),
        (["engine_unavailable", ""], "", True),
        (["engine_unavailable", "engine_unavailable"], "engine_unavailable", False),
    ],
)
def test_the_engine_is_ready_while_one_worker_has_it(db: None, errors: list[str], shown: str, is_ready: bool) -> None:
    for number, error in enumerate(errors):
        worker(str(number), error=error)
    assert (worker_summary().engine_error, worker_summary().is_engine_ready) == (shown, is_ready)


def test_nothing_waits_in_an_empty_queue(db: None) -> None:
    assert oldest_waiting_since() is None


def test_the_oldest_waiting_task_counts_and_those_in_hand_do_not(db: None) -> None:
    now = timezone.now()
    for seconds in (+100, +50, -30, -20, -10):
        OrmQ.objects.create(key="stet", payload="", lock=now + timedelta(seconds=seconds))
    assert oldest_waiting_since() == now - timedelta(seconds=30)


def test_a_task_that_came_back_does_not_hide_the_older_ones(db: None) -> None:
    now = timezone.now()
    OrmQ.objects.create(key="stet", payload="", lock=now - timedelta(seconds=1))
    OrmQ.objects.create(key="stet", payload="", lock=now - timedelta(seconds=500))
    assert oldest_waiting_since() == now - timedelta(seconds=500)


def test_a_long_queue_costs_one_small_query(db: None, django_assert_num_queries: object) -> None:
    now = timezone.now()
    OrmQ.objects.bulk_create(OrmQ(key="stet", payload="", lock=now) for _ in range(500))
    with django_assert_num_queries(1):  # type: ignore[operator]
        oldest_waiting_since()
