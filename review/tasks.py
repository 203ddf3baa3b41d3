"""The work that runs outside of requests: the only room in which an engine reads.

Each task takes one id, looks at the state it finds, and may be delivered twice, late, or at the same time as itself:
what is done is not done again. Between transactions it reads and computes; then one action records.
"""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import structlog
from django.conf import settings

from inference.errors import (
    AnswerLostError,
    EngineError,
    InferenceError,
    ModelDamagedError,
    SharedLossError,
    UnreadableFileError,
)
from inference.imaging.hashing import content_hash
from inference.imaging.pages import OpenedPage, encode_page, open_pages
from inference.imaging.similarity import perceptual_hash
from inference.types import PageImage
from review.actions.accuracy import roll_up_reviews
from review.actions.idempotency import forget_old_keys
from review.actions.intake import file_limits
from review.actions.opening import (
    StoredPage,
    begin_opening,
    fail_opening,
    keep_opening,
    keep_page_image,
    postpone_opening,
    record_opened,
)
from review.actions.reading import (
    ENGINE_FAILED,
    ROUTING_FAILED,
    ClaimedPage,
    begin_routing,
    claim_page,
    complete_run,
    fail_page,
    record_page_read,
    release_page,
    restart_document,
)
from review.actions.recovery import (
    free_claims,
    note_engine,
    note_models,
    prune,
    prune_incoming,
    requeue_stalled,
    requeue_work,
)
from review.actions.regions import give_up_regions
from review.actions.training import request_due_trainings
from review.exceptions import StorageFullError
from review.models import Document, PageRead
from review.selectors.access import SYSTEM
from review.selectors.reading import run_being_read, run_to_route, unread_page_ids
from review.selectors.schemas import spec_of
from review.tasks_engines import engine_error, model_errors, reader_of, worker_name
from review.tasks_files import local_path
from review.tasks_foreign import fields_sent_with
from review.tasks_loading import load_declared_models
from review.tasks_models import suggested_type
from review.tasks_reading import (
    ReadPage,
    fields_of,
    has_broken_off,
    is_asked_otherwise,
    nothing_of,
    read_claimed_page,
)

P = ParamSpec("P")
SIGN_OF_LIFE_SECONDS = 10.0
READ_AT_ONCE_SECONDS = 10.0
"""A document that took longer to open has its page read by a task of its own: the time of this one is used up."""
log = structlog.get_logger(__name__)


class TaskFailedError(Exception):
    """What the queue is told of a failure: the kind of error only, for its message may hold document text."""


class NoLongerOursError(Exception):
    """The work was cancelled, or another process has taken it over: whoever does it stops and leaves it alone."""


def task(function: Callable[P, None]) -> Callable[P, None]:
    """Bind the task's name and ids to the log, and keep messages of unforeseen errors out of log and queue."""

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        with structlog.contextvars.bound_contextvars(task=function.__name__, ids=args):
            started = time.monotonic()
            try:
                function(*args, **kwargs)
                # Tasks without ids run by the clock, mostly for nothing: no line a minute for that.
                tell = log.info if args else log.debug
                tell("task done", ms=round((time.monotonic() - started) * 1000))
            except Exception as error:
                kind = type(error).__name__
                log.error("task failed", error=kind, at=_place(error))
                raise TaskFailedError(f"{function.__name__}: {kind}") from None

    return guarded


