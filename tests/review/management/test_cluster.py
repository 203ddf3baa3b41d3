"""Two guards: one for everything, one for what somebody waits for. Neither ends without being missed."""

from collections.abc import Callable
from typing import Any

import pytest
from django_q.conf import Conf
from django_q.worker import rss_check

from review.actions._enqueue import DESK_QUEUE
from review.management import cluster
from review.management.cluster import Cluster
from review.tasks import TaskFailedError


class Event:
    """A multiprocessing event as far as a cluster needs one."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        """Remember."""
        self.is_set = True


class Guard:
    """A process that lives until it is told otherwise."""

    made: list["Guard"]

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.target, self.stop = target, args[0]
        self.exitcode: int | None = None
        self.is_stubborn = False
        self.n_kills = 0
        Guard.made.append(self)

    def start(self) -> None:
        """Nothing to do."""

    def is_alive(self) -> bool:
        """Whether it lives."""
        return self.exitcode is None

    def join(self, timeout: float | None = None) -> None:
        """End if asked to."""
        if self.stop.is_set and not self.is_stubborn:
            self.exitcode = 0

    def kill(self) -> None:
        """End."""
        self.n_kills += 1
        self.exitcode = -9


class Context:
    """What multiprocessing gives."""

    Event, Process = Event, Guard


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Guard]:
    """The guards that were started, in order."""
    Guard.made = []
    monkeypatch.setattr("review.management.cluster.multiprocessing.get_context", lambda method: Context())
    monkeypatch.setattr("review.management.cluster.connections.close_all", lambda: None)
    return Guard.made


def test_both_queues_have_a_guard(made: list[Guard]) -> None:
    started = Cluster()
    assert (started.is_alive(), started.exit_code) == (False, None)
    started.start()
    assert [guard.target for guard in made] == [cluster._guard_all, cluster._guard_desk]
    assert (started.is_alive(), started.exit_code) == (True, None)


@pytest.mark.parametrize("number", [0, 1])
def test_one_dead_guard_is_missed_and_started_again_alone(made: list[Guard], number: int) -> None:
    started = Cluster()
    started.start()
    made[number].exitcode = 3
    assert (started.is_alive(), started.exit_code) == (False, 3)
    started.start()
    assert (started.is_alive(), started.exit_code) == (True, None)
    assert [guard.target for guard in made[2:]] == [made[number].target]


def test_both_are_asked_to_stop(made: list[Guard]) -> None:
    started = Cluster()
    started.stop(1.0)
    started.start()
    started.stop(1.0)
    assert [guard.stop.is_set for guard in made] == [True, True]
    assert [guard.exitcode for guard in made] == [0, 0]
    assert not started.is_alive()


def test_one_that_does_not_stop_is_ended(made: list[Guard]) -> None:
    started = Cluster()
    started.start()
    made[0].is_stubborn = True
    started.stop(0.0)
    assert [(guard.exitcode, guard.n_kills) for guard in made] == [(-9, 1), (0, 0)]


def test_the_desks_guard_has_one_worker_and_no_schedules(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def guard(*args: object, broker: Any) -> None:
        seen.update(workers=Conf.WORKERS, limit=Conf.QUEUE_LIMIT, schedules=Conf.SCHEDULER, queue=broker.list_key)

    for name in ("WORKERS", "QUEUE_LIMIT", "SCHEDULER"):
        monkeypatch.setattr(Conf, name, getattr(Conf, name))
    monkeypatch.setattr(cluster, "Guard", guard)
    connected: list[object] = []
    monkeypatch.setattr("review.management.cluster.post_spawn.connect", lambda heard, **_: connected.append(heard))
    cluster._guard_desk(Event(), Event())
    assert connected == [cluster._warm_up]
    assert seen == {"workers": 1, "limit": 1, "schedules": False, "queue": "stet-desk"}


def test_bulk_reading_stands_back_and_the_desk_does_not(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.STET_BULK_NICENESS = 7
    steps: list[object] = []
    monkeypatch.setattr("review.management.cluster.os.nice", steps.append)
    monkeypatch.setattr(cluster, "Guard", lambda *_args, **_options: steps.append("guard"))
    for name in ("WORKERS", "QUEUE_LIMIT", "SCHEDULER"):
        monkeypatch.setattr(Conf, name, getattr(Conf, name))
    monkeypatch.setattr("review.management.cluster.post_spawn.connect", lambda _heard, **_: None)
    monkeypatch.setattr(cluster, "get_broker", lambda _name: None)
    cluster._guard_all(Event(), Event())
    # Before the workers are forked, which inherit it.
    assert steps == [7, "guard"]
    cluster._guard_desk(Event(), Event())
    assert steps == [7, "guard", "guard"]


def test_a_desk_whose_engine_fails_to_load_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise TaskFailedError("warm_up: MemoryError")

    monkeypatch.setattr(cluster, "warm_up", fail)
    cluster._warm_up(sender="django_q")


def test_workers_that_read_load_their_models_before_they_take_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[object] = []
    monkeypatch.setattr("review.management.cluster.os.nice", lambda _step: None)
    monkeypatch.setattr(cluster, "Guard", lambda *_args, **_options: steps.append("guard"))
    monkeypatch.setattr("review.management.cluster.post_spawn.connect", lambda heard, **_: steps.append(heard))
    cluster._guard_all(Event(), Event())
    # Before the workers are forked, which hear what their guard heard.
    assert steps == [cluster._load_models, "guard"]
    monkeypatch.setattr(cluster, "load_only_at_start", steps.append)
    monkeypatch.setattr(cluster, "warm_up_models", lambda: steps.append("loaded"))
    cluster._load_models(sender="django_q")
    assert steps[2:] == [cluster._make_room, "loaded"]


def test_a_worker_whose_models_fail_to_load_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise TaskFailedError("warm_up_models: MemoryError")

    monkeypatch.setattr(cluster, "load_only_at_start", lambda _make_room: None)
    monkeypatch.setattr(cluster, "warm_up_models", fail)
    cluster._load_models(sender="django_q")


def test_a_worker_that_makes_room_is_replaced_after_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conf, "MAX_RSS", None)
    assert not rss_check()
    cluster._make_room()
    assert rss_check()


def test_the_desks_queue_is_the_one_that_actions_fill() -> None:
    assert cluster.DESK_QUEUE == DESK_QUEUE != Conf.CLUSTER_NAME
