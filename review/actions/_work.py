"""Work outside of requests: one process at a time has it, and it ends once. Every change is a compare-and-set.

The row that `take` has claimed is the claim: its `claim_token` proves that the work is this process's. Whoever has lost
it changes nothing. All of it belongs into the transaction of an action, which writes what is its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from review.actions._claims import is_of_dead_process, new_claim_token
from review.actions._enqueue import (
    EXPORT_TIMEOUT_SECONDS,
    READ_SHADOW,
    TAKE_SNAPSHOT,
    TRAIN,
    TRAINING_TIMEOUT_SECONDS,
    WRITE_EXPORT,
    enqueue,
)
from review.models import UNFINISHED_WORK, DatasetExport, ShadowRead, Snapshot, TrainingRun, Work, WorkState
from review.selectors.workers import queued_before

GAVE_UP = "gave_up"
W = TypeVar("W", bound=Work)


@dataclass(frozen=True, slots=True)
class _Task:
    """The task that does it, how long that may take, and how long a step of it may keep silent at least, in seconds."""

    name: str
    timeout_seconds: int | None = None
    silent_seconds: float = 0


_TASKS: Mapping[type[Work], _Task] = {
    DatasetExport: _Task(WRITE_EXPORT, EXPORT_TIMEOUT_SECONDS),
    Snapshot: _Task(TAKE_SNAPSHOT, EXPORT_TIMEOUT_SECONDS),
    # One step, a field of 2,000 documents, may take minutes on a machine that is busy.
    TrainingRun: _Task(TRAIN, TRAINING_TIMEOUT_SECONDS, silent_seconds=TRAINING_TIMEOUT_SECONDS / 2),
    ShadowRead: _Task(READ_SHADOW),
}
KINDS = tuple(_TASKS)


def queue(work: Work) -> None:
    """Have a worker do it."""
    task = _TASKS[type(work)]
    enqueue(task.name, work.pk, timeout_seconds=task.timeout_seconds)


def find_free(rows: QuerySet[W], pk: int) -> W | None:
    """Return unfinished work that nobody is at: it is queued, or whose it was is dead or has kept silent too long."""
    work = rows.filter(pk=pk, state__in=UNFINISHED_WORK).first()
    return work if work is not None and (work.state == WorkState.QUEUED or _is_left(work)) else None


def is_worn_out(work: Work) -> bool:
    """Whether it has ended STET_MAX_ATTEMPTS workers, and is not begun once more."""
    return work.n_attempts >= settings.STET_MAX_ATTEMPTS


def take(work: Work, **values: object) -> bool:
    """Claim what was found free and count the attempt; false when somebody was faster, or it has shown life."""
    same = _ours(work).filter(state=work.state, touched_at=work.touched_at)
    begun = {"state": WorkState.RUNNING, "claim_token": new_claim_token(), "n_attempts": work.n_attempts + 1}
    return _change(same, work, **begun, **values)


def step(work: Work, **values: object) -> bool:
    """Write down how far it is; false when it was cancelled or taken over, and must stop."""
    return _change(_ours(work), work, **values)


def end(work: Work, state: WorkState, **values: object) -> bool:
    """Close it as DONE, FAILED or CANCELLED; false when it is no longer ours."""
    return _change(_ours(work), work, state=state, finished_at=timezone.now(), **values)


def release(work: Work, *, is_counted: bool) -> bool:
    """Give it back to be tried later; `is_counted` false gives the attempt back too."""
    n_attempts = work.n_attempts - (0 if is_counted else 1)
    return _change(_ours(work), work, state=WorkState.QUEUED, claim_token="", n_attempts=n_attempts)


def cancel(work: Work) -> bool:
    """Close it whoever has it; false when it is finished. `work` is as it is stored then."""
    now = timezone.now()
    mine = _rows(type(work)).filter(pk=work.pk, state__in=UNFINISHED_WORK)
    n_cancelled = mine.update(state=WorkState.CANCELLED, claim_token="", finished_at=now, touched_at=now)
    work.refresh_from_db()
    return bool(n_cancelled)


def left_work(model: type[W], at_most: int) -> list[W]:
    """Return what nobody is at and no queued task stands for, the oldest first."""
    bound = _silent_before(model)
    waits = Q(state=WorkState.QUEUED, touched_at__lt=queued_before(bound))
    found = _rows(model).filter(waits | Q(state=WorkState.RUNNING)).order_by("touched_at", "pk")[:at_most]
    return [work for work in found if work.state == WorkState.QUEUED or _is_left(work)]


def requeue(work: Work) -> bool:
    """Queue again what was found left; the silent one, should it live, finds that it is no longer its own."""
    same = _ours(work).filter(state=work.state, touched_at=work.touched_at)
    if not _change(same, work, state=WorkState.QUEUED, claim_token=""):
        return False
    queue(work)
    return True


def _rows(model: type[W]) -> QuerySet[W]:
    return model._default_manager.all()


def _ours(work: W) -> QuerySet[W]:
    # Not by its state as `work` says: where the transaction of an end was undone, that is no longer true.
    return _rows(type(work)).filter(pk=work.pk, state__in=UNFINISHED_WORK, claim_token=work.claim_token)


def _change(same: QuerySet[Work], work: Work, **values: object) -> bool:
    values["touched_at"] = timezone.now()
    if not same.update(**values):
        return False
    for name, value in values.items():
        setattr(work, name, value)
    return True


def _is_left(work: Work) -> bool:
    return is_of_dead_process(work.claim_token) or work.touched_at < _silent_before(type(work))


def _silent_before(model: type[Work]) -> datetime:
    seconds = max(settings.STET_CLAIM_SECONDS, _TASKS[model].silent_seconds)
    return timezone.now() - timedelta(seconds=seconds)
