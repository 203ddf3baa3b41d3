"""The whole command beside a stand-in for vLLM; tests/vllm has it with the real one."""

import io
import json
import os
import shlex
import signal
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from inference.serving.declaration import completed
from inference.types import VlmSpec
from review.actions.engines import declare_engine_version, record_self_test
from review.models import EngineVersion
from review.selectors.access import SYSTEM
from tests import factories

pytestmark = pytest.mark.django_db

STAND_IN = """
import http.server, json, os, sys

if "--no-enable-prefix-caching" not in sys.argv:
    raise SystemExit(3)

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        first = sys.argv.index("--served-model-name") + 1
        names = sys.argv[first : sys.argv.index("--host")]
        key = os.environ.get("VLLM_API_KEY", "no key")
        models = {"data": [{"id": name, "max_model_len": 8192, "owned_by": key} for name in names]}
        body = {"/version": {"version": "0.32.0"}, "/v1/models": models}.get(self.path, {})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *args):
        pass

port = int(sys.argv[sys.argv.index("--port") + 1])
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny-ocr"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"numbers")
    (folder / "chat_template.jinja").write_text("User:")
    return folder


@pytest.fixture
def stand_in(tmp_path: Path) -> dict[str, str]:
    """An environment in which `vllm` is a stand-in."""
    module = tmp_path / "stand_in" / "vllm" / "entrypoints" / "openai" / "api_server.py"
    module.parent.mkdir(parents=True)
    module.write_text(STAND_IN)
    return {"PYTHONPATH": str(tmp_path / "stand_in")}


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True)
def _own_signals() -> Iterator[None]:
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def declared(weights: Path, **given: Any) -> EngineVersion:
    return declare_engine_version(actor=SYSTEM, spec=completed({"vllm_version": "0.32.0", **given}, weights))


def serve(version: EngineVersion, *arguments: str) -> str:
    out = io.StringIO()
    call_command("serve_model", "--engine-version", str(version.pk), *arguments, stdout=out)
    return out.getvalue()


def answer(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
        return json.loads(response.read() or b"null")


def is_answering(port: int) -> bool:
    try:
        answer(port, "/health")
    except OSError:
        return False
    return True


def stop_when_it_answers(port: int, seen: list[Any]) -> threading.Thread:
    """Ask the server what it serves, then send ourselves the signal that ends it."""

    def wait() -> None:
        until = time.monotonic() + 60
        while not is_answering(port) and time.monotonic() < until:
            time.sleep(0.05)
        seen.extend(model["owned_by"] for model in answer(port, "/v1/models")["data"])
        # It is told as ready a moment after it can answer.
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_the_command_is_printed_as_it_would_be_started(weights: Path) -> None:
    words = shlex.split(serve(declared(weights), "--print", "--port", "8199"))
    assert words[words.index("-m") - 1] == sys.executable
    assert words[words.index("--model") + 1] == str(weights)
    assert words[words.index("--port") + 1] == "8199"
    assert "HF_HUB_OFFLINE=1" in words


def test_the_version_is_served_under_its_tied_name_on_the_port_of_its_address(
    weights: Path, settings: Settings
) -> None:
    version = declared(weights)
    settings.STET_VLLM_URL = "http://gpu-1:8001"
    settings.STET_VLLM_URLS = f"{version.digest[:8]}=http://gpu-1:8002, {'0' * 8}=http://gpu-1:8003"
    words = shlex.split(serve(version, "--print"))
    assert words[words.index("--port") + 1] == "8002"
    assert words[words.index("--served-model-name") + 2] == f"stet-{version.digest[:16]}"
    settings.STET_VLLM_URLS = ""
    words = shlex.split(serve(version, "--print"))
    assert words[words.index("--port") + 1] == "8001"
    settings.STET_VLLM_URL = ""
    assert "--port 8100" in serve(version, "--print")


def test_the_python_is_that_of_the_setting_unless_another_is_named(
    weights: Path, tmp_path: Path, settings: Settings
) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    settings.STET_VLLM_VENV = str(tmp_path / "venv")
    version = declared(weights)
    assert str(python) in serve(version, "--print")
    assert str(python) not in serve(version, "--print", "--python", sys.executable)


def test_a_served_version_is_told_ready_and_stops_cleanly(
    weights: Path, stand_in: dict[str, str], port: int, settings: Settings
) -> None:
    settings.STET_VLLM_API_KEY = "secret key"
    version = declared(weights, server_environment=stand_in)
    seen: list[Any] = []
    thread = stop_when_it_answers(port, seen)
    said = serve(version, "--port", str(port))
    thread.join()
    assert f"Engine version {version.pk} ({version}) is ready" in said
    assert "has not passed its self-test" in said
    assert said.rstrip().endswith("The server has stopped.")
    assert seen == ["secret key", "secret key"]
    assert "secret key" not in said
    assert not is_answering(port)


def test_a_proven_version_is_not_asked_to_prove_itself(weights: Path, stand_in: dict[str, str], port: int) -> None:
    version = declared(weights, server_environment=stand_in)
    record_self_test(actor=SYSTEM, engine_version=version, report={}, is_passed=True)
    thread = stop_when_it_answers(port, [])
    assert "self-test" not in serve(version, "--port", str(port))
    thread.join()


def test_a_server_that_refuses_its_flags_ends_the_command(weights: Path, stand_in: dict[str, str], port: int) -> None:
    flags = {"enable-prefix-caching": True}
    with pytest.raises(CommandError, match="exit code 3"):
        serve(declared(weights, server_environment=stand_in, server_flags=flags), "--port", str(port))


@pytest.mark.parametrize(("file", "said"), [("model.safetensors", "has another checksum"), ("new.py", "not part of")])
def test_weights_that_differ_are_refused_before_anything_is_started(
    weights: Path, stand_in: dict[str, str], port: int, file: str, said: str
) -> None:
    version = declared(weights, server_environment=stand_in)
    (weights / file).write_bytes(b"numberz")
    with pytest.raises(CommandError, match=f"nothing was started.*{file} .*{said}"):
        serve(version, "--port", str(port))
    assert not is_answering(port)


def test_a_chat_template_that_was_declared_otherwise_is_refused(weights: Path, port: int) -> None:
    data = completed({"vllm_version": "0.32.0"}, weights).as_json() | {"chat_template_sha256": "0" * 64}
    version = declare_engine_version(actor=SYSTEM, spec=VlmSpec.from_json(data))
    with pytest.raises(CommandError, match="chat template"):
        serve(version, "--port", str(port))


def test_a_port_where_somebody_listens_is_refused(weights: Path, port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(CommandError, match=f"port {port}"):
            serve(declared(weights), "--port", str(port))


@pytest.mark.parametrize("arguments", [("--port", "0"), ("--python", "/nowhere/python")])
def test_what_cannot_be_started_is_refused(weights: Path, arguments: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match=arguments[0]):
        serve(declared(weights), *arguments)


def test_only_a_version_for_a_server_is_served(weights: Path) -> None:
    for version in (declared(weights, kind="vllm_offline"), factories.make_engine_version("rapidocr")):
        with pytest.raises(CommandError, match="only vllm_server"):
            serve(version)
