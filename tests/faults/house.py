"""The whole product in processes of its own, in a folder of its own: to be killed, filled and looked into."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.review.scripted import WORDS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 90.0


@dataclass
class House:
    """One installation on SQLite with the scripted engine. Looks into the database without Django."""

    folder: Path
    token: str = ""
    patience_seconds: float = PATIENCE_SECONDS
    settings: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        """What its processes are told; one thread each, so that `work` need not begin anew."""
        kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        own = {
            "STET_DATA_DIR": str(self.folder),
            "STET_ENGINE": "scripted",
            "STET_SCRIPTED_ANSWERS": str(self.folder / "answers.json"),
            "STET_WORKERS": "1",
            # A machine that tests on all cores would never come to what stands back.
            "STET_BULK_NICENESS": "0",
            "STET_HEARTBEAT_SECONDS": "1",
        }
        return kept | one_thread | own | self.settings

    def lay_out(self) -> None:
        """Make the database, with what every test needs in it."""
        self.script()
        made = subprocess.run(
            [sys.executable, "-m", "tests.faults.prepare_house"],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        self.token = made.stdout.split()[-1]

    def script(self, default: dict[str, Any] | None = None, pages: dict[str, Any] | None = None) -> None:
        """Say what the engine reads."""
        answers = {"default": default or {"words": WORDS}, "pages": pages or {}}
        (self.folder / "answers.json").write_text(json.dumps(answers))

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start `manage.py command` and leave it running."""
        log = (self.folder / f"{command[0]}{len(self.started)}.log").open("w")
        with log:
            process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), *command],
                env=self.environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def run(self, *command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `manage.py command` to its end."""
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *command],
            env=self.environment(),
            capture_output=True,
            check=False,
            text=True,
            timeout=self.patience_seconds,
            **options,
        )

    def send(self, **pictures: bytes) -> None:
        """Take files in, by name."""
        inbox = self.folder / "inbox"
        shutil.rmtree(inbox, ignore_errors=True)
        inbox.mkdir()
        for name, data in pictures.items():
            (inbox / name).write_bytes(data)
        sent = self.run("ingest", str(inbox), "--project", "p", "--type", "receipt", "--settle-seconds", "0")
        assert sent.returncode == 0, sent.stderr

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the database."""
        with closing(sqlite3.connect(self.folder / "stet.sqlite3", timeout=30)) as connection:
            return connection.execute(query, values).fetchall()

    def deliver_again(self, times: int) -> None:
        """Put every queued task into the queue so many times more."""
        with closing(sqlite3.connect(self.folder / "stet.sqlite3", timeout=30)) as connection, connection:
            for _ in range(times):
                connection.execute(
                    'INSERT INTO django_q_ormq ("key", payload, "lock") SELECT "key", payload, "lock"'
                    " FROM (SELECT DISTINCT * FROM django_q_ormq LIMIT 2)"
                )

    def count(self, table: str) -> int:
        """The number of rows of one of our tables."""
        return int(self.rows(f"SELECT count(*) FROM review_{table}")[0][0])

    def statuses(self) -> dict[str, str]:
        """Status by file name."""
        return dict(self.rows("SELECT filename, status FROM review_document"))

    def logs(self) -> str:
        """Everything that was said."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def wait_for(self, what: Callable[[], Any], because: str) -> Any:
        """Wait until `what` is true, and return it."""
        until = time.monotonic() + self.patience_seconds
        while time.monotonic() < until:
            if answer := what():
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{because}: it never came to that\n{self.statuses()}\n{self.logs()}")

    def wait_until_finished(self, n: int) -> None:
        """Wait until there are `n` documents and none of them is on its way."""
        self.wait_for(
            lambda: len(found := self.statuses()) == n and not set(found.values()) & {"received", "processing"},
            f"{n} documents should be finished",
        )

    def claimed_by(self) -> int:
        """Wait until a page is being read, and return the process that reads it."""
        tokens = self.wait_for(
            lambda: self.rows("SELECT claim_token FROM review_pageread WHERE state = 'claimed'"), "a page is claimed"
        )
        return int(tokens[0][0][8:16], 16)

    def alive(self) -> list[int]:
        """The processes that belong to this house, by their environment."""
        mark = f"STET_DATA_DIR={self.folder}".encode()
        numbered = (entry for entry in Path("/proc").iterdir() if entry.name.isdecimal())
        return [int(entry.name) for entry in numbered if mark in _environment_of(entry).split(b"\0")]

    def close(self) -> None:
        """End whatever still runs."""
        for process in self.started:
            process.poll()
        for pid in self.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for process in self.started:
            process.wait()


def _environment_of(entry: Path) -> bytes:
    try:
        return (entry / "environ").read_bytes()
    except OSError:
        return b""


def children_of(pid: int) -> Sequence[int]:
    """The processes that a process started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
