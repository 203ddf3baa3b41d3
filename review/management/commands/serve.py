"""`manage.py serve`: the web application and the workers under one command."""

import os
import signal
import socket
import sys
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from review.management.lookup import refuse_unmigrated
from review.management.ports import refuse_taken_port
from review.management.supervision import Child, Supervisor

STOP_SECONDS = 40.0
WEB_STOP_SECONDS = 5


class Command(BaseCommand):
    help = "Serve the web application and read documents. Stops cleanly on SIGTERM and Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
        parser.add_argument(
            "--workers",
            type=int,
            default=settings.N_WORKERS,
            help="processes that read (default: STET_WORKERS, or 2); 0 where other hosts do the reading",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        self._host, self._port = options["host"], options["port"]
        if options["workers"] < 0:
            raise CommandError("--workers must be 0 or more.")
        if not 0 < self._port < 65536:
            raise CommandError("--port must be from 1 to 65535.")
        refuse_unmigrated()
        refuse_taken_port(self._host, self._port)
        self._is_announced = False
        children = [self._web()] + ([self._work(options["workers"])] if options["workers"] else [])
        supervisor = Supervisor(children, stop_seconds=STOP_SECONDS, on_tick=self._announce)

        def stop(_number: int, _frame: FrameType | None) -> None:
            # Not through self.stdout: a signal may come while it is being written to.
            os.write(2, b"Stopping: pages that are being read are finished first.\n")
            supervisor.stop()

        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, stop)
        supervisor.run()
        self.stdout.write("Stet has stopped.")

    def _web(self) -> Child:
        arguments = ["--host", self._host, "--port", str(self._port), "--lifespan", "off", "--log-level", "warning"]
        arguments += ["--no-server-header", "--timeout-graceful-shutdown", str(WEB_STOP_SECONDS)]
        if not settings.BEHIND_TLS:
            arguments.append("--no-proxy-headers")
        application = ["ocrsite.asgi:application", "--app-dir", str(settings.BASE_DIR)]
        return Child("web", [sys.executable, "-m", "uvicorn", *application, *arguments])

    def _work(self, n_workers: int) -> Child:
        return Child(
            "work", [sys.executable, str(settings.BASE_DIR / "manage.py"), "work"], {"STET_WORKERS": str(n_workers)}
        )

    def _announce(self) -> None:
        """Print the address once, when somebody answers there."""
        if self._is_announced:
            return
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 - compared, not bound
        try:
            socket.create_connection((host, self._port), timeout=0.2).close()
        except OSError:
            return
        self._is_announced = True
        shown = f"[{host}]" if ":" in host else host
        self.stdout.write(f"Stet is ready: http://{shown}:{self._port}/   (Ctrl-C stops it)")
        self.stdout.flush()
