"""A web process and a process that works, SQLite between them, no Redis: what one writes, pages of the other hear."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

ROOT = Path(__file__).resolve().parents[3]

SETUP = """
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from tests import factories
from review.models import Role
project = factories.make_project("receipts")
for user in (factories.make_member(project, Role.VIEWER, "vik"), factories.make_user("sam")):
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    print(user.username, client.session.session_key)
"""
WRITE = """
import sys
from django.db import transaction
from review.live.events import DocumentEvent, publish
from review.models import Project
project = Project.objects.get(slug="receipts")
for number in range({first}, {first} + {n}):
    with transaction.atomic():
        publish(DocumentEvent("document.routed", project.pk, number, "stored", "auto", 1, 1))
"""

Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run Python with Django set up, in a process of its own, over a database file of this test."""

    def in_a_process(script: str) -> str:
        command = [sys.executable, "-c", f"import django; django.setup()\n{script}"]
        done = subprocess.run(
            command, env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return in_a_process


def environment(data_dir: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "ocrsite.settings",
        "STET_DATA_DIR": str(data_dir),
        "STET_LOG_LEVEL": "ERROR",
    }


@pytest.fixture
def address(tmp_path: Path, run: Run) -> Iterator[str]:
    """A web process over an empty, migrated database."""
    run("from django.core.management import call_command; call_command('migrate', verbosity=0)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "ocrsite.asgi:application", "--port", str(port), "--log-level", "error"]
    server = subprocess.Popen(command, env=environment(tmp_path), cwd=ROOT)
    try:
        wait_for_port(port)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for_port(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server did not start")


def listen(address: str, session: str, after: int) -> ClientConnection:
    return connect(
        f"ws://{address}/ws/projects/receipts/events/?after={after}",
        additional_headers={"Cookie": f"sessionid={session}"},
        origin=Origin(f"http://{address}"),
    )


def hear(connection: ClientConnection, n: int) -> list[int]:
    return [json.loads(connection.recv(timeout=30))["payload"]["document_id"] for _ in range(n)]


def test_pages_hear_what_another_process_writes_and_a_reconnect_misses_nothing(address: str, run: Run) -> None:
    sessions = dict(line.split() for line in run(SETUP).splitlines())

    with listen(address, sessions["vik"], after=0) as connection:
        run(WRITE.format(first=1, n=3))
        assert hear(connection, 3) == [1, 2, 3]

    run(WRITE.format(first=4, n=40))
    with listen(address, sessions["vik"], after=3) as connection:
        run(WRITE.format(first=44, n=2))
        assert hear(connection, 42) == list(range(4, 46))

    with pytest.raises(InvalidStatus) as refusal:
        listen(address, sessions["sam"], after=0)
    assert refusal.value.response.status_code == 403
