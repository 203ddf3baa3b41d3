"""LoRA on a real server: one architecture serves an adapter, the other ends at the start and says why."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.vllm.served import ServedHouse, found

LORA = {
    "enable-lora": True,
    "max-loras": 1,
    "max-lora-rank": 8,
    "lora-modules": {"ad1": "adapters/ad1"},
}
STOP_SECONDS = 60.0


@pytest.fixture(scope="module")
def adapted(
    vllm_venv: Path, tiny_with_adapter: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ServedHouse, "subprocess.Popen[str]"]]:
    """A version that reads with an adapter, on a server whose flags leave white space to the request."""
    flags = LORA | {"structured-outputs-config": {"backend": "auto"}}
    made = ServedHouse.declare(
        tmp_path_factory.mktemp("adapted"), tiny_with_adapter, vllm_venv, flags=flags, adapter="ad1"
    )
    process = made.serve()
    try:
        made.wait_until_ready(process)
        yield made, process
    finally:
        made.house.close()


@pytest.fixture(scope="module")
def report(adapted: tuple[ServedHouse, "subprocess.Popen[str]"]) -> dict[str, Any]:
    """What its self-test found."""
    return adapted[0].probe()


def test_an_adapter_is_served_and_answers_otherwise_than_the_bare_weights(report: dict[str, Any]) -> None:
    adapter = found(report, "adapter")
    tied_name = found(report, "served_as_declared")["tied_name"]
    assert (adapter["is_enabled"], adapter["adapters"], adapter["is_passed"]) == (True, [tied_name], True)
    assert adapter["shift"] > 0


def test_a_server_that_lets_white_space_loop_is_found(report: dict[str, Any]) -> None:
    white_space = found(report, "no_white_space_loop")
    # What the request says about white space is taken, and has no effect in 0.32: the server's flag alone counts.
    assert white_space["finish_reason"] == "length"
    assert (white_space["is_passed"], white_space["is_held_by_flag"]) == (False, False)
    assert report["is_passed"] is False


def test_a_stop_is_clean(adapted: tuple[ServedHouse, "subprocess.Popen[str]"]) -> None:
    served, process = adapted
    pid = served.server_pid()
    process.send_signal(signal.SIGTERM)
    assert process.wait(STOP_SECONDS) == 0
    assert "The server has stopped." in served.house.logs()
    assert not served.is_answering()
    until = time.monotonic() + STOP_SECONDS
    while served.house.alive() and time.monotonic() < until:
        time.sleep(0.1)
    assert served.house.alive() == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_architecture_without_adapters_ends_at_the_start_and_says_so(
    vllm_venv: Path, tiny: Path, tmp_path: Path
) -> None:
    other = ServedHouse.declare(tmp_path / "house", tiny, vllm_venv, flags={"enable-lora": True})
    refused = other.house.run("serve_model", "--engine-version", str(other.version_id))
    assert refused.returncode == 1
    assert "ended with exit code" in refused.stderr
    assert "does not support LoRA" in refused.stdout + refused.stderr
    assert other.house.alive() == []
