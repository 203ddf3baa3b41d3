"""The django-q2 clusters as one thing that starts, lives and stops: guards, each with workers, pusher and monitor.

One sees to everything that is queued; its workers load the models that live in their process (`vllm_offline`,
`transformers_local`) before they take a page. The other, with one worker, sees to what somebody waits for at a desk:
that never stands behind a thousand pages, whatever the order of the queue. Its worker loads the engine before anybody
asks, and does not share a core with bulk reading as an equal: the first cluster is nice (STET_BULK_NICENESS).
"""

import contextlib
import multiprocessing
import os
import time
import uuid
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

import structlog
from django.conf import settings
from django.db import connections
from django_q.brokers import get_broker
from django_q.cluster import Sentinel
from django_q.conf import Conf
from django_q.signals import post_spawn

from review.tasks import TaskFailedError, free_dead_claims, warm_up_models
from review.tasks_loading import load_only_at_start
from review.tasks_regions import warm_up

QUEUE_SUSPECT = 3
DESK_QUEUE = "stet-desk"
"""As in `review.actions._enqueue`; a test holds the two together."""
DESK_WORKERS = 1
_IDLE = -1
Target = Callable[[Any, Any], None]
log = structlog.get_logger(__name__)


class Guard(Sentinel):  # type: ignore[misc]
    """django-q2's guard, which replaces workers that die; one death in three it cannot mend, and then it says so."""

    def reincarnate(self, process: Any) -> None:  # noqa: ANN401 - a process with django-q2's `timer`
        """Replace a process that died or hangs; give up the whole cluster where the queue may have died with it.

        An idle worker waits inside the queue, with the queue's lock. Killed there, it takes the lock with it, and no
        worker ever gets a task again. A busy one does not hold it.
        """
        was_waiting = process in self.pool and not process.is_alive() and process.timer.value == _IDLE
        super().reincarnate(process)
        if was_waiting:
            # No orderly way out: that would wait for the lock. The workers end with us; what they read is read again.
            os._exit(QUEUE_SUSPECT)


def _guard_all(stop: Any, started: Any) -> None:  # noqa: ANN401 - the context's events
    # Inherited by the workers. Where a core is wanted by both, the desk's worker and the web get nearly all of it.
    os.nice(settings.STET_BULK_NICENESS)
    post_spawn.connect(_load_models, dispatch_uid="load_models")
    Guard(stop, started, uuid.uuid4())


def _guard_desk(stop: Any, started: Any) -> None:  # noqa: ANN401 - the context's events
    # This process is the guard's own: what it changes here nobody else sees.
    Conf.WORKERS = Conf.QUEUE_LIMIT = DESK_WORKERS
    # Schedules belong to the other cluster; this one would put them into its own queue.
    Conf.SCHEDULER = False
    # Workers are forked from this process and hear what it hears.
    post_spawn.connect(_warm_up, dispatch_uid="warm_up")
    Guard(stop, started, uuid.uuid4(), broker=get_broker(DESK_QUEUE))


class Cluster:
    """Starts each guard in a process of its own. May be started again once one of them is dead."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("fork")
        self._stops: dict[Target, Any] = {}
        self._guards: dict[Target, BaseProcess] = {}

    def start(self) -> None:
        """Start the guards that are not there, with their workers."""
        # A connection must not be shared across a fork.
        connections.close_all()
        for target in (_guard_all, _guard_desk):
            if target in self._guards and self._guards[target].is_alive():
                continue
            self._stops[target] = self._context.Event()
            guard = self._context.Process(target=target, args=(self._stops[target], self._context.Event()))
            guard.start()
            self._guards[target] = guard

    def is_alive(self) -> bool:
        """Whether all guards are there; they see to the workers."""
        return bool(self._guards) and all(guard.is_alive() for guard in self._guards.values())

    @property
    def exit_code(self) -> int | None:
        """How the first guard that is gone ended; None while all live."""
        codes = (guard.exitcode for guard in self._guards.values())
        return next((code for code in codes if code is not None), None)

    def stop(self, patience_seconds: float) -> None:
        """Let the workers finish what they have in hand; after `patience_seconds` end them. Nothing is lost by it."""
        for stop in self._stops.values():
            stop.set()
        until = time.monotonic() + patience_seconds
        for guard in self._guards.values():
            guard.join(max(0.0, until - time.monotonic()))
            if guard.is_alive():
                log.warning("workers ended while at work")
                guard.kill()
                guard.join()


def _on_spawn(**_: object) -> None:
    # A new worker often takes the place of one that died on a page.
    with contextlib.suppress(TaskFailedError):
        free_dead_claims()


def _warm_up(**_: object) -> None:
    with contextlib.suppress(TaskFailedError):
        warm_up()


def _load_models(**_: object) -> None:
    # The worker is idle by the guard's watch: no task's time runs yet.
    load_only_at_start(_make_room)
    with contextlib.suppress(TaskFailedError):
        warm_up_models()


def _make_room() -> None:
    """Have this worker replaced when its task is done, as one is that has grown too large: any size is, from now on."""
    Conf.MAX_RSS = 1


post_spawn.connect(_on_spawn, dispatch_uid="free_dead_claims")
