"""Whatever stands still is set going again; what nobody needs any longer is thrown away.

All of it may be done twice, by several processes at once: tasks look at the state they find, so that one too many
does nothing. No audit rows: nothing is decided here.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_q.models import OrmQ, Task

from review.actions._claims import is_of_dead_process, is_of_living_process, process_mark
from review.actions._enqueue import (
    READ_PAGE,
    ROUTE_RUN,
    enqueue,
    enqueue_opening,
)
from review.actions._pages import has_unfinished_pages
from review.actions._work import KINDS, left_work, requeue
from review.models import (
    UNFINISHED_STATUSES,
    Document,
    DocumentStatus,
    Event,
    ExtractionRun,
    IdempotencyKey,
    PageRead,
    PageReadState,
    RawAnswer,
    RunState,
    WorkerHeartbeat,
)
from review.selectors.workers import live_heartbeats, queued_before

PER_SWEEP = 500
PER_PRUNING = 5_000
_KEY_HOURS = 48
_LEFTOVER_SECONDS = 24 * 3600


def beat(*, name: str, n_workers: int, engine_name: str, started_at: datetime) -> None:
    """Say that this worker is alive."""
    values = {"n_workers": n_workers, "engine_name": engine_name, "started_at": started_at, "seen_at": timezone.now()}
    with transaction.atomic(durable=True):
        WorkerHeartbeat.objects.update_or_create(name=name, defaults=values)


def end_beat(*, name: str) -> None:
    """Say that this worker goes home."""
    with transaction.atomic(durable=True):
        WorkerHeartbeat.objects.filter(name=name).delete()


def note_engine(*, name: str, engine_error: str) -> None:
    """Say whether a worker has its engine: "" or the code of what is in the way."""
    with transaction.atomic(durable=True):
        WorkerHeartbeat.objects.filter(name=name).exclude(engine_error=engine_error).update(engine_error=engine_error)


def note_models(*, name: str, errors: Mapping[int, str]) -> None:
    """Say which language models a worker cannot ask now: the code of what is in the way, by engine version."""
    found = {str(version_id): code for version_id, code in errors.items()}
    with transaction.atomic(durable=True):
        WorkerHeartbeat.objects.filter(name=name).exclude(model_errors=found).update(model_errors=found)


def note_model(*, name: str, engine_version_id: int, error: str) -> None:
    """Say that a worker cannot ask one language model; until it is looked after again, by the next sweep."""
    with transaction.atomic(durable=True):
        beat = WorkerHeartbeat.objects.select_for_update().filter(name=name).first()
        if beat is not None and beat.model_errors.get(str(engine_version_id)) != error:
            beat.model_errors = {**beat.model_errors, str(engine_version_id): error}
            beat.save(update_fields=["model_errors"])


def heartbeat_name() -> str:
    """Return this process's name among the workers."""
    return process_mark()


def take_over(*, name: str) -> bool:
    """At the start of a worker: free what dead workers held; whether this is the only worker.

    Beats of dead processes of this host go. When nobody else is alive, queued tasks that a dead worker had in hand
    are free again at once, not only when django-q2's `retry` is over.
    """
    with transaction.atomic(durable=True):
        beats = WorkerHeartbeat.objects.values_list("pk", "name")
        dead = [pk for pk, other in beats if other == name or is_of_dead_process(other)]
        WorkerHeartbeat.objects.filter(pk__in=dead).delete()
        is_alone = not live_heartbeats().exists()
        if is_alone:
            now = timezone.now()
            OrmQ.objects.filter(lock__gt=now).update(lock=now)
    free_claims(is_alone=is_alone)
    return is_alone


def free_claims(*, is_alone: bool = False) -> int:
    """Take pages and openings back from dead processes, pages also from whoever held one too long, and queue them.

    Return how many. `is_alone`: no other worker lives, so that only claims of processes known to live are respected.
    """
    return _free_pages(is_alone=is_alone) + _free_openings(is_alone=is_alone)


def _free_pages(*, is_alone: bool) -> int:
    bound = timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS)
    claimed = PageRead.objects.filter(state=PageReadState.CLAIMED).values_list("pk", "claim_token", "claimed_at")
    n_freed = 0
    for page_read_id, token, claimed_at in claimed:
        is_over = claimed_at is None or claimed_at < bound
        if not is_over and not _is_left(token, is_alone=is_alone):
            continue
        with transaction.atomic(durable=True):
            same = PageRead.objects.filter(pk=page_read_id, state=PageReadState.CLAIMED, claim_token=token)
            if same.update(state=PageReadState.PENDING, claim_token=""):
                enqueue(READ_PAGE, page_read_id)
                n_freed += 1
    return n_freed


