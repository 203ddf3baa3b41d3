"""What one call costs: statements, CPU time on both sides of the database, time on the wall."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import connection


@dataclass(frozen=True, slots=True)
class Cost:
    """`cpu_ms` is of this process and, where the system tells, of the database server's process for it."""

    n_queries: int
    cpu_ms: float
    wall_ms: float


def measure(call: Callable[[], object]) -> Cost:
    """Call and count."""
    connection.ensure_connection()
    n_queries = 0

    def count(execute: Callable[..., Any], *args: Any) -> Any:
        nonlocal n_queries
        n_queries += 1
        return execute(*args)

    server = _server_process()
    with connection.execute_wrapper(count):
        started, cpu_started, server_started = time.perf_counter(), time.process_time(), _cpu_seconds(server)
        call()
        cpu = time.process_time() - cpu_started + _cpu_seconds(server) - server_started
        wall = time.perf_counter() - started
    return Cost(n_queries, cpu * 1000, wall * 1000)


def _server_process() -> Path | None:
    """Return where Linux tells about the server's process for this connection, if it runs on this machine."""
    if connection.vendor != "postgresql":
        return None
    path = Path(f"/proc/{connection.connection.info.backend_pid}")
    try:
        return path / "schedstat" if b"postgres" in (path / "cmdline").read_bytes() else None
    except OSError:
        return None


def _cpu_seconds(schedstat: Path | None) -> float:
    return int(schedstat.read_text().split()[0]) / 1e9 if schedstat is not None else 0.0


@dataclass(slots=True)
class Work:
    """What SQLite did: rows it gave out, and instructions of its virtual machine, which count the rows it read."""

    n_rows: int = 0
    n_instructions: int = 0
    cpu_ms: float = field(default=0.0)


@contextmanager
def sqlite_work() -> Iterator[Work]:
    """Count what SQLite does for the default connection while the block runs."""
    connection.ensure_connection()
    database: sqlite3.Connection = connection.connection
    work = Work()

    def one_row(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
        work.n_rows += 1
        return row

    def one_instruction() -> None:
        work.n_instructions += 1

    database.row_factory = one_row
    database.set_progress_handler(one_instruction, 1)
    try:
        yield work
    finally:
        database.set_progress_handler(None, 0)
        database.row_factory = None


def family_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds spent so far by a process and all that descend from it, as Linux tells."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name may hold anything, but ends with the last bracket.
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        own = int(status.parent.name)
        parents[own] = int(fields[1])
        # Of its own, and of its children that are gone.
        seconds[own] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    family = {pid}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(seconds.get(member, 0.0) for member in family)
