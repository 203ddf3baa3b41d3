"""`serve_model` with the real vLLM: what starts it, what it refuses, and what happens to documents when it dies."""

import os
import shlex
import shutil
import signal
from pathlib import Path

from tests.review.conftest import picture
from tests.vllm.served import ON_CPU, ServedHouse


def test_the_running_server_was_started_by_the_command_that_is_printed(served: ServedHouse) -> None:
    printed = served.house.run("serve_model", "--engine-version", str(served.version_id), "--print")
    words = shlex.split(printed.stdout)
    arguments = Path(f"/proc/{served.server_pid()}/cmdline").read_text().rstrip("\0").split("\0")
    n_assignments = words.index(arguments[0])
    assert words[n_assignments:] == arguments
    environment = Path(f"/proc/{served.server_pid()}/environ").read_text().split("\0")
    assert set(words[:n_assignments]) <= set(environment)
    assert {f"{name}={value}" for name, value in ON_CPU["server_environment"].items()} <= set(environment)


def test_a_document_is_read_by_the_served_model(served: ServedHouse) -> None:
    use(served)
    served.house.start("work")
    served.house.send(one=picture("one"))
    served.house.wait_until_finished(1)
    assert readings(served) == 1
    assert served.house.rows("SELECT finish_reason, error_code FROM review_rawanswer") == [("stop", "")]


def test_while_the_server_is_dead_documents_wait_and_are_read_when_it_is_back(served: ServedHouse) -> None:
    before = readings(served)
    killed = served.server_pid()
    os.kill(killed, signal.SIGKILL)
    served.house.send(two=picture("two"))
    served.house.wait_for(
        lambda: served.house.rows(
            "SELECT 1 FROM review_workerheartbeat WHERE model_errors LIKE '%engine_unavailable%' AND engine_error = ''"
        ),
        "the worker says that the language model is away",
    )
    assert served.house.statuses()["two"] in {"received", "processing"}
    assert readings(served) == before
    served.wait_until_answering()
    assert served.server_pid() != killed
    served.house.wait_until_finished(2)
    assert readings(served) == before + 1
    # Waiting is no attempt: a server that is away for hours uses none up.
    assert served.house.rows("SELECT DISTINCT n_attempts FROM review_pageread") == [(1,)]


def test_weights_with_another_checksum_refuse_to_start(tiny: Path, vllm_venv: Path, tmp_path: Path) -> None:
    weights = tmp_path / "copied"
    shutil.copytree(tiny, weights)
    other = ServedHouse.declare(tmp_path / "house", weights, vllm_venv)
    with (weights / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    refused = other.house.run("serve_model", "--engine-version", str(other.version_id))
    assert refused.returncode == 1
    assert "model.safetensors has another checksum" in refused.stderr
    assert not other.is_answering()


def use(served: ServedHouse) -> None:
    """Have the project read by the served version."""
    used = served.house.run("use_engine", "--project", "p", "--engine-version", str(served.version_id))
    assert used.returncode == 0, used.stderr


def readings(served: ServedHouse) -> int:
    """How many pages the served version has read."""
    query = "SELECT count(*) FROM review_reading WHERE engine_version_id = ?"
    return int(served.house.rows(query, served.version_id)[0][0])
