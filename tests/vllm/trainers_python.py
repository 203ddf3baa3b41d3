"""Modules of this folder in the Python that trains, which has what the application has not."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def ran(vllm_venv: Path, scratch: Path, module: str, *arguments: Path, **environment: str) -> Any:
    """What a module of this folder says when the trainers' Python runs it, nothing being fetched meanwhile."""
    own = {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(scratch / "home"),
        "MODELSCOPE_CACHE": str(scratch / "modelscope"),
        "CUDA_VISIBLE_DEVICES": "",
    }
    command = [str(vllm_venv / "bin" / "python"), "-m", f"tests.vllm.{module}", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **own, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
