"""An engine is measured on a frozen set: read (or taken from the cache), located, compared. Nothing is routed."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import django

from inference.errors import AnswerLostError, EngineError, InferenceError, UnreadableFileError
from inference.fields.normalise.comparison import comparable
from inference.imaging.hashing import content_hash
from inference.imaging.pages import open_pages
from inference.registry import engine_for
from inference.types import (
    DocumentTypeSpec,
    FieldSpec,
    PageImage,
    PageReading,
    PageRequest,
    VlmSpec,
    page_digest,
)
from review.accuracy.evaluation import FieldCase, field_result
from review.accuracy.outcomes import packed
from review.actions.evaluation import record_evaluation, register_engine
from review.actions.intake import file_limits
from review.actions.readings import keep_attempts, keep_reading
from review.models import EngineVersion, EvaluationRun, RegressionItem, RegressionSet
from review.selectors.access import Actor
from review.selectors.engines import access_engine_version
from review.selectors.evaluation import access_item, items_of
from review.selectors.reading import ReadingKey, cached_reading_id, reading_by_id
from review.selectors.schemas import field_spec_at, spec_of
from review.tasks_engines import Reader, exact_reader, identity_of
from review.tasks_files import local_path
from review.tasks_reading import asking, fields_of, words_of, words_version

Tell = Callable[[int, int], None]


@dataclass(slots=True)
class ItemOutcome:
    """What one document of the set came to. CPU seconds of a cached page are those of when it was read."""

    item_id: int
    name: str
    cases: dict[str, FieldCase] = field(default_factory=dict)
    n_pages: int = 0
    n_cached: int = 0
    reading_cpu_seconds: float = 0.0
    location_cpu_seconds: float = 0.0
    error_code: str = ""

    @property
    def is_correct(self) -> dict[str, bool]:
        """Return which fields came out right, by field path."""
        return {path: case.is_correct for path, case in self.cases.items()}


def evaluate_set(
    *,
    actor: Actor,
    regression_set: RegressionSet,
    engine_name: str = "",
    engine_version: EngineVersion | None = None,
    limit: int | None = None,
    is_fresh: bool = False,
    n_processes: int = 1,
    tell: Tell = lambda _done, _of: None,
) -> EvaluationRun:
    """Measure an engine, or an engine version, on the set or its first `limit` documents; keep the results.

    A language model is shown no examples: what it is shown in earnest changes from week to week. Readings are cached
    by project, engine version, pixels and request; `is_fresh` reads every page again. `tell` hears how many documents
    are done. Raise UnknownEngineError, EngineUnavailableError.
    """
    started = time.perf_counter()
    version_id = engine_version.pk if engine_version is not None else None
    measured, _ = _reader(engine_name, version_id)
    engine_version = register_engine(engine=measured.identity)
    ids = [item.pk for item in items_of(regression_set, limit=limit)]
    outcomes = []
    evaluate = partial(evaluate_item, engine_name=engine_name, version_id=version_id, is_fresh=is_fresh)
    for outcome in _outcomes(ids, evaluate, n_processes=n_processes):
        outcomes.append(outcome)
        tell(len(outcomes), len(ids))
    results = results_of(outcomes, spec_of_set(regression_set))
    results["wall_seconds"] = time.perf_counter() - started
    results["engine"] = {"name": engine_version.name, "digest": engine_version.digest}
    results["set"] = {
        "name": regression_set.name,
        "number": regression_set.number,
        "digest": regression_set.digest,
        "n_items": regression_set.n_items,
    }
    return record_evaluation(
        actor=actor,
        regression_set=regression_set,
        engine_version_id=engine_version.pk,
        results=results,
        outcomes=packed({str(outcome.item_id): outcome.is_correct for outcome in outcomes}),
    )


def _reader(engine_name: str, version_id: int | None) -> tuple[Reader, EngineVersion | None]:
    if version_id is not None:
        version = access_engine_version(str(version_id))
        return exact_reader(version), version
    engine = engine_for(engine_name)
    return Reader(engine, identity_of(engine)), None


def installed_version(engine_name: str) -> EngineVersion:
    """Return the version of an OCR engine as it is installed; raise EngineUnavailableError, UnknownEngineError."""
    return register_engine(engine=identity_of(engine_for(engine_name)))


def _outcomes(ids: Sequence[int], evaluate: Callable[[int], ItemOutcome], *, n_processes: int) -> Iterator[ItemOutcome]:
    if n_processes == 1:
        yield from map(evaluate, ids)
        return
    # New processes, not forks: an engine and a database connection must not be shared.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(n_processes, mp_context=context, initializer=django.setup) as pool:
        yield from pool.map(evaluate, ids)


def evaluate_item(
    item_id: int, *, engine_name: str = "", version_id: int | None = None, is_fresh: bool = False
) -> ItemOutcome:
    """Read one document of a set and compare each field that has a truth; a failure leaves every field missing."""
    item = access_item(item_id)
    outcome = ItemOutcome(item.pk, item.name)
    spec = spec_of_set(item.regression_set)
    predicted: dict[str, tuple[str | None, float | None]] = {}
    try:
        reader, version = _reader(engine_name, version_id)
        readings = _read(item, reader, outcome, is_fresh=is_fresh)
        started = time.process_time()
        located = fields_of(readings, spec, version)
        outcome.location_cpu_seconds = time.process_time() - started
        predicted = {found.field_path: (found.value, found.confidence) for found in located}
    except (UnreadableFileError, EngineError, AnswerLostError) as error:
        outcome.error_code = error.code
    for path, truth in item.truth.items():
        known = field_spec_at(spec, path)
        if known is not None:
            value, confidence = predicted.get(path, (None, None))
            outcome.cases[path] = FieldCase(_comparable(truth, known), _comparable(value, known), confidence)
    return outcome


def _read(item: RegressionItem, reader: Reader, outcome: ItemOutcome, *, is_fresh: bool) -> list[PageReading]:
    version = register_engine(engine=reader.reads_as)
    request = _request(item.regression_set, reader.vlm) if reader.vlm is not None else None
    readings = []
    with local_path(str(item.original.name)) as path:
        for opened in open_pages(path, file_limits()):
            key = ReadingKey(
                item.regression_set.project_id,
                version.pk,
                content_hash(opened.image),
                page_digest(request.digest, opened.image.page_number) if request is not None else "",
            )
            reading = _read_page(opened.image, key, reader, request, outcome, is_fresh=is_fresh)
            outcome.n_pages += 1
            outcome.reading_cpu_seconds += reading.cpu_seconds
            readings.append(reading)
    return readings


def _request(regression_set: RegressionSet, vlm: VlmSpec) -> PageRequest:
    version = regression_set.document_type.active_version
    return PageRequest(
        spec_of_set(regression_set),
        version.schema if version is not None else {},
        words_version=words_version(vlm.words_by),
    )


def _read_page(
    image: PageImage,
    key: ReadingKey,
    reader: Reader,
    request: PageRequest | None,
    outcome: ItemOutcome,
    *,
    is_fresh: bool,
) -> PageReading:
    cached = None if is_fresh else cached_reading_id(key)
    if cached is not None:
        outcome.n_cached += 1
        return reading_by_id(cached)
    if reader.vlm is None or request is None:
        reading = reader.engine.read_page(image)
    else:
        words = words_of(image, key, reader.vlm.words_by)
        try:
            reading = reader.engine.read_page(image, asking(request, words))
        except InferenceError as failure:
            keep_attempts(key=key, attempts=failure.attempts, error_code=failure.code)
            raise
        reading = replace(reading, cpu_seconds=reading.cpu_seconds + words.cpu_seconds)
    keep_reading(key=key, reading=reading)
    return reading


def _comparable(value: str | None, spec: FieldSpec) -> str | None:
    return comparable(str(value), spec.value_type, spec.locale) if value not in (None, "") else None


def spec_of_set(regression_set: RegressionSet) -> DocumentTypeSpec:
    """Return the specs by which a set's fields are compared: those of the type's active version."""
    version = regression_set.document_type.active_version
    if version is None:
        raise ValueError("the document type of this set has no schema version")
    return spec_of(version)


def results_of(outcomes: Sequence[ItemOutcome], spec: DocumentTypeSpec) -> dict[str, Any]:
    """Return what `manage.py evaluate --json` prints: figures by field, without the leading slash of its path.

    Fields are in the schema's order. `seconds_per_page` is CPU seconds of reading and locating, without opening the
    file; None where no page was read.
    """
    paths = [known.path for known in spec.fields]
    given = {path for outcome in outcomes for path in outcome.cases}
    cases = {
        path: [outcome.cases[path] for outcome in outcomes if path in outcome.cases]
        for path in sorted(given, key=lambda path: (paths.index(path) if path in paths else len(paths), path))
    }
    n_pages = sum(outcome.n_pages for outcome in outcomes)
    reading = sum(outcome.reading_cpu_seconds for outcome in outcomes)
    location = sum(outcome.location_cpu_seconds for outcome in outcomes)
    return {
        "fields": {path.removeprefix("/"): field_result(found).as_json() for path, found in cases.items()},
        "seconds_per_page": (reading + location) / n_pages if n_pages else None,
        "reading_seconds_per_page": reading / n_pages if n_pages else None,
        "location_seconds_per_page": location / n_pages if n_pages else None,
        "n_documents": len(outcomes),
        "n_pages": n_pages,
        "n_cached_pages": sum(outcome.n_cached for outcome in outcomes),
        "failed": {outcome.name: outcome.error_code for outcome in outcomes if outcome.error_code},
    }
