"""`manage.py work`: read what waits, until told to stop."""

import os
import signal
import sys
import time
from types import FrameType
from typing import Any

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError
from django.utils import timezone

from review.actions.recovery import beat, end_beat, heartbeat_name, take_over
from review.management.cluster import Cluster
from review.management.lookup import refuse_unmigrated
from review.management.parentage import forked_children_die_with_us
from review.schedules import ensure_schedules
from review.selectors.reading import ReadingProgress, reading_progress
from review.tasks import TaskFailedError, sweep
from review.tasks_engines import name_worker

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
STOP_SECONDS = 30.0
TICK_SECONDS = 0.2
PROGRESS_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 30.0

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Read documents: a guard with STET_WORKERS worker processes. Stops cleanly on SIGTERM and SIGINT."

    def handle(self, *_args: Any, **_options: Any) -> None:
        if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
            # Numerical libraries read these when they are loaded, which has happened by now: begin anew with them.
            os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)  # noqa: S606 - ourselves
        refuse_unmigrated()
        self._is_stopping = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        forked_children_die_with_us()
        self._name = heartbeat_name()
        self._started_at = timezone.now()
        self._next_beat = self._next_progress = 0.0
        self._progress: ReadingProgress | None = None
        name_worker(self._name)
        ensure_schedules()
        cluster = Cluster()
        try:
            self._keep_running(cluster)
        finally:
            cluster.stop(STOP_SECONDS)
            end_beat(name=self._name)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._is_stopping = True

    def _keep_running(self, cluster: Cluster) -> None:
        pause = 1.0
        while not self._is_stopping:
            self._recover()
            started = time.monotonic()
            cluster.start()
            log.info("work begins", workers=settings.N_WORKERS, engine=settings.STET_ENGINE)
            while cluster.is_alive() and not self._is_stopping:
                self._tick()
                time.sleep(TICK_SECONDS)
            if self._is_stopping:
                return
            log.error("the workers' guard died and is started again", exit_code=cluster.exit_code)
            pause = 1.0 if time.monotonic() - started > 60 else min(pause * 2, LONGEST_PAUSE_SECONDS)
            self._wait(pause)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._is_stopping:
            time.sleep(TICK_SECONDS)

    def _recover(self) -> None:
        """Before any worker starts: free what dead ones held, so that it goes on now and not in some minutes."""
        if take_over(name=self._name):
            try:
                sweep(is_engine_checked=False)
            except TaskFailedError:
                log.error("the first sweep failed")

    def _tick(self) -> None:
        now = time.monotonic()
        try:
            if now >= self._next_beat:
                self._next_beat = now + settings.STET_HEARTBEAT_SECONDS
                beat(
                    name=self._name,
                    n_workers=settings.N_WORKERS,
                    engine_name=settings.STET_ENGINE,
                    started_at=self._started_at,
                )
            if now >= self._next_progress:
                self._next_progress = now + PROGRESS_SECONDS
                self._tell_progress()
        except DatabaseError as error:
            # Busy or away for a moment: the next beat tells.
            log.warning("no heartbeat", error=type(error).__name__)

    def _tell_progress(self) -> None:
        progress = reading_progress(self._progress)
        if progress is not None and progress != self._progress:
            counts = (progress.n_documents, progress.n_read, progress.n_waiting)
            log.info("%d documents: %d read, %d waiting", *counts)
        self._progress = progress if progress is not None and progress.n_waiting else None
