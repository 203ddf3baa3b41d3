"""A server is refused when it does not come up, and started again when it dies or falls silent later."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest
from django.core.management import CommandError

from inference.serving.health import HealthWatch
from inference.types import VlmSpec
from review.management import supervision
from review.management.model_server import ModelServer
from review.management.supervision import Child, Supervisor
from tests.inference.serving.specs import SPEC

SLEEPER = "import time; time.sleep(600)"


class Life:
    """A child process, and a server that answers as it is told to, whatever the process does."""

    def __init__(
        self, code: str = SLEEPER, *, version: str = "0.32.0", spec: VlmSpec = SPEC, start_seconds: float = 60.0
    ) -> None:
        self.is_answering = False
        self.starts: list[float] = []
        self._version = version
        self._names = ("tiny", spec.tied_name)
        self.child = Child("vllm", [sys.executable, "-c", code], pause_seconds=0.05)
        client = httpx.Client(transport=httpx.MockTransport(self._answer), base_url="http://vllm")
        watch = HealthWatch(lambda: self.is_answering, start_seconds=start_seconds, silent_seconds=0.2)
        self.server = ModelServer(self.child, client, watch, SPEC, self.starts.append)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/version":
            return httpx.Response(200, json={"version": self._version})
        return httpx.Response(200, json={"data": [{"id": name, "max_model_len": 4096} for name in self._names]})

    def run(self, on_tick: Callable[[Supervisor], None] = lambda supervisor: None) -> None:
        """Supervise until told to stop, for ten seconds at most."""
        until = time.monotonic() + 10

        def tick() -> None:
            assert time.monotonic() < until
            self.server.look()
            on_tick(supervisor)

        supervisor = Supervisor([self.child], stop_seconds=5.0, on_tick=tick)
        supervisor.run()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "TICK_SECONDS", 0.01)
    monkeypatch.setattr("inference.serving.health.START_POLL_SECONDS", 0.01)
    monkeypatch.setattr("inference.serving.health.READY_POLL_SECONDS", 0.01)


def test_readiness_is_told_once_a_start() -> None:
    life = Life()
    ticks = 0

    def look(supervisor: Supervisor) -> None:
        nonlocal ticks
        ticks += 1
        life.is_answering = ticks > 5
        if ticks == 30:
            supervisor.stop()

    life.run(look)
    assert len(life.starts) == 1
    assert life.starts[0] >= 0


def test_a_server_that_ends_before_it_can_answer_ends_the_command() -> None:
    with pytest.raises(CommandError, match="exit code 3"):
        Life("raise SystemExit(3)").run()


def test_a_server_that_does_not_come_up_in_time_ends_the_command_and_its_process() -> None:
    life = Life(start_seconds=0.1)
    with pytest.raises(CommandError, match="--start-seconds"):
        life.run()
    assert life.child.process is not None
    assert life.child.process.returncode is not None


def test_another_vllm_than_the_declared_one_ends_the_command() -> None:
    life = Life(version="0.33.0")
    life.is_answering = True
    with pytest.raises(CommandError, match=r"0\.33\.0.*0\.32\.0"):
        life.run()


def test_a_server_that_was_started_for_another_version_ends_the_command() -> None:
    """As where one of before still holds the port, and ours has died behind it."""
    life = Life(spec=replace(SPEC, quantisation="fp8"))
    life.is_answering = True
    with pytest.raises(CommandError, match=f"does not serve this engine version .{SPEC.tied_name}"):
        life.run()


def test_a_server_that_dies_later_is_started_again() -> None:
    life = Life()
    life.is_answering = True
    pids: list[int] = []

    def look(supervisor: Supervisor) -> None:
        if life.child.process is not None and life.child.process.pid not in pids:
            pids.append(life.child.process.pid)
        if len(life.starts) == len(pids) == 1 and life.child.process is not None:
            life.child.process.kill()
        if len(life.starts) == 2:
            supervisor.stop()

    life.run(look)
    assert len(pids) == 2


def test_a_server_that_falls_silent_is_killed_and_started_again() -> None:
    life = Life()
    life.is_answering = True
    killed: list[int] = []

    def look(supervisor: Supervisor) -> None:
        process = life.child.process
        life.is_answering = len(life.starts) != 1 or bool(killed)
        if process is not None and process.returncode is not None:
            killed.append(process.returncode)
        if len(life.starts) == 2:
            supervisor.stop()

    life.run(look)
    assert killed[0] == -9


def test_a_server_that_is_started_again_has_time_to_come_up() -> None:
    life = Life()
    pids: dict[int, float] = {}

    def look(supervisor: Supervisor) -> None:
        process = life.child.process
        if process is not None and process.pid not in pids:
            pids[process.pid] = time.monotonic()
        # The second one needs longer than a server that is up may be silent.
        is_second = len(pids) > 1
        life.is_answering = not is_second or time.monotonic() - max(pids.values()) > 0.6
        if len(life.starts) == len(pids) == 1 and process is not None:
            process.kill()
        if len(life.starts) == 2:
            supervisor.stop()

    life.run(look)
    assert len(pids) == 2
    assert life.starts[1] >= 0.6
