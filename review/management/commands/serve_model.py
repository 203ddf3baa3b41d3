"""Command line: manage.py serve_model --engine-version V [--print]: vLLM with exactly what the version says."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.serving.chat import chat_client
from inference.serving.environment import address_of
from inference.serving.health import HealthWatch, is_healthy
from inference.serving.vllm_command import ServerCommand, server_command
from inference.serving.weights import WeightsError, chat_template_sha256, verify_weights
from inference.types import VlmSpec, VlmSpecError
from review.management.lookup import command_line, find_engine_version, refuse_unmigrated
from review.management.model_server import ModelServer
from review.management.ports import refuse_taken_port
from review.management.supervision import Child, Supervisor
from review.models import EngineVersion
from review.selectors.engines import is_proven, vlm_spec_of

STOP_SECONDS = 30.0
DEFAULT_PORT = 8100


class Command(BaseCommand):
    help = "Serve a declared engine version with vLLM: checks its weights, starts it, waits until it can answer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--engine-version", required=True, help="its id, or 8 letters of its digest")
        parser.add_argument("--print", action="store_true", help="print the command and start nothing")
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
        parser.add_argument(
            "--port", type=int, help="port (default: that of the version in STET_VLLM_URLS or STET_VLLM_URL, or 8100)"
        )
        parser.add_argument("--python", help="the Python that has vLLM (default: that of STET_VLLM_VENV, or this one)")
        parser.add_argument(
            "--start-seconds", type=float, default=900.0, help="how long it may take to come up (default: 900)"
        )
        parser.add_argument(
            "--silent-seconds",
            type=float,
            default=60.0,
            help="after how long without an answer it is killed and started again (default: 60)",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        refuse_unmigrated()
        version = find_engine_version(options["engine_version"])
        spec = _servable(version)
        host, port = options["host"], _port(spec) if options["port"] is None else options["port"]
        command = _command(spec, options["python"] or _python(), host, port)
        if options["print"]:
            self.stdout.write(command.shell_line())
            return
        self.stdout.write(f"Checking {len(spec.weights_sha256)} files in {spec.weights_folder} …")
        if spec.adapter_folder:
            self.stdout.write(f"Checking {len(spec.adapter_sha256)} files in {spec.adapter_folder} …")
        self.stdout.flush()
        _check_weights(spec)
        refuse_taken_port(host, port)
        key = settings.STET_VLLM_API_KEY
        # The key goes through the environment: a command line can be read by every user of the machine.
        child = Child("vllm", command.arguments, {**command.environment, **({"VLLM_API_KEY": key} if key else {})})
        with chat_client(_url(host, port), key) as client:
            watch = HealthWatch(
                lambda: is_healthy(client),
                start_seconds=options["start_seconds"],
                silent_seconds=options["silent_seconds"],
            )
            self._run(ModelServer(child, client, watch, spec, lambda seconds: self._ready(version, seconds)))
        self.stdout.write("The server has stopped.")

    def _run(self, server: ModelServer) -> None:
        supervisor = Supervisor([server.child], stop_seconds=STOP_SECONDS, on_tick=server.look)

        def stop(_number: int, _frame: FrameType | None) -> None:
            os.write(2, b"Stopping the server.\n")
            supervisor.stop()

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, stop)
        self.stdout.write("Starting vLLM; what it says follows.")
        self.stdout.flush()
        supervisor.run()

    def _ready(self, version: EngineVersion, seconds: float) -> None:
        self.stdout.write(f"Engine version {version.pk} ({version}) is ready after {seconds:.0f} s. Ctrl-C stops it.")
        if not is_proven(version):
            probe = command_line(f"probe_engine --engine-version {version.pk}")
            self.stdout.write(f"It has not passed its self-test: nothing it reads is stored for sure. Run: {probe}")
        self.stdout.flush()


def _port(spec: VlmSpec) -> int:
    """Return the port under which workers look for the version, where they were told one."""
    url = address_of(spec.digest, urls=settings.STET_VLLM_URLS, url=settings.STET_VLLM_URL)
    return urlsplit(url).port or DEFAULT_PORT


def _url(host: str, port: int) -> str:
    """Return where a server that listens there can be asked from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _servable(version: EngineVersion) -> VlmSpec:
    spec = vlm_spec_of(version)
    if spec is None or spec.kind != "vllm_server":
        raise CommandError(f"Engine version {version.pk} is one of {version.name!r}: only vllm_server is served.")
    return spec


def _python() -> str:
    return str(Path(settings.STET_VLLM_VENV) / "bin" / "python") if settings.STET_VLLM_VENV else sys.executable


def _command(spec: VlmSpec, python: str, host: str, port: int) -> ServerCommand:
    if not 0 < port < 65536:
        raise CommandError("--port must be from 1 to 65535.")
    if not Path(python).is_file():
        raise CommandError(f"There is no Python at {python}. Name the one that has vLLM: --python or STET_VLLM_VENV.")
    try:
        return server_command(spec, python=python, host=host, port=port)
    except VlmSpecError as error:
        raise CommandError(f"This engine version cannot be served. {error}") from None


def _check_weights(spec: VlmSpec) -> None:
    folder = Path(spec.weights_folder)
    try:
        verify_weights(folder, spec.weights_sha256)
        if spec.adapter_folder:
            verify_weights(Path(spec.adapter_folder), spec.adapter_sha256)
    except WeightsError as error:
        raise CommandError(
            f"The weights are not those of this engine version, so nothing was started. {error}. "
            "Restore the files, or add another version for what lies there now."
        ) from None
    if chat_template_sha256(folder) != spec.chat_template_sha256:
        raise CommandError("The chat template is not that of this engine version, so nothing was started.")
