"""The django-q2 cluster as one thing that starts, lives and stops: a guard, its workers, pusher and monitor."""

import contextlib
import multiprocessing
import os
import uuid
from multiprocessing.process import BaseProcess
from typing import Any

import structlog
from django.db import connections
from django_q.cluster import Sentinel
from django_q.signals import post_spawn

from review.tasks import TaskFailedError, free_dead_claims

QUEUE_SUSPECT = 3
_IDLE = -1
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


class Cluster:
    """Starts the guard in a process of its own. May be started again once it is dead."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("fork")
        self._stop = self._context.Event()
        self._guard: BaseProcess | None = None

    def start(self) -> None:
        """Start guard and workers."""
        # A connection must not be shared across a fork.
        connections.close_all()
        self._stop = self._context.Event()
        guard = self._context.Process(target=Guard, args=(self._stop, self._context.Event(), uuid.uuid4()))
        guard.start()
        self._guard = guard

    def is_alive(self) -> bool:
        """Whether the guard is there; it sees to the workers."""
        return self._guard is not None and self._guard.is_alive()

    @property
    def exit_code(self) -> int | None:
        """How the guard ended; None while it lives."""
        return self._guard.exitcode if self._guard is not None else None

    def stop(self, patience_seconds: float) -> None:
        """Let the workers finish what they have in hand; after `patience_seconds` end them. Nothing is lost by it."""
        if self._guard is None:
            return
        self._stop.set()
        self._guard.join(patience_seconds)
        if self._guard.is_alive():
            log.warning("workers ended while at work")
            self._guard.kill()
            self._guard.join()


def _on_spawn(**_: object) -> None:
    # A new worker often takes the place of one that died on a page.
    with contextlib.suppress(TaskFailedError):
        free_dead_claims()


post_spawn.connect(_on_spawn, dispatch_uid="free_dead_claims")
