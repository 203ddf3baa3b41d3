"""Reading the event table: what is new for the relay, what a client missed, who may listen."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.db import connection
from django.db.models import Max, Q, QuerySet

from review.exceptions import NotFoundError
from review.models import Event, Project, User
from review.selectors.access import Actor, access_project

# How long after its id was drawn an event may still be committed: far above what any action takes.
COMMIT_LAG = timedelta(seconds=30)
# How far back, in ids, a late commit is looked for.
LATE_IDS = 2_000


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event as it is sent to clients."""

    id: int
    project_id: int
    name: str
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Position:
    """What a page shows already: every event up to the id `latest`, but for those that may still come.

    `gaps` are ranges of lower ids, both ends included, that no visible row has: they were drawn, but not committed
    (yet). SQLite commits ids in order and has none.
    """

    latest: int
    gaps: list[list[int]]


def position_now() -> Position:
    """Return where a page that is drawn now begins to listen. To be read before whatever else the page shows."""
    width = 1 if connection.vendor == "sqlite" else LATE_IDS
    ids = list(Event.objects.order_by("-pk").values_list("pk", flat=True)[:width])
    if not ids:
        return Position(0, [])
    lowest = max(0, ids[0] - width)
    shown = [pk for pk in ids if pk > lowest]
    gaps = [[lower + 1, upper - 1] for upper, lower in pairwise([*shown, lowest]) if upper - lower > 1]
    return Position(ids[0], gaps)


def latest_event_id() -> int:
    """Return the highest id there is, 0 for none."""
    return Event.objects.aggregate(latest=Max("pk"))["latest"] or 0


def missing_ids(below: int, width: int) -> set[int]:
    """Return the ids among the `width` up to `below` that no visible row has: drawn, but not committed (yet)."""
    first = max(1, below - width + 1)
    seen = set(Event.objects.filter(pk__gte=first, pk__lte=below).values_list("pk", flat=True))
    return set(range(first, below + 1)) - seen


def new_events(after: int, missing: Collection[int], limit: int) -> list[EventRow]:
    """Return, of all projects, the events after the id `after` and those with an id in `missing`, by id."""
    late = Q(pk__in=list(missing)) if missing else Q()
    return _rows(Event.objects.filter(late | Q(pk__gt=after)), limit)


def events_for(project_id: int, after: int, limit: int) -> list[EventRow]:
    """Return the events of a project after the id `after`, by id."""
    return _rows(Event.objects.filter(project_id=project_id, pk__gt=after), limit)


def late_events_for(project_id: int, after: int) -> list[EventRow]:
    """Return the events with lower ids that may have been committed after the event `after` was seen, by id.

    A client that has seen `after` may have seen them too: each event has an id, so clients tell. SQLite has one
    writer at a time, which draws and commits ids in order: there are none.
    """
    if connection.vendor == "sqlite":
        return []
    seen_at = Event.objects.filter(pk=after).values_list("created_at", flat=True).first()
    if seen_at is None:
        return []
    recent = Event.objects.filter(project_id=project_id, pk__lt=after, pk__gt=after - LATE_IDS)
    return _rows(recent.filter(created_at__gte=seen_at - COMMIT_LAG), LATE_IDS)


def access_events(slug: str, *, user_id: int, session: SessionBase | None) -> Project:
    """Return the project whose events the user may hear, judged by what the tables say now.

    Raise NotFoundError for strangers, for inactive users, and once the session was ended or its password changed.
    """
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or (session is not None and not _is_alive(session, user)):
        raise NotFoundError
    return access_project(Actor(user), slug)


def _is_alive(session: SessionBase, user: User) -> bool:
    # Read again from its store; `__class__`, since what is given may be a lazy stand-in.
    stored = session.__class__(session.session_key)
    return stored.get(SESSION_KEY) == str(user.pk) and stored.get(HASH_SESSION_KEY) == user.get_session_auth_hash()


def _rows(events: QuerySet[Event], limit: int) -> list[EventRow]:
    columns = events.order_by("pk").values_list("pk", "project_id", "name", "payload")[:limit]
    return [EventRow(*column) for column in columns]
