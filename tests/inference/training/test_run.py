"""What the child tells, with a stand-in for the training itself: this environment has no torch."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLAN = {"weights_folder": "/w", "data_folder": "/d", "out_folder": "/o", "max_length": 4096}


def run(tmp_path: Path, training: str, plan: dict[str, Any] | None = None) -> tuple[int, list[Any], str]:
    """Run the child whose `train(plan, tell)` has this body; return its status, its events, its standard error."""
    (tmp_path / "plan.json").write_text(json.dumps(PLAN if plan is None else plan))
    body = "\n".join(f"    {line}" for line in training.splitlines())
    script = f"""
import sys, types
from inference.training import run
from inference.training.errors import TrainingError
def train(plan, tell):
{body}
stand_in = types.ModuleType("inference.training.train")
stand_in.train = train
sys.modules["inference.training.train"] = stand_in
sys.exit(run.main({str(tmp_path / "plan.json")!r}))
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr


def test_events_are_lines_of_json_and_prints_of_libraries_are_none(tmp_path: Path) -> None:
    training = """print("noise of a library")\ntell({"event": "step", "step": 1})\ntell({"event": "done"})"""
    status, events, noise = run(tmp_path, training)
    assert (status, events) == (0, [{"event": "step", "step": 1}, {"event": "done"}])
    assert "noise of a library" in noise


def test_a_refusal_is_told_with_its_code(tmp_path: Path) -> None:
    status, events, _ = run(tmp_path, """raise TrainingError("training_data_unusable", "no page")""")
    assert (status, events) == (1, [{"event": "failed", "code": "training_data_unusable", "message": "no page"}])


def test_any_other_error_is_told_by_kind_and_place_and_never_by_its_words(tmp_path: Path) -> None:
    status, [event], noise = run(tmp_path, """raise ValueError("RM 12.50 to Mr Tan")""")
    assert (status, event["code"]) == (1, "training_failed")
    assert event["message"].startswith("ValueError at ")
    assert "Tan" not in event["message"] + noise


@pytest.mark.parametrize("plan", [{}, {**PLAN, "steps": 0}, {**PLAN, "epochs": 1}])
def test_a_plan_that_is_none_is_refused(tmp_path: Path, plan: dict[str, Any]) -> None:
    status, [event], _ = run(tmp_path, "raise SystemExit(9)", plan)
    assert (status, event["code"]) == (1, "training_plan_invalid")
