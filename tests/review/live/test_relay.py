"""One poll a process, only while anyone listens; a slow listener never holds up the others."""

import asyncio
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from review.live import relay as relay_module
from review.live.relay import Relay, Subscription, relay_of_this_process
from review.models import Event, Project
from review.selectors import events
from review.selectors.events import EventRow
from tests import factories
from tests.review.live.conftest import Write


async def take(subscription: Subscription) -> EventRow:
    return await asyncio.wait_for(subscription.queue.get(), 10)


async def test_listener_gets_what_is_published_after_it_came(project: Project, write: Write) -> None:
    await write(project, document_id=1)
    async with Relay().subscribe(project.pk) as subscription:
        number = await write(project, document_id=2)
        row = await take(subscription)
    assert (row.id, row.name, row.payload["document_id"]) == (number, "document.routed", 2)
    assert subscription.queue.empty()


async def test_listener_does_not_get_other_projects_events(project: Project, write: Write) -> None:
    other = await database_sync_to_async(factories.make_project)("other")
    async with Relay().subscribe(project.pk) as subscription:
        await write(other)
        number = await write(project)
        assert (await take(subscription)).id == number


async def test_every_listener_gets_every_event_from_one_poll(
    project: Project, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    polls = 0
    new_events = events.new_events

    def counted(*arguments: Any) -> list[EventRow]:
        nonlocal polls
        polls += 1
        return new_events(*arguments)

    monkeypatch.setattr(relay_module, "new_events", counted)
    monkeypatch.setattr(relay_module, "POLL_SECONDS", 30)
    relay = Relay()
    async with relay.subscribe(project.pk) as one, relay.subscribe(project.pk) as two:
        await asyncio.sleep(0.1)
        await write(project)
        relay._wake.set()
        assert (await take(one)).id == (await take(two)).id
    assert polls == 2


async def test_more_events_than_a_batch_arrive_in_one_poll_in_order(
    project: Project, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "BATCH", 3)
    async with Relay().subscribe(project.pk) as subscription:
        written = [await write(project, document_id=number) for number in range(8)]
        assert [(await take(subscription)).id for _ in written] == written


async def test_an_event_whose_id_was_drawn_before_but_committed_after_arrives(project: Project, write: Write) -> None:
    await write(project)
    late = (await write(project)) + 1
    async with Relay().subscribe(project.pk) as subscription:
        await database_sync_to_async(Event.objects.create)(pk=late + 1, project=project, name="second")
        assert (await take(subscription)).name == "second"
        await database_sync_to_async(Event.objects.create)(pk=late, project=project, name="first")
        assert (await take(subscription)).name == "first"


async def test_an_id_in_flight_when_the_relay_starts_arrives(project: Project, write: Write) -> None:
    late = (await write(project)) + 1
    await database_sync_to_async(Event.objects.create)(pk=late + 1, project=project, name="second")
    async with Relay().subscribe(project.pk) as subscription:
        await database_sync_to_async(Event.objects.create)(pk=late, project=project, name="first")
        assert (await take(subscription)).id == late


async def test_nothing_is_polled_once_nobody_listens(project: Project) -> None:
    relay = Relay()
    assert not relay.is_polling
    async with relay.subscribe(project.pk):
        async with relay.subscribe(project.pk):
            assert relay.is_polling
        assert relay.is_polling
    await asyncio.sleep(0)
    assert not relay.is_polling


async def test_relay_starts_again_for_the_next_listener(project: Project, write: Write) -> None:
    relay = Relay()
    async with relay.subscribe(project.pk):
        pass
    async with relay.subscribe(project.pk) as subscription:
        number = await write(project)
        assert (await take(subscription)).id == number


async def test_relay_outlives_a_database_that_is_away(
    project: Project, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_events, failures = events.new_events, [OSError("away"), OSError("away")]

    def flaky(*arguments: Any) -> list[EventRow]:
        if failures:
            raise failures.pop()
        return new_events(*arguments)

    monkeypatch.setattr(relay_module, "new_events", flaky)
    async with Relay().subscribe(project.pk) as subscription:
        number = await write(project)
        assert (await take(subscription)).id == number
    assert failures == []


async def test_one_event_loop_has_one_relay(settings: Settings) -> None:
    assert relay_of_this_process() is relay_of_this_process()


async def test_overrun_listener_gets_no_more_so_that_no_gap_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "QUEUE_SIZE", 2)
    subscription = Subscription(1)
    for number in (1, 2, 3):
        subscription.deliver(EventRow(number, 1, "document.routed", {}))
    assert subscription.is_overrun
    subscription.queue.get_nowait()
    subscription.deliver(EventRow(4, 1, "document.routed", {}))
    assert [subscription.queue.get_nowait().id] == [2]
    assert subscription.queue.empty()
