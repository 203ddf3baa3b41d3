"""With Redis, relays hear at once that there is something to read. Without it they find out by their clock."""

from functools import cache

import redis
import structlog
from django.conf import settings
from django.db import transaction

WAKE_CHANNEL = "stet.wake"
# A wake is a convenience: it never holds up the request or the task that caused it.
TIMEOUT_SECONDS = 0.2

log = structlog.get_logger(__name__)


def wake_relays_on_commit() -> None:
    """Wake the relays of all processes once the running transaction is committed; nothing without Redis."""
    if settings.REDIS_URL:
        transaction.on_commit(_wake_relays)


@cache
def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS)


def _wake_relays() -> None:
    try:
        _client(settings.REDIS_URL).publish(WAKE_CHANNEL, b"")
    except redis.RedisError as error:
        log.warning("wake_failed", error=type(error).__name__)
