"""Children are kept running, and end with us."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from review.management import supervision
from review.management.supervision import Child, Supervisor

SLEEPER = "import time; time.sleep(600)"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def run(children: list[Child], on_tick: Callable[[Supervisor], None], stop_seconds: float = 20.0) -> None:
    supervisor = Supervisor(children, stop_seconds=stop_seconds, on_tick=lambda: on_tick(supervisor))
    supervisor.run()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "TICK_SECONDS", 0.01)


def test_children_run_until_we_are_told_to_stop() -> None:
    children = [Child("a", python(SLEEPER)), Child("b", python(SLEEPER))]
    seen: list[int] = []

    def look(supervisor: Supervisor) -> None:
        seen.extend(child.process.pid for child in children if child.process)
        supervisor.stop()

    run(children, look)
    assert len(set(seen)) == 2
    assert not any(is_alive(pid) for pid in seen)
    assert [child.process and child.process.returncode for child in children] == [-signal.SIGTERM] * 2


def test_a_dead_child_is_started_again_after_a_pause_that_grows() -> None:
    child = Child("a", python("raise SystemExit(3)"), pause_seconds=0.05)
    starts: list[float] = []

    def look(supervisor: Supervisor) -> None:
        if child.started_at not in starts:
            starts.append(child.started_at)
        if len(starts) == 3:
            supervisor.stop()

    run([child], look)
    assert starts[2] - starts[1] > starts[1] - starts[0] - 0.5
    assert child.pause_seconds >= 0.2


def test_the_pause_has_an_end() -> None:
    child = Child("a", python(""), pause_seconds=supervision.LONGEST_PAUSE_SECONDS)
    started: list[float] = []

    def look(supervisor: Supervisor) -> None:
        started.append(child.started_at)
        if child.process is None:
            supervisor.stop()

    run([child], look)
    assert child.pause_seconds == supervision.LONGEST_PAUSE_SECONDS


def test_a_child_that_lived_long_is_started_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "SETTLED_SECONDS", 0.0)
    child = Child("a", python(SLEEPER), pause_seconds=20.0)
    ticks = 0

    def look(supervisor: Supervisor) -> None:
        nonlocal ticks
        ticks += 1
        if ticks == 3:
            supervisor.stop()

    run([child], look)
    assert child.pause_seconds == supervision.FIRST_PAUSE_SECONDS


def test_a_child_that_does_not_listen_is_ended_with_its_own_children(tmp_path: Path) -> None:
    told = tmp_path / "pids"
    code = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"grandchild = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])\n"
        f"open({str(told)!r} + '.new', 'w').write(f'{{os.getpid()}} {{grandchild.pid}}')\n"
        f"os.rename({str(told)!r} + '.new', {str(told)!r})\n"
        "time.sleep(600)\n"
    )

    def look(supervisor: Supervisor) -> None:
        if told.exists():
            supervisor.stop()

    run([Child("deaf", python(code))], look, stop_seconds=0.2)
    pids = [int(pid) for pid in told.read_text().split()]
    until = time.monotonic() + 10
    while any(is_alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(is_alive(pid) for pid in pids)


def test_a_child_gets_its_own_additions_to_the_environment(tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = f"import os; open({str(told)!r}, 'w').write(os.environ['STET_X'] + os.environ['HOME'])"
    child = Child("a", python(code), {"STET_X": "7"})

    def look(supervisor: Supervisor) -> None:
        if told.exists() and told.read_text():
            supervisor.stop()

    run([child], look)
    assert told.read_text() == "7" + os.environ["HOME"]


def test_a_failure_of_our_own_leaves_no_child_behind() -> None:
    child = Child("a", python(SLEEPER))

    def fail(supervisor: Supervisor) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run([child], fail)
    assert child.process is not None
    assert not is_alive(child.process.pid)


def test_a_death_is_told_with_its_exit_code_each_time() -> None:
    heard: list[int] = []
    child = Child("a", python("raise SystemExit(3)"), on_death=heard.append, pause_seconds=0.02)

    def look(supervisor: Supervisor) -> None:
        if len(heard) == 2:
            supervisor.stop()

    run([child], look)
    assert heard == [3, 3]


def test_a_death_that_is_not_to_be_survived_ends_everything() -> None:
    def refuse(code: int) -> None:
        raise ValueError(code)

    other = Child("b", python(SLEEPER))
    with pytest.raises(ValueError, match="4"):
        run([Child("a", python("raise SystemExit(4)"), on_death=refuse), other], lambda supervisor: None)
    assert other.process is not None
    assert not is_alive(other.process.pid)
