"""The socket of one open page: the events of one project, from where the page stands."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

import structlog
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from review.exceptions import StetError
from review.live.relay import BATCH, Subscription, relay_of_this_process
from review.models import Project
from review.selectors.events import EventRow, access_events, events_for, late_events_for, latest_event_id

# How often it is checked that whoever listens still may: signed in, active, a member of the project.
RECHECK_SECONDS = 5.0

CLOSE_BAD_REQUEST = 4400
CLOSE_NO_ACCESS = 4403
# Too far behind: come again with the last id.
CLOSE_OVERRUN = 4408
CLOSE_FAILED = 1011

log = structlog.get_logger(__name__)


class ProjectEventsConsumer(AsyncWebsocketConsumer):
    """Sends {"id", "name", "payload"} for every event of the project after `?after=<id>`.

    Without `after` it begins with what happens from now on. Around a reconnect an event may be sent twice, and one up
    to `after` again; its id tells. What a client sends is ignored.
    """

    _sending: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        """Accept members of the project; everybody else is refused before the handshake ends."""
        try:
            after = self._after()
            project = await self._access()
            if after is None:
                after = await database_sync_to_async(latest_event_id)()
        except ValueError:
            await self.close(CLOSE_BAD_REQUEST)
        except StetError:
            await self.close(CLOSE_NO_ACCESS)
        else:
            await self.accept()
            self._sending = asyncio.create_task(self._send_events(project.pk, after))

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - the signature is channels'
        """Leave the relay."""
        if self._sending is not None:
            self._sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sending

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Ignore what clients say."""

    def _after(self) -> int | None:
        given = parse_qs(self.scope["query_string"].decode()).get("after", [""])[0]
        if not given:
            return None
        if not given.isascii() or not given.isdecimal() or len(given) > 18:
            raise ValueError("after is no id")
        return int(given)

    async def _access(self) -> Project:
        """Return the project as the tables stand now, not as they stood when the socket was opened."""
        user_id = getattr(self.scope.get("user"), "pk", None) or 0
        slug = self.scope["url_route"]["kwargs"]["slug"]
        session = self.scope.get("session")
        project: Project = await database_sync_to_async(access_events)(slug, user_id=user_id, session=session)
        return project

    async def _send_events(self, project_id: int, after: int) -> None:
        try:
            async with relay_of_this_process().subscribe(project_id) as subscription:
                sent: set[int] = set()
                async for row in _missed(project_id, after):
                    sent.add(row.id)
                    await self._send(row)
                code = await self._follow(subscription, sent)
        except Exception:
            # A socket that is open and silent would look like a project where nothing happens.
            log.exception("event_socket_failed")
            code = CLOSE_FAILED
        await self.close(code)

    async def _follow(self, subscription: Subscription, sent: set[int]) -> int:
        """Send what the relay delivers until the socket must be closed; return with which code."""
        check_at = time.monotonic() + RECHECK_SECONDS
        while True:
            if time.monotonic() >= check_at:
                try:
                    await self._access()
                except StetError:
                    return CLOSE_NO_ACCESS
                check_at = time.monotonic() + RECHECK_SECONDS
            if subscription.is_overrun:
                return CLOSE_OVERRUN
            with contextlib.suppress(TimeoutError):
                row = await asyncio.wait_for(subscription.queue.get(), max(0.0, check_at - time.monotonic()))
                if row.id not in sent:
                    await self._send(row)

    async def _send(self, row: EventRow) -> None:
        message: dict[str, Any] = {"id": row.id, "name": row.name, "payload": row.payload}
        await self.send(text_data=json.dumps(message, ensure_ascii=False))


async def _missed(project_id: int, after: int) -> AsyncIterator[EventRow]:
    """Yield what a client that has seen `after` may have missed, batch by batch: nothing piles up in memory."""
    for row in await database_sync_to_async(late_events_for)(project_id, after):
        yield row
    rows = None
    while rows is None or len(rows) == BATCH:
        rows = await database_sync_to_async(events_for)(project_id, after, BATCH)
        for row in rows:
            yield row
            after = row.id
