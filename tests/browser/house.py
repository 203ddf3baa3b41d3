"""A served house that browsers visit: web server, worker and socket in processes of their own."""

import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tests.faults.house import ROOT, House, children_of, free_port


@dataclass
class Seeded:
    """A project made for one test: who may come in with which session, and what waits."""

    slug: str
    people: dict[str, str]
    tasks: list[int]
    documents: list[int]


@dataclass
class ServedHouse(House):
    """One installation under `serve`. Each test gets a project of its own in it."""

    port: int = field(default_factory=free_port)
    n_projects: int = 0
    serve: subprocess.Popen[str] | None = None
    seeder: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        """Set everything up and wait for the first answer."""
        for command in (["migrate", "--verbosity", "0"], ["collectstatic", "--noinput", "--verbosity", "0"]):
            made = self.run(*command)
            assert made.returncode == 0, made.stderr
        self.serve = self.start("serve", "--port", str(self.port), "--workers", "1")
        self.wait_until_it_answers()

    def wait_until_it_answers(self) -> None:
        """Wait for the web server."""
        self.wait_for(self.answers, "the web server answers")

    def answers(self) -> bool:
        """Whether somebody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def project(self, kind: str, n: int = 1) -> Seeded:
        """Make a fresh project with people and `n` tasks of a kind (`tests.browser.seed.KINDS`)."""
        self.n_projects += 1
        slug = f"{kind}{self.n_projects}"
        if self.seeder is None:
            with (self.folder / "seeder.log").open("w") as log:
                self.seeder = subprocess.Popen(
                    [sys.executable, "-m", "tests.browser.seed"],
                    cwd=ROOT,
                    env=self.environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
        assert self.seeder.stdin is not None
        assert self.seeder.stdout is not None
        self.seeder.stdin.write(json.dumps({"kind": kind, "slug": slug, "n": n}) + "\n")
        self.seeder.stdin.flush()
        answer = self.seeder.stdout.readline()
        assert answer, (self.folder / "seeder.log").read_text()
        return Seeded(slug, **json.loads(answer))

    def close(self) -> None:
        """End whatever still runs."""
        if self.seeder is not None:
            self.seeder.communicate()
        super().close()

    def kill_web(self) -> None:
        """Kill the web server, and let nobody start it again until `revive_web`."""
        assert self.serve is not None
        os.kill(self.serve.pid, signal.SIGSTOP)
        for pid in children_of(self.serve.pid):
            if b"uvicorn" in _command_line(pid):
                os.kill(pid, signal.SIGKILL)

    def revive_web(self) -> None:
        """Let the supervisor see that its web server is gone."""
        assert self.serve is not None
        os.kill(self.serve.pid, signal.SIGCONT)
        self.wait_until_it_answers()

    def change(self, statement: str, *values: Any) -> None:
        """Change the database behind everybody's back."""
        with closing(sqlite3.connect(self.folder / "stet.sqlite3", timeout=30)) as connection, connection:
            connection.execute(statement, values)

    def edits(self, task: int) -> list[tuple[Any, ...]]:
        """What was saved in a task: (field path, version, verdict, value), oldest first."""
        query = "SELECT field_path, version, verdict, value FROM review_fieldedit WHERE task_id = ? ORDER BY id"
        return [(*row[:3], json.loads(row[3]) if row[3] else None) for row in self.rows(query, task)]

    def verdicts(self, task: int) -> dict[str, tuple[str, Any]]:
        """What was submitted: verdict and value by field path."""
        query = "SELECT field_path, verdict, value FROM review_fieldreview WHERE task_id = ?"
        return {
            path: (verdict, json.loads(value) if value else None) for path, verdict, value in self.rows(query, task)
        }

    def state(self, task: int) -> str:
        """A task's state."""
        return str(self.rows("SELECT state FROM review_reviewtask WHERE id = ?", task)[0][0])


def _command_line(pid: int) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 - a file of the kernel
        return file.read()
