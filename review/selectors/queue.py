"""The queue as its page shows it: what waits, why, how old, and who holds what.

No list here is longer than a page, and the figures are counted by the database: the page costs as many queries with
ten tasks as with a hundred thousand.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from review.models import DocumentType, Membership, Project, ReviewTask, Role, TaskState, User
from review.selectors.review_tasks import holder_at, is_free, tasks_for

PAGE_SIZE = 50
AGES: Mapping[str, tuple[timedelta, timedelta | None]] = {
    "hour": (timedelta(0), timedelta(hours=1)),
    "day": (timedelta(hours=1), timedelta(days=1)),
    "week": (timedelta(days=1), timedelta(days=7)),
    "older": (timedelta(days=7), None),
}
"""Age classes of waiting work, young to old: from (included) and to (left out)."""
HOLDINGS = ("free", "held", "assigned")


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """What narrows the queue; every part may be left open. `after` is the key of the last row seen."""

    document_type: DocumentType | None = None
    reason: str = ""
    age: str = ""
    holding: str = ""
    after: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One waiting task. `holder` is whoever holds a live lease; a lapsed lease holds nothing."""

    task: ReviewTask
    age_seconds: float
    holder: User | None

    @property
    def key(self) -> str:
        """Where the row stands in the queue, for the next page."""
        return f"{self.task.priority}:{self.task.pk}"


@dataclass(frozen=True, slots=True)
class Presence:
    """Someone at work: how many tasks they hold, and when the first of these leases ends."""

    username: str
    n_tasks: int
    first_end: datetime


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """The whole open queue in numbers. `by_reason` counts each document under each of its reasons, most first."""

    n_open: int
    n_held: int
    n_assigned: int
    oldest_age_seconds: float | None
    by_reason: tuple[tuple[str, int], ...]
    by_age: tuple[tuple[str, int], ...]
    presence: tuple[Presence, ...]

    @property
    def n_free(self) -> int:
        """How many a reviewer could take now."""
        return self.n_open - self.n_held


def queue_figures(project: Project, *, now: datetime | None = None) -> QueueFigures:
    """Return the figures of a project's open tasks, in three queries."""
    now = now or timezone.now()
    tasks = ReviewTask.objects.filter(project=project, state=TaskState.OPEN)
    ages = {f"age_{name}": Count("id", filter=_of_age(name, now)) for name in AGES}
    totals = tasks.aggregate(n_open=Count("id"), n_assigned=Count("assignee"), oldest=Min("created_at"), **ages)
    live = tasks.filter(lease_holder__gt=0, lease_expires_at__gt=now)
    people = live.values_list("lease_holder__username").annotate(Count("id"), Min("lease_expires_at")).order_by()
    presence = tuple(Presence(*row) for row in sorted(people))
    return QueueFigures(
        n_open=totals["n_open"],
        n_held=sum(one.n_tasks for one in presence),
        n_assigned=totals["n_assigned"],
        oldest_age_seconds=(now - totals["oldest"]).total_seconds() if totals["oldest"] is not None else None,
        by_reason=_by_reason(tasks),
        by_age=tuple((name, totals[f"age_{name}"]) for name in AGES),
        presence=presence,
    )


def queue_rows(project: Project, chosen: QueueFilter, *, now: datetime | None = None) -> tuple[list[QueueRow], bool]:
    """Return a page of the queue, most important and then oldest first, and whether more follow. One query."""
    now = now or timezone.now()
    tasks = tasks_for(project, document_type=chosen.document_type).select_related("assignee")
    tasks = _narrowed(tasks, chosen, now)
    if chosen.after is not None:
        priority, task_id = chosen.after
        tasks = tasks.filter(Q(priority__lt=priority) | Q(priority=priority, pk__gt=task_id))
    # One more than is shown tells whether there is a next page.
    found = list(tasks[: PAGE_SIZE + 1])
    rows = [QueueRow(task, (now - task.created_at).total_seconds(), holder_at(task, now)) for task in found[:PAGE_SIZE]]
    return rows, len(found) > PAGE_SIZE


def tasks_to_change(project: Project, task_ids: Sequence[int]) -> list[ReviewTask]:
    """Return those of `task_ids` that are open tasks of the project; anything else is left out without a word."""
    tasks = tasks_for(project).filter(pk__in=list(task_ids)[:PAGE_SIZE])
    return list(tasks)


def reviewers_of(project: Project) -> list[Membership]:
    """Return the members who may review, by name: those to whom work can be given."""
    able = [role for role in Role if role.includes(Role.REVIEWER)]
    members = Membership.objects.select_related("user").filter(project=project, role__in=able, user__is_active=True)
    return list(members.order_by("user__username"))


def _narrowed(tasks: QuerySet[ReviewTask], chosen: QueueFilter, now: datetime) -> QuerySet[ReviewTask]:
    if chosen.reason:
        # A reason is a word in a JSON list; as text the list can be searched in both databases.
        tasks = tasks.annotate(reasons_text=Cast("document__reasons", TextField()))
        tasks = tasks.filter(reasons_text__contains=f'"{chosen.reason}"')
    if chosen.age in AGES:
        tasks = tasks.filter(_of_age(chosen.age, now))
    if chosen.holding == "free":
        tasks = tasks.filter(is_free(now))
    elif chosen.holding == "held":
        tasks = tasks.filter(lease_holder__gt=0, lease_expires_at__gt=now)
    elif chosen.holding == "assigned":
        tasks = tasks.filter(assignee__gt=0)
    return tasks


def _of_age(name: str, now: datetime) -> Q:
    start, end = AGES[name]
    condition = Q(created_at__lte=now - start) if start else Q()
    return condition & Q(created_at__gt=now - end) if end is not None else condition


def _by_reason(tasks: QuerySet[ReviewTask]) -> tuple[tuple[str, int], ...]:
    # Grouped by the whole list: there are few different ones, however many tasks.
    counts: Counter[str] = Counter()
    for reasons, n in tasks.values_list("document__reasons").annotate(Count("id")).order_by():
        for reason in dict.fromkeys(reasons or ()):
            counts[reason] += n
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
