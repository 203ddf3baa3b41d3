"""A training in a process of its own, by a Python that has torch; ended with us, and what it had begun is removed."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inference.training.errors import TrainingError
from inference.training.plan import TrainingPlan

HOUSE = Path(__file__).resolve().parents[2]
MODULE = "inference.training.run"
STOP_SECONDS = 30.0
# Nothing is fetched and nothing is told to anybody.
ENVIRONMENT: Mapping[str, str] = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def run_training(
    plan: TrainingPlan,
    *,
    python: str,
    scratch: Path,
    log: Path,
    tell: Callable[[Mapping[str, Any]], None],
    first: Callable[[], None] | None = None,
) -> Mapping[str, Any]:
    """Train by the interpreter `python` and return what came of it; what was learned is in `plan.out_folder` then.

    `scratch` is a folder for the plan, `log` the file for what libraries say; `first` is called in the child before
    anything else. Whatever ends this call, no half of it is left. Raise TrainingError.
    """
    plan_file = scratch / "plan.json"
    plan_file.write_text(json.dumps(plan.as_json()), encoding="utf-8")
    outcome: Mapping[str, Any] = {}
    try:
        with _started(python, plan_file, log, scratch, first) as process:
            for line in process.stdout or ():
                event = json.loads(line)
                if event["event"] == "step":
                    tell(event)
                else:
                    outcome = event
        status = process.returncode
    finally:
        # It is renamed when it is whole.
        shutil.rmtree(f"{plan.out_folder}.part", ignore_errors=True)
    if outcome.get("event") == "failed":
        raise TrainingError(outcome["code"], outcome["message"])
    if status or not outcome:
        raise TrainingError("training_failed", f"the training ended with exit code {status}: see {log}")
    return outcome


@contextmanager
def _started(
    python: str, plan_file: Path, log: Path, scratch: Path, first: Callable[[], None] | None
) -> Iterator["subprocess.Popen[str]"]:
    """Yield the process; end it with this block, however that is left."""
    environment = os.environ | ENVIRONMENT | {"PYTHONPATH": str(HOUSE), "HF_HOME": str(scratch / "cache")}
    with log.open("w", encoding="utf-8") as told:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [python, "-m", MODULE, str(plan_file)],
            cwd=HOUSE,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
            start_new_session=True,
            preexec_fn=first,  # noqa: PLW1509 - this process has one thread
        )
        try:
            yield process
            process.wait()
        finally:
            _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
