"""Who is at work: heartbeats, the engine's state, and how long work has been waiting in the queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django_q.models import OrmQ

from review.models import WorkerHeartbeat
from review.selectors.rollouts import types_read_by

BEATS_MISSED = 4
NO_WORKER, NO_MODEL = "waiting", "waiting_for_model"
"""What an unfinished document is shown as while nothing can go on with it, by what is missing."""
_QUEUE_HEAD = 50
_QUEUED_TOGETHER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class WorkerSummary:
    """The workers that are alive, together. `engine_error` is "" while at least one of them has its engine.

    `model_errors` are the engine versions of language models that none of them can ask, with the code of why not;
    `silent_types` are the document types whose pages these read.
    """

    n_clusters: int
    n_workers: int
    engine_names: tuple[str, ...]
    engine_error: str
    seen_at: datetime | None
    model_errors: Mapping[int, str] = field(default_factory=dict)
    silent_types: frozenset[int] = frozenset()

    def standstill(self, document_type_id: int) -> str:
        """Return what documents of a type wait for, "" for nothing.

        NO_WORKER where nobody is at work, NO_MODEL where the language model that reads them cannot be asked.
        """
        if not self.is_alive:
            return NO_WORKER
        return NO_MODEL if document_type_id in self.silent_types else ""

    @property
    def is_alive(self) -> bool:
        """Whether anybody is at work."""
        return self.n_clusters > 0

    @property
    def is_engine_ready(self) -> bool:
        """Whether somebody at work can read pages."""
        return self.is_alive and not self.engine_error


def live_heartbeats() -> QuerySet[WorkerHeartbeat]:
    """Return the heartbeats that were renewed lately, the oldest worker first."""
    bound = timezone.now() - timedelta(seconds=BEATS_MISSED * settings.STET_HEARTBEAT_SECONDS)
    return WorkerHeartbeat.objects.filter(seen_at__gte=bound).order_by("started_at", "pk")


def is_worker_alive() -> bool:
    """Whether any worker is there to go on with what waits."""
    return live_heartbeats().exists()


def worker_summary() -> WorkerSummary:
    """Return how the workers stand, in one query, or three while a language model is away."""
    beats: Sequence[WorkerHeartbeat] = list(live_heartbeats())
    errors = [beat.engine_error for beat in beats]
    model_errors = _shared([beat.model_errors for beat in beats])
    return WorkerSummary(
        n_clusters=len(beats),
        n_workers=sum(beat.n_workers for beat in beats),
        engine_names=tuple(sorted({beat.engine_name for beat in beats if beat.engine_name})),
        engine_error=errors[0] if errors and all(errors) else "",
        seen_at=max((beat.seen_at for beat in beats), default=None),
        model_errors=model_errors,
        silent_types=types_read_by(model_errors),
    )


def _shared(errors: Sequence[Mapping[str, str]]) -> dict[int, str]:
    """Return the errors of the versions that no worker can ask."""
    first, *others = errors or [{}]
    return {int(key): code for key, code in first.items() if all(key in other for other in others)}


def oldest_waiting_since() -> datetime | None:
    """Return since when the oldest queued task has waited for a worker, or None when nothing waits.

    Reads the head of the queue only. A waiting task's `lock` is the time at which it was queued, or came back.
    """
    # Up to a queue's length of tasks at the head are locked: a worker has them in hand.
    head = OrmQ.objects.order_by("pk").values_list("lock", flat=True)[:_QUEUE_HEAD]
    now = timezone.now()
    return min((lock for lock in head if lock is not None and lock <= now), default=None)


def queued_before(bound: datetime) -> datetime:
    """Return the time before which what was queued is waited for by no task any more; `bound` at the latest.

    What is older than everything that waits in the queue stands still. In a long queue work waits long, and none of it
    is queued twice.
    """
    waiting_since = oldest_waiting_since()
    return bound if waiting_since is None else min(bound, waiting_since - _QUEUED_TOGETHER)
