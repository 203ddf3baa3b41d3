"""What labels are worth for a type that Stet has never seen: fields with a name and a kind, and not one hint.

The weights and hints of the shipped receipt were fitted by hand on receipts like these, which leaves little to learn.
Here the same receipts are a type as a manager makes one in a minute: no keywords, no region, no pattern. What the
locator then finds it finds by the kind of the value alone; everything else it must learn from labels. Taught as the
worker's task does it (`tests.bench.taught`), asked about receipts that it never saw.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from inference.document_types import shipped_schema
from inference.fields.extract import extract
from inference.fields.normalise import comparable
from inference.fields.prior import Scorer
from inference.types import DocumentTypeSpec, FieldReading, PageReading, parse_document_type
from review.accuracy.evaluation import FieldCase, FieldResult, field_result
from tests.bench.planting import Truth
from tests.bench.taught import teach

HINTS = ("x-keywords", "x-keywords-against", "x-keywords-inside", "x-region", "x-pattern")
RULES = ("x-rules",)

Find = Callable[[PageReading], Iterable[FieldReading]]


class Taught(NamedTuple):
    """How well fields are found after so many labelled receipts, and the CPU seconds of learning from them."""

    n_labels: int
    fields: Mapping[str, FieldResult]
    cpu_seconds: float


def bare_spec() -> DocumentTypeSpec:
    """Return the shipped receipt without a hint: names, kinds, and over how many lines a value may go."""
    schema = {name: value for name, value in shipped_schema("receipt").items() if name not in RULES}
    bare: dict[str, Any] = {
        name: {key: value for key, value in field.items() if key not in HINTS}
        for name, field in schema["properties"].items()
    }
    return parse_document_type({**schema, "properties": bare})


def curve(
    taught: Sequence[Truth], asked: Sequence[Truth], steps: Sequence[int], spec: DocumentTypeSpec, seed: int
) -> Iterator[Taught]:
    """Yield how well `asked` is found with no label, then after each number of labelled receipts."""
    yield Taught(0, found_by(asked, spec, lambda reading: extract([reading], spec)), 0.0)
    for n_labels in steps:
        started = time.process_time()
        find = partial(_find, spec, teach(taught[:n_labels], spec, seed))
        cpu_seconds = time.process_time() - started
        yield Taught(min(n_labels, len(taught)), found_by(asked, spec, find), cpu_seconds)


def _find(spec: DocumentTypeSpec, scorer: Scorer | None, reading: PageReading) -> Sequence[FieldReading]:
    return extract([reading], spec, scorer)


def found_by(asked: Sequence[Truth], spec: DocumentTypeSpec, find: Find) -> dict[str, FieldResult]:
    """Return how well fields with a printed value are found."""
    cases: dict[str, list[FieldCase]] = {field.path: [] for field in spec.fields}
    for truth in asked:
        for found in find(truth.reading):
            field, printed = spec.spec_of(found.field_path), truth.values.get(found.field_path)
            if field is not None and printed:
                read = comparable(found.value, field.value_type, field.locale) if found.value else None
                right = comparable(printed, field.value_type, field.locale)
                cases[field.path].append(FieldCase(right, read, found.confidence))
    return {path: field_result(found) for path, found in cases.items()}
