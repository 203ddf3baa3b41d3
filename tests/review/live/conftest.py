"""What the tests of live updates share: rows that are really committed, and events written from another thread."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from channels.db import database_sync_to_async
from django.db import connections
from pytest_django import Settings

from review.live import relay
from review.live.events import DocumentEvent, publish
from review.models import Event, Project, Role, User
from tests import factories

Write = Callable[..., Awaitable[int]]


@pytest.fixture(autouse=True)
def _quick_poll_without_redis(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.REDIS_URL = ""
    monkeypatch.setattr(relay, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(relay, "RETRY_SECONDS", 0.02)


@pytest.fixture
async def database(transactional_db: None) -> AsyncIterator[None]:
    """The thread that serves coroutines keeps its connection, and PostgreSQL drops no database that is in use."""
    yield
    await database_sync_to_async(connections.close_all)()


@pytest.fixture
def project(database: None) -> Project:
    return factories.make_project("receipts")


@pytest.fixture
def viewer(project: Project) -> User:
    return factories.make_member(project, Role.VIEWER, "vik")


@pytest.fixture
def stranger(project: Project) -> User:
    return factories.make_member(factories.make_project("elsewhere"), Role.ADMIN, "sam")


@pytest.fixture
def write() -> Write:
    """Publish one event of a project from the database thread; return its id."""

    def now(project: Project, document_id: int = 1, status: str = "stored") -> int:
        event = DocumentEvent("document.routed", project.pk, document_id, status, "auto", 1, 1)
        publish(event)
        return Event.objects.latest("pk").pk

    written: Write = database_sync_to_async(now)
    return written
