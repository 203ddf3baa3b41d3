"""How one page is read: by an OCR engine alone, or by two readers, words first and a language model's answer (R5).

What a language model is asked is settled by the first page of a run and the same for all its pages, so that a page
which is read again, by whichever process, is the same read: found in the cache if it was done before.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils import timezone

from inference.errors import (
    AnswerLostError,
    EngineDiedError,
    EngineError,
    InferenceError,
    SharedLossError,
    UnreadableFileError,
)
from inference.fields.cross_rules import cross_findings
from inference.fields.extract import extract
from inference.imaging.similarity import is_same_at_reading_resolution
from inference.registry import engine_for, forget_engine
from inference.types import (
    MAX_DISTANCE,
    DocumentTypeSpec,
    FieldReading,
    PageImage,
    PageReading,
    PageRequest,
    VlmSpec,
    hamming_distance,
    request_digest,
)
from review.actions.evaluation import register_engine
from review.actions.reading import ClaimedPage
from review.actions.readings import keep_reading, settle_request
from review.models import EngineVersion, ExtractionRun, Page
from review.selectors.engines import base_id_of, base_of, is_foreign, vlm_spec_of
from review.selectors.reading import ReadingKey, cached_reading_id, newest_readings, page_with_content, reading_by_id
from review.selectors.schemas import spec_of
from review.selectors.suspects import is_served, was_alone
from review.tasks_engines import Reader, identity_of, noting_engine
from review.tasks_examples import choose_examples, content_of_examples, load_examples
from review.tasks_files import load_page
from review.tasks_models import calibrate_of, scorer_of

PROPOSALS = 3
"""So many pages of the same look are compared pixel by pixel before a page is read."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What came of reading a page: the reading, or the id of one in the cache.

    After a `failure` of the language model, which is for good, it is the id of the words alone.
    """

    reading: PageReading | int
    is_near_duplicate: bool = False
    failure: InferenceError | None = None


@dataclass(frozen=True, slots=True)
class PageWords:
    """What the OCR reader found on a page, kept as the reading `reading_id`; `cpu_seconds` were spent on it now."""

    reading_id: int
    reading: PageReading
    cpu_seconds: float


def read_claimed_page(claim: ClaimedPage, reader: Reader, image: PageImage | None = None) -> ReadPage:
    """Read a claimed page, or find it read.

    One deadline holds for all of it, from here on: what the words take, the language model does not have. Raise
    EngineError, UnreadableFileError where nothing can be read, EngineUnavailableError where it can be later, and
    AnswerLostError where it broke off and another attempt is left.
    """
    until = time.monotonic() + settings.STET_MODEL_SECONDS
    page = claim.page_read.page
    if reader.vlm is not None:
        settle(claim.run, reader.vlm, image if page.page_number == 1 else None)
    cached = cached_reading_id(claim.reading_key)
    if cached is not None:
        return ReadPage(cached)
    image = image or load_page(str(page.image.name), page.page_number)
    near = near_duplicate(image, claim.reading_key, page.perceptual_hash)
    if near is not None:
        return ReadPage(near, is_near_duplicate=True)
    if reader.vlm is None:
        return _read_alone(claim, reader, image)
    words = words_of(image, claim.reading_key, reader.vlm.words_by, page.perceptual_hash)
    try:
        with noting_engine(base_of(claim.run.engine_version)):
            request = asking(request_of(claim.run), words, until - time.monotonic())
            reading = reader.engine.read_page(image, request)
    except EngineError as failure:
        return ReadPage(words.reading_id, failure=failure)
    except AnswerLostError as lost:
        if isinstance(lost, EngineDiedError):
            forget_engine(reader.engine)
        if has_broken_off(lost) and _was_beside_others(claim):
            raise SharedLossError(lost) from None
        if not claim.is_last_attempt:
            raise
        return ReadPage(words.reading_id, failure=lost)
    return ReadPage(replace(reading, cpu_seconds=reading.cpu_seconds + words.cpu_seconds))


def has_broken_off(error: InferenceError) -> bool:
    """Whether an engine broke off on a page, of which it may have died; not so one that was only slow."""
    return isinstance(error, AnswerLostError) and error.code == "answer_lost"


def _was_beside_others(claim: ClaimedPage) -> bool:
    version = claim.run.engine_version
    return is_served(version) and not was_alone(claim.page_read, base_id_of(version))


def _read_alone(claim: ClaimedPage, reader: Reader, image: PageImage) -> ReadPage:
    if is_foreign(claim.run.engine_version):
        # Its fields came with the document: what is missing are the words, which are the OCR engine's own.
        digest = claim.page_read.page.perceptual_hash
        return ReadPage(words_of(image, claim.reading_key, reader.engine.name, digest).reading_id)
    with noting_engine():
        return ReadPage(reader.engine.read_page(image))


def near_duplicate(image: PageImage, key: ReadingKey, digest: str) -> int | None:
    """Return the reading of a page that is the same at reading resolution, among the newest of its kind (S7).

    The hashes propose, nearest first; the pixels decide.
    """
    if not digest or not settings.STET_NEAR_DUPLICATE_PAGES:
        return None
    found = newest_readings(key, settings.STET_NEAR_DUPLICATE_PAGES)
    ranked = sorted((hamming_distance(digest, one.perceptual_hash), -one.reading_id, one) for one in found)
    for distance, _, one in ranked[:PROPOSALS]:
        page = page_with_content(key.project_id, one.content_hash) if distance <= MAX_DISTANCE else None
        if page is not None and _is_same(image, page):
            return one.reading_id
    return None


def _is_same(image: PageImage, page: Page) -> bool:
    try:
        return is_same_at_reading_resolution(image, load_page(str(page.image.name), page.page_number))
    except (UnreadableFileError, OSError):
        # Its file is gone: it proves nothing.
        return False


def words_of(image: PageImage, key: ReadingKey, words_by: str, perceptual_hash: str = "") -> PageWords:
    """Have the OCR engine `words_by` read the page of `key`, or find it read, under that engine's own version."""
    with noting_engine():
        engine = engine_for(words_by)
        version = register_engine(engine=identity_of(engine))
        own_key = ReadingKey(key.project_id, version.pk, key.content_hash)
        cached = cached_reading_id(own_key)
        if cached is not None:
            return PageWords(cached, reading_by_id(cached), cpu_seconds=0.0)
        reading = engine.read_page(image)
    kept = keep_reading(key=own_key, reading=reading, perceptual_hash=perceptual_hash)
    return PageWords(kept, reading, reading.cpu_seconds)


