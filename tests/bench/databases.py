"""Databases that come and go, and which of them is the default one: several stand side by side in one process."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import environ
import psycopg
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection, connections
from psycopg import sql

POSTGRES_URL = "postgres://postgres@127.0.0.1:5432/postgres"


class Database:
    """One migrated database, used through the alias "default" after `use()`."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self._configuration = connections.configure_settings({"default": configuration})["default"]
        connections.settings["default"] = self._configuration
        self._wrapper = connections.create_connection("default")

    @property
    def name(self) -> str:
        return str(self._configuration["NAME"])

    def use(self) -> None:
        """Make every query from now on go here."""
        connections["default"] = self._wrapper

    def close(self) -> None:
        self._wrapper.close()

    def drop(self) -> None:
        """Remove what it takes on the disk."""
        raise AssertionError(f"{self.name} cannot be dropped")

    def copy(self, label: str) -> "Database":
        raise AssertionError(f"{self.name} cannot be copied to {label}")

    def settle(self) -> None:
        """Do what the server does by itself after a while of growth."""


class SqliteDatabase(Database):
    """A file, opened as the product opens its own; `is_durable` false writes it without waiting for the disk."""

    def __init__(self, path: Path, *, is_durable: bool = True) -> None:
        self._path = path
        configuration = settings.DATABASES["default"] | {"NAME": str(path)}
        if not is_durable:
            start = configuration["OPTIONS"]["init_command"] + " PRAGMA synchronous=OFF;"
            configuration["OPTIONS"] = configuration["OPTIONS"] | {"init_command": start}
        super().__init__(configuration)

    def copy(self, label: str) -> "SqliteDatabase":
        """Return a copy as it stands now."""
        with self._wrapper.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.close()
        path = self._path.with_name(f"{label}.sqlite3")
        shutil.copyfile(self._path, path)
        return SqliteDatabase(path)

    def drop(self) -> None:
        self.close()
        self._path.unlink()


class PostgresDatabase(Database):
    """A database of its own on a running server."""

    def __init__(self, url: str, name: str, template: str = "template0") -> None:
        self._url = url
        self._execute("CREATE DATABASE {} TEMPLATE {}", name, template)
        super().__init__(environ.Env.db_url_config(url) | {"NAME": name, "CONN_MAX_AGE": None})

    def _execute(self, statement: str, *names: str) -> None:
        with psycopg.connect(self._url, autocommit=True) as server:
            server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def copy(self, label: str) -> "PostgresDatabase":
        """Return a copy as it stands now."""
        self.close()
        return PostgresDatabase(self._url, f"{self.name}_{label}", self.name)

    def drop(self) -> None:
        self.close()
        self._execute("DROP DATABASE {} WITH (FORCE)", self.name)

    def settle(self) -> None:
        """Autovacuum would come within a minute."""
        self.use()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def postgres_url() -> str | None:
    """Return the address of a server that answers, TEST_POSTGRES_URL or the local one; None where there is none."""
    url = os.environ.get("TEST_POSTGRES_URL", POSTGRES_URL)
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.OperationalError:
        return None
    return url


@contextmanager
def databases(vendor: str) -> Iterator[list[Database]]:
    """Yield a list with one migrated database in it; whatever the caller adds to the list is dropped as well."""
    standing: list[Database] = []
    before = connections["default"]
    try:
        if vendor == "sqlite":
            standing.append(SqliteDatabase(Path(settings.DATA_DIR) / "filling.sqlite3", is_durable=False))
        else:
            standing.append(PostgresDatabase(postgres_url() or POSTGRES_URL, f"stet_bench_{os.getpid()}"))
        standing[0].use()
        ContentType.objects.clear_cache()
        call_command("migrate", verbosity=0)
        yield standing
    finally:
        for database in reversed(standing):
            database.drop()
        connections["default"] = before
