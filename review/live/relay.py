"""One relay a process: polls the event table while anyone listens and hands new rows to the listeners."""

import asyncio
import contextlib
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from weakref import WeakKeyDictionary

import redis.asyncio
import structlog
from channels.db import database_sync_to_async
from django.conf import settings

from review.live.cursor import MAX_MISSING, Cursor
from review.live.wake import WAKE_CHANNEL
from review.selectors.events import EventRow, latest_event_id, missing_ids, new_events

POLL_SECONDS = 0.5
RETRY_SECONDS = 3.0
BATCH = 500
QUEUE_SIZE = 1_000

log = structlog.get_logger(__name__)


class Subscription:
    """One listener's queue. `is_overrun` says that it fell too far behind and must come again with its last id."""

    def __init__(self, project_id: int) -> None:
        self.project_id = project_id
        self.queue: asyncio.Queue[EventRow] = asyncio.Queue(maxsize=QUEUE_SIZE)
        self.is_overrun = False

    def deliver(self, row: EventRow) -> None:
        """Add a row; a full queue takes no more for good, since what follows would leave a gap."""
        if self.is_overrun:
            return
        try:
            self.queue.put_nowait(row)
        except asyncio.QueueFull:
            self.is_overrun = True


class Relay:
    """Belongs to one event loop. `subscribe` starts the poll, the last one to leave ends it."""

    def __init__(self) -> None:
        self._subscriptions: dict[int, set[Subscription]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._wake = asyncio.Event()

    @property
    def is_polling(self) -> bool:
        """Whether the event table is being read."""
        return self._task is not None and not self._task.done()

    @contextlib.asynccontextmanager
    async def subscribe(self, project_id: int) -> AsyncIterator[Subscription]:
        """Listen to a project from now on.

        On entry the relay stands at or before the newest event: nothing falls between what it delivers and what the
        listener reads from the table afterwards.
        """
        subscription = Subscription(project_id)
        self._subscriptions[project_id].add(subscription)
        if not self.is_polling:
            self._ready.clear()
            self._task = asyncio.create_task(self._run())
        try:
            await self._ready.wait()
            yield subscription
        finally:
            self._subscriptions[project_id].discard(subscription)
            if not self._subscriptions[project_id]:
                del self._subscriptions[project_id]
            if not self._subscriptions and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _run(self) -> None:
        async with self._woken_by_redis():
            cursor = None
            while True:
                self._wake.clear()
                try:
                    if cursor is None:
                        cursor = await self._start()
                        self._ready.set()
                    await self._relay_new(cursor)
                except Exception:
                    # The relay outlives a database that is away: people are listening.
                    log.exception("relay_poll_failed")
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), POLL_SECONDS)

    async def _start(self) -> Cursor:
        highest = await database_sync_to_async(latest_event_id)()
        missing = await database_sync_to_async(missing_ids)(highest, MAX_MISSING)
        return Cursor(highest, missing, time.monotonic())

    async def _relay_new(self, cursor: Cursor) -> None:
        rows = None
        while rows is None or len(rows) == BATCH:
            rows = await database_sync_to_async(new_events)(cursor.highest, cursor.missing, BATCH)
            for row in cursor.advance(rows, time.monotonic()):
                for subscription in self._subscriptions.get(row.project_id, ()):
                    subscription.deliver(row)

    @contextlib.asynccontextmanager
    async def _woken_by_redis(self) -> AsyncIterator[None]:
        """Poll at once when another process says so. Without Redis, or while it is away, the clock is enough."""
        task = asyncio.create_task(self._hear_wakes()) if settings.REDIS_URL else None
        try:
            yield
        finally:
            if task is not None:
                task.cancel()

    async def _hear_wakes(self) -> None:
        while True:
            try:
                async with redis.asyncio.Redis.from_url(settings.REDIS_URL) as client, client.pubsub() as pubsub:
                    await pubsub.subscribe(WAKE_CHANNEL)
                    async for _message in pubsub.listen():
                        self._wake.set()
            except (OSError, redis.RedisError) as error:
                log.warning("relay_wake_failed", error=type(error).__name__)
            await asyncio.sleep(RETRY_SECONDS)


_relays: WeakKeyDictionary[asyncio.AbstractEventLoop, Relay] = WeakKeyDictionary()


def relay_of_this_process() -> Relay:
    """Return the relay of the running event loop, made on first use."""
    return _relays.setdefault(asyncio.get_running_loop(), Relay())
