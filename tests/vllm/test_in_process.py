"""The engines without a server, in vLLM's own environment: they answer as the server does, from the same weights."""

import json
import os
import site
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from inference.serving.declaration import completed
from inference.serving.libraries import RUNNING
from tests.replay.exchanges import recorded
from tests.vllm.served import ON_CPU

ROOT = Path(__file__).resolve().parent.parent.parent
# What vLLM brings itself comes first; what only we need (rapidfuzz, stdnum) comes from our environment.
RUN = """
import runpy, sys
sys.path.append(sys.argv.pop(1))
runpy.run_module("tests.vllm.in_process", run_name="__main__")
"""
TINY_TEXT = "tiny OCR 42"


def in_process(vllm_venv: Path, specification: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("STET_", "DJANGO_"))},
        **ON_CPU["server_environment"],
    }
    command = [str(vllm_venv / "bin" / "python"), "-c", RUN, site.getsitepackages()[0], json.dumps(specification)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def libraries(vllm_venv: Path) -> dict[str, str]:
    """What is installed in vLLM's environment of that which runs a model in a process."""
    code = (
        f"import importlib.metadata, json; print(json.dumps({{n: importlib.metadata.version(n) for n in {RUNNING}}}))"
    )
    said = subprocess.run([str(vllm_venv / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(said.stdout)
    return found


def specification(kind: str, weights: Path, vllm_venv: Path, **more: Any) -> dict[str, Any]:
    own = {"library_versions": libraries(vllm_venv)} if kind == "transformers_local" else {}
    return {**completed(ON_CPU, weights).as_json(), "engine": kind, "kind": kind, **own, **more}


@pytest.fixture(scope="module", params=["vllm_offline", "transformers_local"])
def found(request: pytest.FixtureRequest, vllm_venv: Path, tiny: Path) -> tuple[str, dict[str, Any]]:
    ran = in_process(vllm_venv, specification(request.param, tiny, vllm_venv))
    assert ran.returncode == 0, ran.stderr[-3000:]
    return request.param, json.loads(ran.stdout.splitlines()[-1])


def test_constrained_answer_is_the_servers(found: tuple[str, dict[str, Any]]) -> None:
    [exchange] = recorded("plain_page")
    assert found[1]["plain_page"]["text"] == exchange.response["choices"][0]["message"]["content"]
    assert found[1]["plain_page"]["finish_reason"] == "stop"


def test_probabilities_are_the_servers_up_to_rounding(found: tuple[str, dict[str, Any]]) -> None:
    [exchange] = recorded("plain_page")
    served = [entry["logprob"] for entry in exchange.response["choices"][0]["logprobs"]["content"]]
    own = [logprob for _, logprob in found[1]["plain_page"]["tokens"]]
    assert own[: len(served) - 1] == pytest.approx(served[:-1], abs=0.02)


def test_values_have_evidence(found: tuple[str, dict[str, Any]]) -> None:
    numbers = found[1]["plain_page"]["evidence"]["/total"]
    assert 0 < numbers["token_min"] <= numbers["token_mean"] <= 1


def test_tokens_inside_characters_have_their_bytes(found: tuple[str, dict[str, Any]]) -> None:
    answer = found[1]["chinese"]
    written = "".join(data for data, _ in answer["tokens"]).encode("latin-1")
    assert written.removesuffix(b"</s>").decode() == answer["text"]
    assert "合计" in answer["text"]
    assert all(data for data, _ in answer["tokens"])


def test_free_text_is_no_answer_and_is_kept(found: tuple[str, dict[str, Any]]) -> None:
    assert found[1]["free"] == {"code": "answer_unreadable", "attempts": [[TINY_TEXT, "stop"]] * 2}


def test_limit_on_the_answer_is_seen(found: tuple[str, dict[str, Any]]) -> None:
    (_, first), _ = found[1]["cut_short"]["attempts"]
    assert first == "length"


def test_page_that_is_refused_takes_no_other_with_it(found: tuple[str, dict[str, Any]]) -> None:
    kind, outcomes = found
    first, too_long, last = (outcomes["batch"][number] for number in ("0", "1", "2"))
    assert first["values"]["total"] == last["values"]["total"] == TINY_TEXT
    if kind == "vllm_offline":
        # transformers has no bound of its own on the context.
        assert too_long == {"code": "engine_failed", "attempts": []}


def test_weights_that_are_not_the_versions_are_refused_in_one_line(vllm_venv: Path, tiny: Path) -> None:
    other = {"weights_sha256": {"model.safetensors": "0" * 64}}
    ran = in_process(vllm_venv, specification("transformers_local", tiny, vllm_venv, **other))
    assert ran.returncode != 0
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("inference.errors.EngineUnavailableError: ")
    assert "is not part of this version" in last


def test_libraries_that_are_not_the_versions_are_refused_in_one_line(vllm_venv: Path, tiny: Path) -> None:
    other = {"library_versions": {**libraries(vllm_venv), "transformers": "4.0.0"}}
    ran = in_process(vllm_venv, specification("transformers_local", tiny, vllm_venv, **other))
    assert ran.returncode != 0
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("inference.errors.EngineUnavailableError: transformers ")
    assert "is installed, 4.0.0 was declared" in last


def test_code_that_weights_bring_along_is_not_run_unless_trusted(vllm_venv: Path, tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "with-code"
    folder.mkdir()
    for file in tiny.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "unheard_of",
        "auto_map": {"AutoConfig": "evil.Config", "AutoModelForImageTextToText": "evil.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    ran_mark = tmp_path / "it-ran"
    (folder / "evil.py").write_text(f"open({str(ran_mark)!r}, 'w').close()\n")
    ran = in_process(vllm_venv, specification("transformers_local", folder, vllm_venv))
    assert "is_remote_code_trusted" in ran.stderr.strip().splitlines()[-1]
    assert not ran_mark.exists()
    in_process(vllm_venv, specification("transformers_local", folder, vllm_venv, is_remote_code_trusted=True))
    assert ran_mark.exists(), "the check above would pass for a folder whose code nothing can run"
