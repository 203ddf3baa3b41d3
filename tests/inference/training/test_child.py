"""With a stand-in for the Python that trains: a script that is given the same arguments."""

import os
import signal
import stat
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from inference.training import child
from inference.training.child import run_training
from inference.training.errors import TrainingError
from inference.training.plan import TrainingPlan


@pytest.fixture
def plan(tmp_path: Path) -> TrainingPlan:
    return TrainingPlan("/weights", str(tmp_path / "data"), str(tmp_path / "adapter"), 4096, steps=2)


def stand_in(tmp_path: Path, *lines: str) -> str:
    """Return an interpreter that runs these lines instead of what it is asked for; `plan` is the plan's file."""
    script = tmp_path / "stand_in.py"
    head = "import json, os, sys, time, pathlib\nplan = json.loads(pathlib.Path(sys.argv[3]).read_text())\n"
    script.write_text(head + "\n".join(lines) + "\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -u {script} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return str(python)


def run(plan: TrainingPlan, tmp_path: Path, python: str) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    heard: list[Mapping[str, Any]] = []
    done = run_training(plan, python=python, scratch=tmp_path, log=tmp_path / "log", tell=heard.append)
    return done, heard


def test_steps_are_told_as_they_come_and_the_outcome_is_returned(plan: TrainingPlan, tmp_path: Path) -> None:
    python = stand_in(
        tmp_path,
        "for n in range(plan['steps']): print(json.dumps({'event': 'step', 'step': n + 1}))",
        "print(json.dumps({'event': 'done', 'losses': [1.0]}))",
    )
    done, heard = run(plan, tmp_path, python)
    assert done == {"event": "done", "losses": [1.0]}
    assert [event["step"] for event in heard] == [1, 2]


def test_the_child_is_told_to_fetch_nothing_and_finds_our_code(plan: TrainingPlan, tmp_path: Path) -> None:
    names = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "DO_NOT_TRACK", "PYTHONPATH")
    python = stand_in(
        tmp_path,
        f"print(json.dumps({{'event': 'done', 'told': [os.environ[n] for n in {names}], 'argv': sys.argv[1:]}}))",
    )
    done, _ = run(plan, tmp_path, python)
    *offline, path = done["told"]
    assert offline == ["1"] * 4
    assert (Path(path) / "inference" / "training" / "run.py").is_file()
    assert done["argv"][:2] == ["-m", "inference.training.run"]


def test_what_libraries_say_goes_to_the_log(plan: TrainingPlan, tmp_path: Path) -> None:
    python = stand_in(tmp_path, "sys.stderr.write('a warning')", "print(json.dumps({'event': 'done'}))")
    run(plan, tmp_path, python)
    assert (tmp_path / "log").read_text() == "a warning"


def test_a_training_that_fails_says_why(plan: TrainingPlan, tmp_path: Path) -> None:
    failed = {"event": "failed", "code": "training_out_of_memory", "message": "lower --rank"}
    with pytest.raises(TrainingError, match="lower --rank") as refused:
        run(plan, tmp_path, stand_in(tmp_path, f"print(json.dumps({failed}))", "sys.exit(1)"))
    assert refused.value.code == "training_out_of_memory"


@pytest.mark.parametrize("ending", ["sys.exit(3)", "os.kill(os.getpid(), 9)", "pass"])
def test_a_training_that_breaks_off_is_told_with_its_exit_code(plan: TrainingPlan, tmp_path: Path, ending: str) -> None:
    python = stand_in(tmp_path, "print(json.dumps({'event': 'step', 'step': 1}))", ending)
    with pytest.raises(TrainingError, match=r"ended with exit code (3|-9|0): see .*log"):
        run(plan, tmp_path, python)


def test_no_half_of_an_adapter_is_left(plan: TrainingPlan, tmp_path: Path) -> None:
    python = stand_in(tmp_path, "pathlib.Path(plan['out_folder'] + '.part').mkdir()", "sys.exit(1)")
    with pytest.raises(TrainingError):
        run(plan, tmp_path, python)
    assert not list(tmp_path.glob("adapter*"))


def test_who_gives_up_ends_the_child_too(plan: TrainingPlan, tmp_path: Path) -> None:
    python = stand_in(
        tmp_path,
        "pathlib.Path(plan['out_folder'] + '.part').mkdir()",
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))",
        "print(json.dumps({'event': 'step', 'step': 1}))",
        "time.sleep(600)",
    )
    with pytest.raises(KeyboardInterrupt):
        run_training(plan, python=python, scratch=tmp_path, log=tmp_path / "log", tell=_give_up)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert not list(tmp_path.glob("adapter*"))


def test_the_child_is_asked_to_end_before_it_is_killed(plan: TrainingPlan, tmp_path: Path) -> None:
    told = tmp_path / "told"
    python = stand_in(
        tmp_path,
        "import signal",
        f"ending = lambda *_: sys.exit(pathlib.Path({str(told)!r}).write_text('to end'))",
        "signal.signal(signal.SIGTERM, ending)",
        "print(json.dumps({'event': 'step', 'step': 1}))",
        "time.sleep(600)",
    )
    with pytest.raises(KeyboardInterrupt):
        run_training(plan, python=python, scratch=tmp_path, log=tmp_path / "log", tell=_give_up)
    assert told.read_text() == "to end"


def test_a_child_that_does_not_end_when_asked_is_killed(
    plan: TrainingPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "STOP_SECONDS", 0.2)
    pid = tmp_path / "pid"
    python = stand_in(
        tmp_path,
        "import signal",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        f"pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))",
        "print(json.dumps({'event': 'step', 'step': 1}))",
        "time.sleep(600)",
    )
    with pytest.raises(KeyboardInterrupt):
        run_training(plan, python=python, scratch=tmp_path, log=tmp_path / "log", tell=_give_up)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def _give_up(event: Mapping[str, Any]) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_while_it_waits_ends_the_child(plan: TrainingPlan, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    python = stand_in(tmp_path, f"pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))", "time.sleep(600)")

    is_over = threading.Event()

    def interrupt() -> None:
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        # One that comes between two instructions, just before the wait begins, is noticed when the wait ends.
        while not is_over.wait(5.0):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(plan, tmp_path, python)
    finally:
        is_over.set()
        thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_python_without_the_extra_says_so_in_one_line(plan: TrainingPlan, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"is missing in .*: pip install '\.\[train\]' in Stet's folder") as refused:
        run(plan, tmp_path, sys.executable)
    assert refused.value.code == "training_extra_missing"
    assert "\n" not in str(refused.value)
