"""A language model goes through an archive: many pages side by side, then each recorded and routed like any other.

A batch is opened, its words are read, the model is asked for all its pages at once, and what it answers goes into the
cache of readings. From there every page takes the way of `review.tasks`: claimed, found in the cache, recorded, routed.
So a back-fill may be killed at any moment and begun anew: what is in the cache is not read again, what was routed is
not routed twice, and a page that a worker took meanwhile is left to that worker. A model that dies, alone or with this
process, does so once a batch: its pages are asked one by one then, and the one that it dies of ends like any other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, cast, runtime_checkable

import structlog
from django.conf import settings

from inference.errors import (
    AnswerLostError,
    EngineDiedError,
    EngineError,
    EngineUnavailableError,
    InferenceError,
    UnreadableFileError,
)
from inference.types import PageImage, PageReading, PageRequest, VlmSpec
from review.actions.batches import begin_batch, end_batch
from review.actions.reading import rerun_document
from review.actions.readings import keep_attempts, keep_reading
from review.actions.recovery import free_claims
from review.exceptions import ConflictError
from review.models import Document, DocumentType, PageRead, Project
from review.selectors.access import SYSTEM
from review.selectors.backfill import documents_of_other_versions, pages_to_read, unread_documents
from review.selectors.reading import ReadingKey, cached_reading_id, key_of
from review.selectors.rollouts import versions_reading
from review.tasks import open_only, read_page, record_read
from review.tasks_engines import Reader, forget_reader, reader_of, version_reader
from review.tasks_files import load_page
from review.tasks_reading import (
    PageWords,
    ReadPage,
    asking,
    is_asked_otherwise,
    near_duplicate,
    request_of,
    settle,
    words_of,
)

log = structlog.get_logger(__name__)
Tell = Callable[["Backfill"], None]


@runtime_checkable
class BatchReader(Protocol):
    """A language model that reads many pages side by side (`inference.engines.vlm.VlmEngine`)."""

    def read_pages(self, asked: list[tuple[PageImage, PageRequest]]) -> list[PageReading | InferenceError]:
        """Read pages; one that fails has its error in its place."""


@dataclass(slots=True)
class Backfill:
    """How far a back-fill has come: documents; pages read, found in the cache, and failed; documents left out.

    A document is left out where a reviewer has begun on it, or has called it unusable, or where an OCR engine reads
    its type: it is left to the workers.
    """

    n_documents: int = 0
    n_read: int = 0
    n_cached: int = 0
    n_failed: int = 0
    n_left_out: int = 0


@dataclass(frozen=True, slots=True)
class _Asked:
    """One page to ask for, with its words and the key under which the answer is kept."""

    page_read: PageRead
    key: ReadingKey
    image: PageImage
    words: PageWords
    request: PageRequest


def backfill(
    project: Project,
    document_type: DocumentType | None = None,
    *,
    is_rereading: bool = False,
    batch_size: int = 32,
    tell: Tell = lambda _done: None,
) -> Backfill:
    """Read what is unread in a project with its language model, `batch_size` documents at a time.

    `is_rereading`: also what another version has read. Raise EngineUnavailableError where the project's engine is no
    language model or cannot be had: what was read before that is kept.
    """
    readers = [version_reader(version, project) for version in versions_reading(project, document_type)]
    if not any(reader.vlm is not None and isinstance(reader.engine, BatchReader) for reader in readers):
        names = ", ".join(sorted({reader.identity.name for reader in readers}))
        raise EngineUnavailableError(f"{names} reads one page at a time: leave it to the workers")
    # What a back-fill before this one held as it died.
    free_claims()
    done = Backfill()
    documents = _documents(project, document_type, done, is_rereading=is_rereading)
    while batch := list(islice(documents, batch_size)):
        for reader, document_ids in _by_reader(batch):
            if reader.vlm is None or not isinstance(reader.engine, BatchReader):
                done.n_left_out += len(document_ids)
                continue
            _read_batch(_opened(document_ids, reader), reader, reader.vlm, done)
            done.n_documents += len(document_ids)
        tell(done)
    return done


def _by_reader(documents: Sequence[Document]) -> Iterator[tuple[Reader, list[int]]]:
    """Yield who reads which of the documents: their types may have different versions."""
    readers: dict[str, Reader] = {}
    ids: dict[str, list[int]] = {}
    for document in documents:
        reader = reader_of(document)
        readers.setdefault(reader.identity.digest, reader)
        ids.setdefault(reader.identity.digest, []).append(document.pk)
    yield from ((reader, ids[digest]) for digest, reader in readers.items())


def _documents(
    project: Project, document_type: DocumentType | None, done: Backfill, *, is_rereading: bool
) -> Iterator[Document]:
    yield from unread_documents(project, document_type)
    for document in documents_of_other_versions(project, document_type) if is_rereading else ():
        try:
            yield rerun_document(actor=SYSTEM, document=document)
        except ConflictError:
            done.n_left_out += 1


def _opened(document_ids: list[int], reader: Reader) -> list[PageRead]:
    """Return the unread pages of documents; one that another version has begun on begins anew."""
    for document_id in document_ids:
        open_only(document_id)
    reads = pages_to_read(document_ids)
    begun = {
        one.run_id: one
        for one in reads
        if one.run.engine_version.digest != reader.identity.digest or is_asked_otherwise(one.run)
    }
    for one in begun.values():
        read_page(one.pk)
        open_only(one.run.document_id)
    return pages_to_read(document_ids) if begun else reads


def _read_batch(reads: list[PageRead], reader: Reader, vlm: VlmSpec, done: Backfill) -> None:
    asked = list(_misses(reads, vlm))
    answers, has_died = _answers(reader, [one for one in asked if not one.page_read.n_attempts])
    failures: dict[int, ReadPage] = {}
    for one in asked:
        answer = answers.get(one.page_read.pk)
        if isinstance(answer, PageReading):
            digest = one.page_read.page.perceptual_hash
            keep_reading(key=one.key, reading=answer, perceptual_hash=digest, page_read_id=one.page_read.pk)
        elif isinstance(answer, EngineError):
            failures[one.page_read.pk] = ReadPage(one.words.reading_id, failure=answer)
        elif answer is not None and answer.attempts:
            # It went away between two questions. The page is read by itself below, and says what becomes of it.
            attempts, page_read_id = answer.attempts, one.page_read.pk
            keep_attempts(key=one.key, attempts=attempts, error_code=answer.code, page_read_id=page_read_id)
    done.n_failed += len(failures)
    done.n_read += sum(isinstance(answer, PageReading) for answer in answers.values())
    done.n_cached += len(reads) - len(asked)
    for page_read in reads:
        failure = failures.get(page_read.pk)
        if failure is not None:
            record_read(page_read.pk, failure)
        else:
            read_page(page_read.pk)
    if has_died:
        _read_alone(reads)


def _answers(reader: Reader, asked: Sequence[_Asked]) -> tuple[dict[int, PageReading | InferenceError], bool]:
    """Return what each page met, by the id of its page read, and whether the model went away with some in hand.

    Of a model that died nobody knows which page it died of: each is read by itself then, with a model that is built
    anew. So is, from the start, what was in a batch that took its process with it: its attempt is still counted.
    """
    if not asked:
        return {}, False
    engine = cast("BatchReader", reader.engine)
    counted = begin_batch(page_read_ids=[one.page_read.pk for one in asked])
    try:
        met = engine.read_pages([(one.image, asking(one.request, one.words)) for one in asked])
    except EngineDiedError as died:
        met = [died for _ in asked]
    finally:
        end_batch(page_read_ids=counted)
    has_gone = any(isinstance(one, EngineUnavailableError) and not _broke_off_on_it(one) for one in met)
    if has_gone:
        forget_reader(reader)
    return {one.page_read.pk: answer for one, answer in zip(asked, met, strict=True)}, has_gone


def _broke_off_on_it(error: InferenceError) -> bool:
    """Whether a model broke off on a page and lives on for the others."""
    return isinstance(error, AnswerLostError) and not isinstance(error, EngineDiedError)


def _read_alone(reads: Sequence[PageRead]) -> None:
    """Read what still waits, page by page and as often as a page may be tried: what kills the model comes to an end.

    Raise EngineUnavailableError where the model cannot be built anew: what was read before that is kept.
    """
    for _ in range(settings.STET_MAX_ATTEMPTS):
        for page_read in pages_to_read(sorted({one.run.document_id for one in reads})):
            reader_of(page_read.run.document)
            read_page(page_read.pk)


def _misses(reads: Iterable[PageRead], vlm: VlmSpec) -> Iterator[_Asked]:
    """Yield what has to be asked; a page whose raster cannot be read is left to its own read, which says so."""
    for page_read in reads:
        page, run = page_read.page, page_read.run
        settle(run, vlm)
        key = key_of(run, page)
        if cached_reading_id(key) is not None:
            continue
        try:
            image = load_page(str(page.image.name), page.page_number)
        except (UnreadableFileError, OSError):
            continue
        if near_duplicate(image, key, page.perceptual_hash) is None:
            words = words_of(image, key, vlm.words_by, page.perceptual_hash)
            yield _Asked(page_read, key, image, words, request_of(run))