def _place(error: BaseException) -> str:
    """Return where an error was raised, file and line, without its message."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace is not None else ""


@task
def open_document(document_id: int) -> None:
    """Open a received document into pages; read its page at once where it has one, queue the pages where it has more.

    Delivered again after that, it goes on with a page that was left unread.
    """
    document = begin_opening(actor=SYSTEM, document_id=document_id)
    if document is None:
        for page_read_id in unread_page_ids(document_id):
            _read(page_read_id)
        return
    page_reads, images = _open(document)
    if len(page_reads) == 1:
        _read(page_reads[0].pk, images[0])


def open_only(document_id: int) -> None:
    """Open a received document into pages and leave them unread, for who reads many side by side."""
    document = begin_opening(actor=SYSTEM, document_id=document_id)
    if document is not None:
        _open(document)


def _open(document: Document) -> tuple[list[PageRead], list[PageImage]]:
    """Open a document whose attempt is counted; return its page reads and its first raster.

    Nothing where it fails, or where its pages are left to the queue.
    """
    started = time.monotonic()
    try:
        reader = reader_of(document)
        images, pages = _keep_pages(document)
    except UnreadableFileError as error:
        log.info("document unreadable", reason=error.code)
        fail_opening(actor=SYSTEM, document=document, code=error.code)
        return [], []
    except (InferenceError, StorageFullError) as error:
        # Not the file's fault: it waits, and the sweep brings it back.
        log.warning("document postponed", reason=error.code)
        postpone_opening(document=document, code=error.code)
        return [], []
    is_read_at_once = time.monotonic() - started < READ_AT_ONCE_SECONDS
    page_reads = record_opened(
        actor=SYSTEM, document=document, pages=pages, engine=reader.identity, is_read_at_once=is_read_at_once
    )
    return (page_reads or [], images) if is_read_at_once else ([], [])


def _keep_pages(document: Document) -> tuple[list[PageImage], list[StoredPage]]:
    """Store the rasters of all pages; return the first, and what to know of each. Raises UnreadableFileError."""
    images: list[PageImage] = []
    pages: list[StoredPage] = []
    touched_at = time.monotonic()
    with local_path(str(document.original.name)) as path:
        for opened in open_pages(path, file_limits()):
            pages.append(_keep_page(document, opened))
            if not images:
                images.append(opened.image)
            if time.monotonic() - touched_at > SIGN_OF_LIFE_SECONDS:
                keep_opening(document=document)
                touched_at = time.monotonic()
    return images, pages


def _keep_page(document: Document, opened: OpenedPage) -> StoredPage:
    image, digest = opened.image, content_hash(opened.image)
    width, height = image.size
    if opened.is_original:
        name, image_sha256 = str(document.original.name), document.sha256
    else:
        name, image_sha256 = keep_page_image(document.project_id, encode_page(image))
    return StoredPage(image.page_number, name, width, height, digest, perceptual_hash(image), image_sha256)


@task
def read_page(page_read_id: int) -> None:
    """Read one page; the last page of a document routes it."""
    _read(page_read_id)


def _read(page_read_id: int, image: PageImage | None = None) -> None:
    claim = claim_page(page_read_id=page_read_id)
    if claim is None:
        return
    if claim.page_read.n_attempts > settings.STET_MAX_ATTEMPTS:
        # Nobody is left to say what happened: each attempt took its process with it, or never came to an end.
        log.warning("page given up", n_attempts=claim.page_read.n_attempts - 1)
        is_last = fail_page(actor=SYSTEM, claim=claim, code=ENGINE_FAILED)
    else:
        is_last = _read_claimed(claim, image)
    if is_last:
        _route(claim.run.pk)


def _read_claimed(claim: ClaimedPage, image: PageImage | None) -> bool:
    """Read a page that this process holds; whether it was the last one of its run."""
    try:
        reader = reader_of(claim.document)
        if reader.identity.digest != claim.run.engine_version.digest or is_asked_otherwise(claim.run):
            restart_document(actor=SYSTEM, document_id=claim.run.document_id, run_id=claim.run.pk)
            return False
        read = read_claimed_page(claim, reader, image)
    except (EngineError, UnreadableFileError) as error:
        log.warning("page failed", reason=error.code)
        return fail_page(actor=SYSTEM, claim=claim, code=error.code)
    except InferenceError as error:
        # Away, it had nothing in hand: the page waits, for ever if need be. What broke off may break off on this page;
        # that counts where no other one was there that it may have been.
        is_counted = isinstance(error, AnswerLostError) and not isinstance(error, SharedLossError)
        log.warning("page postponed", reason=error.code, is_counted=is_counted)
        release_page(
            claim=claim,
            is_counted=is_counted,
            code=error.code,
            attempts=error.attempts,
            has_broken_off=has_broken_off(error),
        )
        return False
    except Exception:
        # Unforeseen: the attempt counts, the sweep brings the page back.
        release_page(claim=claim, is_counted=True)
        raise
    return _record(claim, read)


def record_read(page_read_id: int, read: ReadPage) -> None:
    """Record what came of a page that was read elsewhere; the last page of a document routes it."""
    claim = claim_page(page_read_id=page_read_id)
    if claim is not None and _record(claim, read):
        _route(claim.run.pk)


def _record(claim: ClaimedPage, read: ReadPage) -> bool:
    failure = read.failure
    if failure is None:
        is_near = read.is_near_duplicate
        return record_page_read(actor=SYSTEM, claim=claim, reading=read.reading, is_near_duplicate=is_near)
    log.warning("page failed", reason=failure.code)
    words = read.reading if isinstance(read.reading, int) else None
    return fail_page(actor=SYSTEM, claim=claim, code=failure.code, attempts=failure.attempts, words_reading_id=words)


@task
def route_run(run_id: int) -> None:
    """Find the fields of a document whose pages are all read, and route it."""
    _route(run_id)


def _route(run_id: int) -> None:
    n_attempts = begin_routing(run_id=run_id)
    if n_attempts is None:
        return
    if n_attempts > settings.STET_MAX_ATTEMPTS:
        _give_up_routing(run_id)
        return
    due = run_to_route(run_id)
    if due is None:
        return
    spec = spec_of(due.run.schema_version)
    try:
        fields = fields_sent_with(due.run, spec, due.readings)
        if fields is None:
            fields = fields_of(due.readings, spec, due.run.engine_version)
    except ModelDamagedError as error:
        # What it was composed on reads it, as any document that comes from now on.
        log.warning("document restarted", reason=error.code)
        restart_document(actor=SYSTEM, document_id=due.run.document_id, run_id=run_id)
        return
    complete_run(
        actor=SYSTEM,
        run=due.run,
        spec=spec,
        fields=fields,
        failures=due.failures,
        suggestion=suggested_type(due.run.document, due.readings[0]),
        cpu_seconds=due.cpu_seconds,
    )


def _give_up_routing(run_id: int) -> None:
    """Send a document to a person with none of its fields filled: each attempt to make them ended in an error."""
    log.warning("routing given up", run=run_id)
    run = run_being_read(run_id)
    if run is not None:
        spec = spec_of(run.schema_version)
        complete_run(actor=SYSTEM, run=run, spec=spec, fields=nothing_of(spec), failures=(ROUTING_FAILED,))


@task
def free_dead_claims() -> None:
    """Take over what other processes of this host died on; run by each worker process as it starts."""
    n_freed = free_claims()
    if n_freed:
        log.warning("work taken back from a dead worker", n=n_freed)


@task
def warm_up_models() -> None:
    """Load what reads in this process before it takes pages; run by each worker process that reads them."""
    load_declared_models()


@task
def sweep(*, is_engine_checked: bool = True) -> None:
    """Every minute: set going again what stands still, check the engines, throw old things away.

    `is_engine_checked` false leaves the engines alone: a process that is to be forked must not load one.
    """
    if worker_name() and is_engine_checked:
        note_engine(name=worker_name(), engine_error=engine_error())
        note_models(name=worker_name(), errors=model_errors())
    n_freed, n_stalled, n_work = free_claims(), requeue_stalled(), requeue_work()
    give_up_regions(actor=SYSTEM)
    if n_freed or n_stalled or n_work:
        log.warning(
            "set going again",
            claims=n_freed,
            documents=n_stalled,
            **n_work,
        )
    prune()
    prune_incoming()
    forget_old_keys()


@task
def roll_up() -> None:
    """Every minute: add new verdicts and decisions to the roll-ups that pages about accuracy read; learn from them."""
    roll_up_reviews()
    request_due_trainings()
