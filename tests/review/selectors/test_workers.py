"""Who is at work, by their heartbeats; since when work waits."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

import pytest
from django.utils import timezone
from django_q.models import OrmQ
from pytest_django import Settings

from review.models import Rollout, WorkerHeartbeat
from review.selectors.workers import BEATS_MISSED, is_worker_alive, oldest_waiting_since, worker_summary
from tests import factories
from tests.conftest import Cast
from tests.review.vlm import read_with_vlm


def worker(
    name: str,
    *,
    seconds_ago: float = 0.0,
    error: str = "",
    models: Mapping[str, str] = MappingProxyType({}),
    n_workers: int = 2,
    engine: str = "x",
) -> None:
    now = timezone.now()
    WorkerHeartbeat.objects.create(
        name=name,
        n_workers=n_workers,
        engine_name=engine,
        engine_error=error,
        model_errors=dict(models),
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


def test_a_language_model_is_away_where_no_worker_can_ask_it(db: None) -> None:
    worker("a", models={"7": "engine_unavailable", "8": "version_not_served"})
    worker("b", models={"8": "engine_unavailable", "9": "engine_unavailable"})
    worker("c", seconds_ago=1000)
    summary = worker_summary()
    assert summary.model_errors == {8: "version_not_served"}
    assert summary.is_engine_ready


def test_the_types_that_a_language_model_reads_wait_while_it_is_away(cast: Cast) -> None:
    version = read_with_vlm(cast.project)
    ocr, chosen = factories.make_document_type(cast.project, "ocr"), factories.make_engine_version("rapidocr")
    Rollout.objects.create(document_type=ocr, engine_version=chosen, stage="live", salt="s")
    worker("a", models={str(version.pk): "engine_unavailable"})
    summary = worker_summary()
    types = (cast.document_type, ocr, cast.other_document_type)
    assert [summary.standstill(one.pk) for one in types] == ["waiting_for_model", "", ""]
    assert summary.silent_types == {cast.document_type.pk}


def test_without_a_worker_everything_waits_for_one(db: None) -> None:
    worker("a", seconds_ago=1000, models={"8": "engine_unavailable"})
    summary = worker_summary()
    assert summary.model_errors == {}
    assert summary.standstill(8) == "waiting"


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