def _free_openings(*, is_alone: bool) -> int:
    """Free attempts to open; of those that went silent otherwise, `requeue_stalled` takes care."""
    received = Document.objects.filter(status=DocumentStatus.RECEIVED)
    n_freed = 0
    for document in received.exclude(claim_token="").only("pk", "claim_token", "n_pages"):
        if not _is_left(document.claim_token, is_alone=is_alone):
            continue
        with transaction.atomic(durable=True):
            same = received.filter(pk=document.pk, claim_token=document.claim_token)
            if same.update(claim_token="", touched_at=timezone.now()):
                enqueue_opening(document.pk, document.n_pages)
                n_freed += 1
    return n_freed


def _is_left(token: str, *, is_alone: bool) -> bool:
    return is_of_dead_process(token) or (is_alone and not is_of_living_process(token))


def requeue_stalled() -> int:
    """Queue again what no queued task stands for any more; return how many documents.

    A document stalls when its last step is older than STET_CLAIM_SECONDS and than everything that waits in the queue:
    in a long queue documents wait long, and none of them is queued twice.
    """
    bound = timezone.now() - timedelta(seconds=settings.STET_CLAIM_SECONDS)
    stalled = Document.objects.filter(
        status__in=UNFINISHED_STATUSES, touched_at__lt=queued_before(bound), duplicate_of=None
    ).order_by("touched_at")
    n_queued = 0
    for document in stalled.only("pk", "status", "touched_at", "claim_token", "n_pages")[:PER_SWEEP]:
        with transaction.atomic(durable=True):
            same = Document.objects.filter(pk=document.pk, status=document.status, touched_at=document.touched_at)
            # Of an attempt to open it, the time says when that gave a sign of life: it must stay.
            is_tried = document.status == DocumentStatus.RECEIVED and document.claim_token
            if same.update(touched_at=document.touched_at if is_tried else timezone.now()):
                _requeue(document)
                n_queued += 1
    return n_queued


def _requeue(document: Document) -> None:
    if document.status == DocumentStatus.RECEIVED:
        enqueue_opening(document.pk, document.n_pages)
        return
    run = ExtractionRun.objects.filter(document=document, is_current=True, state=RunState.READING).only("pk").first()
    if run is None:
        return
    pending = PageRead.objects.filter(run=run, state=PageReadState.PENDING).values_list("pk", flat=True)
    for page_read_id in pending:
        enqueue(READ_PAGE, page_read_id)
    if not has_unfinished_pages(run.pk):
        enqueue(ROUTE_RUN, run.pk)


def requeue_work() -> Mapping[str, int]:
    """Queue again what else nobody is at any more (`review.actions._work`); return how much, by name, of what."""
    n_queued: Counter[str] = Counter()
    for model in KINDS:
        for work in left_work(model, PER_SWEEP):
            with transaction.atomic(durable=True):
                if requeue(work):
                    n_queued[str(model._meta.model_name)] += 1
    return n_queued


def prune() -> int:
    """Delete events after STET_EVENT_DAYS, raw answers after STET_RAW_ANSWER_DAYS, and what a few days make useless.

    Return how many rows.
    """
    now = timezone.now()
    events_before = now - timedelta(days=settings.STET_EVENT_DAYS)
    # By primary key, the oldest first: no index on the time is needed, and no table is read to its end.
    oldest = Event.objects.order_by("pk").values_list("pk", "created_at")[:PER_PRUNING]
    old_events = [pk for pk, created_at in oldest if created_at < events_before]
    answers_before = now - timedelta(days=settings.STET_RAW_ANSWER_DAYS)
    first = RawAnswer.objects.order_by("pk").values_list("pk", "created_at")[:PER_PRUNING]
    old_answers = [pk for pk, created_at in first if created_at < answers_before]
    keys = Q(created_at__lt=now - timedelta(hours=_KEY_HOURS))
    beats = Q(seen_at__lt=now - timedelta(days=1))
    n_deleted: int = 0
    with transaction.atomic(durable=True):
        if old_events:
            n_deleted += Event.objects.filter(pk__lte=old_events[-1]).delete()[0]
        if old_answers:
            n_deleted += RawAnswer.objects.filter(pk__lte=old_answers[-1]).delete()[0]
        n_deleted += IdempotencyKey.objects.filter(keys).delete()[0]
        n_deleted += WorkerHeartbeat.objects.filter(beats).delete()[0]
        n_deleted += int(Task.objects.filter(stopped__lt=events_before).delete()[0])
    return n_deleted


def prune_incoming() -> int:
    """Delete what killed processes left of uploads a day ago; return how many files."""
    bound = time.time() - _LEFTOVER_SECONDS
    n_deleted = 0
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir():
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_mtime < bound:
                path.unlink()
                n_deleted += 1
    return n_deleted
