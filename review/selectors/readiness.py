"""Whether Stet can work right now, and how much it has to do: cheap answers for probes and monitors."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Count, Sum
from django.utils import timezone
from django_q.models import OrmQ

from review.models import UNFINISHED_STATUSES, Document, PageRead, ReviewTask, TaskState, ThroughputRollup
from review.selectors.workers import oldest_waiting_since, worker_summary

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be so for Stet to work; `code` says what is wrong, "" when nothing is."""

    name: str
    code: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.code


def readiness() -> list[Check]:
    """Return every check; one that fails hides no other."""
    return [
        _checked("database", _database),
        _checked("storage", _storage),
        _checked("worker", _worker),
        _checked("engine", _engine),
    ]


def _checked(name: str, check: Callable[[], str]) -> Check:
    try:
        return Check(name, check())
    except Exception as error:
        logger.warning("readiness.failed", check=name, error_type=type(error).__qualname__)
        return Check(name, f"{name}_failed")


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return "" if cursor.fetchone() == (1,) else "database_failed"


def _storage() -> str:
    """Write, read and delete a few bytes: a full or read-only storage shows only so."""
    name = default_storage.save(f"probes/{uuid.uuid4().hex}", ContentFile(b"ready"))
    try:
        with default_storage.open(name, "rb") as file:
            return "" if file.read() == b"ready" else "storage_failed"
    finally:
        default_storage.delete(name)


def _worker() -> str:
    return "" if worker_summary().is_alive else "no_worker"


def _engine() -> str:
    workers = worker_summary()
    if not workers.is_alive:
        return "no_worker"
    return workers.engine_error or next(iter(workers.model_errors.values()), "")


@dataclass(frozen=True, slots=True)
class Load:
    """How much there is to do, over all projects; counted from partial indexes and roll-ups, never from history."""

    n_documents_unfinished: int
    n_tasks_open: int
    n_tasks_held: int
    n_queued: int
    oldest_queued_seconds: float
    n_clusters: int
    n_workers: int
    n_documents_routed: int
    n_pages_routed: int
    n_pages_near_duplicate: int
    documents_by_band: dict[str, int]


def load() -> Load:
    """Return the load in a constant number of queries."""
    now = timezone.now()
    workers = worker_summary()
    oldest = oldest_waiting_since()
    tasks = ReviewTask.objects.filter(state=TaskState.OPEN)
    routed = ThroughputRollup.objects.aggregate(
        documents=Sum("n_documents"),
        pages=Sum("n_pages"),
        auto=Sum("n_auto"),
        sampled=Sum("n_sampled"),
        review=Sum("n_review"),
    )
    return Load(
        n_documents_unfinished=Document.objects.filter(status__in=UNFINISHED_STATUSES).count(),
        n_tasks_open=tasks.count(),
        n_tasks_held=tasks.filter(lease_holder__gt=0, lease_expires_at__gt=now).aggregate(n=Count("id"))["n"],
        n_queued=OrmQ.objects.count(),
        oldest_queued_seconds=(now - oldest).total_seconds() if oldest is not None else 0.0,
        n_clusters=workers.n_clusters,
        n_workers=workers.n_workers,
        n_documents_routed=routed["documents"] or 0,
        n_pages_routed=routed["pages"] or 0,
        n_pages_near_duplicate=PageRead.objects.filter(is_near_duplicate=True).count(),
        documents_by_band={band: routed[band] or 0 for band in ("auto", "sampled", "review")},
    )
