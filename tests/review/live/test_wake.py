"""Redis only shortens the wait: without it nothing is sent, and its absence holds up nobody."""

import asyncio
import os
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from review.live import relay as relay_module
from review.live import wake
from review.live.events import DocumentEvent, publish
from review.live.relay import Relay
from review.models import Event, Project
from tests import factories

NOWHERE = "redis://127.0.0.1:1/0"


def event(project: Project) -> DocumentEvent:
    return DocumentEvent("document.routed", project.pk, 1, "stored", "auto", 1, 1)


def test_without_redis_nothing_waits_for_the_commit(
    db: None, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.REDIS_URL = ""
    with django_capture_on_commit_callbacks() as callbacks:
        publish(event(factories.make_project()))
    assert callbacks == []


def test_with_redis_relays_are_woken_after_the_commit(
    db: None,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    sent: list[tuple[str, bytes]] = []

    class Client:
        def publish(self, channel: str, message: bytes) -> None:
            sent.append((channel, message))

    settings.REDIS_URL = "redis://example/0"
    monkeypatch.setattr(wake, "_client", lambda url: Client())
    with django_capture_on_commit_callbacks(execute=True):
        publish(event(factories.make_project()))
        assert sent == []
    assert sent == [(wake.WAKE_CHANNEL, b"")]


def test_a_redis_that_is_away_does_not_fail_what_was_committed(
    db: None, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.REDIS_URL = NOWHERE
    with django_capture_on_commit_callbacks(execute=True):
        publish(event(factories.make_project()))
    assert Event.objects.count() == 1


async def test_relay_works_by_its_clock_while_redis_is_away(project: Project, settings: Settings, write: Any) -> None:
    settings.REDIS_URL = NOWHERE
    async with Relay().subscribe(project.pk) as subscription:
        number = await write(project)
        assert (await asyncio.wait_for(subscription.queue.get(), 10)).id == number


@pytest.mark.redis
async def test_a_wake_is_heard_long_before_the_clock(
    project: Project, settings: Settings, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = os.environ.get("TEST_REDIS_URL") or os.environ.get("REDIS_URL", "")
    if not settings.REDIS_URL:
        pytest.skip("TEST_REDIS_URL names no Redis")
    monkeypatch.setattr(relay_module, "POLL_SECONDS", 60)
    async with Relay().subscribe(project.pk) as subscription:
        for _ in range(50):
            # The relay may not have subscribed to Redis yet; every write wakes it again.
            await write(project)
            await asyncio.sleep(0.1)
            if not subscription.queue.empty():
                break
        assert (await asyncio.wait_for(subscription.queue.get(), 10)).project_id == project.pk
    await database_sync_to_async(wake._client.cache_clear)()
