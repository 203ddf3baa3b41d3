"""Child processes kept running: signals passed on, the dead started again with growing pauses, none left behind."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from review.management.parentage import die_with_parent

TICK_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0
SETTLED_SECONDS = 60.0

log = structlog.get_logger(__name__)


@dataclass
class Child:
    """A command to keep running, with additions to the environment.

    `on_death` hears the exit code each time it ends by itself; what it raises ends the supervision.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    on_death: Callable[[int], None] | None = None
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    due_at: float = 0.0
    pause_seconds: float = FIRST_PAUSE_SECONDS

    def start(self) -> None:
        """Start the command in a session of its own, so that a Ctrl-C meant for us reaches it through us alone."""
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            self.command,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent(signal.SIGTERM),  # noqa: PLW1509 - this process has one thread
        )
        self.started_at = time.monotonic()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the child."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)

    def bury(self) -> None:
        """End whatever is left of the child and of the processes it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Supervisor:
    """Keeps children running until it is told to stop."""

    def __init__(self, children: Sequence[Child], *, stop_seconds: float, on_tick: Callable[[], None]) -> None:
        self._children = children
        self._stop_seconds = stop_seconds
        self._on_tick = on_tick
        self._is_stopping = False

    def stop(self) -> None:
        """Ask for the end; safe to call from a signal's handler."""
        self._is_stopping = True

    def run(self) -> None:
        """Start all children; return when told to stop and all of them are gone."""
        try:
            for child in self._children:
                child.start()
            while not self._is_stopping:
                for child in self._children:
                    self._look_after(child)
                self._on_tick()
                time.sleep(TICK_SECONDS)
        finally:
            self._end_all()

    def _look_after(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is None:
            if now >= child.due_at:
                child.start()
            return
        code = child.process.poll()
        if code is None:
            if now - child.started_at > SETTLED_SECONDS:
                child.pause_seconds = FIRST_PAUSE_SECONDS
            return
        if child.on_death is not None:
            child.on_death(code)
        log.error(
            "a child process died and is started again", child=child.name, exit_code=code, in_s=child.pause_seconds
        )
        # What it leaves behind of its own children would get in the way of the next one.
        child.bury()
        child.process, child.due_at = None, now + child.pause_seconds
        child.pause_seconds = min(child.pause_seconds * 2, LONGEST_PAUSE_SECONDS)

    def _end_all(self) -> None:
        for child in self._children:
            child.send(signal.SIGTERM)
        until = time.monotonic() + self._stop_seconds
        for child in self._children:
            if child.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.process.wait(max(0.0, until - time.monotonic()))
            child.bury()