def settle(run: ExtractionRun, vlm: VlmSpec, image: PageImage | None = None) -> None:
    """Settle what a run asks a language model, unless that is done; `image` is its first page, if that is at hand."""
    if run.request_digest:
        return

    def words(page: Page) -> PageReading:
        shown = image or load_page(str(page.image.name), page.page_number)
        key = ReadingKey(run.document.project_id, base_id_of(run.engine_version), page.content_hash)
        return words_of(shown, key, vlm.words_by, page.perceptual_hash).reading

    run.examples = choose_examples(run, words)
    settle_request(run=run, request_digest=request_of(run).digest, examples=run.examples)


def request_of(run: ExtractionRun) -> PageRequest:
    """Return what a run asks for on each of its pages, without the words of the page; raise EngineUnavailableError."""
    schema, examples = run.schema_version, load_examples(run.examples)
    return PageRequest(spec_of(schema), schema.schema, examples, words_version=_words_version_of(run))


def is_asked_otherwise(run: ExtractionRun) -> bool:
    """Whether a run was settled for other questions, or for other words, than would be asked with now.

    So it is after an upgrade in the middle of a run: what its remaining pages were kept under would not be what they
    were asked. Raise EngineUnavailableError where it cannot be told who reads the words.
    """
    if not run.request_digest:
        return False
    asked = request_digest(run.schema_version.schema, content_of_examples(run.examples), _words_version_of(run))
    return asked != run.request_digest


def words_version(words_by: str) -> str:
    """Return the digest of the version in which the OCR engine reads words now; raise EngineUnavailableError."""
    with noting_engine():
        return identity_of(engine_for(words_by)).digest


def _words_version_of(run: ExtractionRun) -> str:
    vlm = vlm_spec_of(run.engine_version)
    return words_version(vlm.words_by) if vlm is not None else ""


def asking(request: PageRequest, words: PageWords, seconds: float | None = None) -> PageRequest:
    """Return the request for one page: the words that were found on it go along, and the time that is left for it."""
    return replace(request, words=words.reading.words, seconds=seconds)


def fields_of(
    readings: Sequence[PageReading], spec: DocumentTypeSpec, version: EngineVersion | None = None
) -> tuple[FieldReading, ...]:
    """Return a document's fields from the readings of its pages, checked against the rules between them.

    They are found and weighed by what `version` has learned, if anything; raise ModelDamagedError.
    """
    found = cross_findings(extract(readings, spec, scorer_of(version)), spec, timezone.localdate())
    calibrate = calibrate_of(version)
    return found if calibrate is None else calibrate(found)


def nothing_of(spec: DocumentTypeSpec) -> tuple[FieldReading, ...]:
    """Return a document's fields where nothing is known of any: a person fills them in."""
    return tuple(FieldReading(field.path, None, None, None, {}, ("not_found",)) for field in spec.fields)
