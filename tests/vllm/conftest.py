"""A real vLLM server, installed by `make test-vllm` or named by STET_VLLM_VENV; left out, and said so, without one."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.vllm.served import PATIENCE_SECONDS, ServedHouse

HERE = Path(__file__).parent


def venv() -> Path | None:
    """Where vLLM is installed, None where it is not."""
    named = os.environ.get("STET_VLLM_VENV", "")
    return Path(named).resolve() if named and (Path(named) / "bin" / "python").is_file() else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All on one worker, since they share servers of 2 GB each."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("vllm"))
            item.add_marker(pytest.mark.vllm)
            item.add_marker(pytest.mark.timeout(2 * PATIENCE_SECONDS))
            if venv() is None:
                item.add_marker(pytest.mark.skip(reason="no vLLM here (make test-vllm installs one and runs this)"))


@pytest.fixture(scope="session")
def vllm_venv() -> Path:
    """The virtual environment that has vLLM."""
    found = venv()
    assert found is not None
    return found


@pytest.fixture(scope="session")
def tiny(vllm_venv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights of PaddleOCR-VL's architecture, 2 MB."""
    return make_weights(vllm_venv, tmp_path_factory.mktemp("weights") / "tiny-ocr")


@pytest.fixture(scope="session")
def tiny_with_adapter(vllm_venv: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights of LightOnOCR's architecture with a LoRA adapter in `adapters/ad1`."""
    folder = tmp_path_factory.mktemp("weights") / "tiny-lora"
    return make_weights(vllm_venv, folder, "--arch", "lighton_ocr", "--lora", str(folder / "adapters" / "ad1"))


def make_weights(vllm_venv: Path, folder: Path, *arguments: str) -> Path:
    """Make a model up, from the same seed each time."""
    command = [str(vllm_venv / "bin" / "python"), str(HERE / "make_tiny_vlm.py"), str(folder), *arguments]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="session")
def served(vllm_venv: Path, tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHouse]:
    """The tiny PaddleOCR-VL, served by `serve_model` for the whole run."""
    made = ServedHouse.declare(tmp_path_factory.mktemp("served"), tiny, vllm_venv)
    try:
        made.wait_until_ready(made.serve())
        yield made
    finally:
        made.house.close()
