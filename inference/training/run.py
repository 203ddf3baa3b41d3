"""Run by the Python that has the extra `train`: `python -m inference.training.run PLAN.json`.

Tells what happens as lines of JSON on standard output, the last of them {"event": "done"} or {"event": "failed"};
whatever libraries print goes to standard error. Text of documents is in neither.
"""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inference.training.errors import TrainingError
from inference.training.plan import TrainingPlan


def main(plan_file: str) -> int:
    """Train as the file says; return the exit status."""
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: Mapping[str, Any]) -> None:
        told.write(f"{json.dumps(event)}\n")
        told.flush()

    try:
        plan = TrainingPlan.from_json(json.loads(Path(plan_file).read_text(encoding="utf-8")))
        _module().train(plan, tell)
    except TrainingError as failure:
        tell({"event": "failed", "code": failure.code, "message": str(failure)})
        return 1
    except Exception as failure:
        tell({"event": "failed", "code": "training_failed", "message": _place_of(failure)})
        return 1
    return 0


def _module() -> Any:  # noqa: ANN401
    try:
        return importlib.import_module("inference.training.train")
    except ImportError as missing:
        message = f"{missing.name} is missing in {sys.executable}: pip install '.[train]' in Stet's folder"
        raise TrainingError("training_extra_missing", message) from missing


def _place_of(failure: Exception) -> str:
    """Return what kind of error it was and where it came up, without its message."""
    frames = traceback.extract_tb(failure.__traceback__)[-3:]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(failure).__name__} at {places}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
