"""What people settled on one field of one document, held against the candidates that were found for it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

from inference.fields.learned import PROPOSED
from inference.fields.normalise import TYPED, comparable, folded
from inference.fields.prior import PriorScorer
from inference.types import FieldSpec

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

SAME_TEXT = 0.8
"""Running text that shares so much with what is right is the right place, read wrongly."""


class Outcome(StrEnum):
    """Whether what is right was among the candidates; READ_WRONG and NO_CANDIDATE need different cures."""

    MATCHED = "matched"
    READ_WRONG = "read_wrong"
    NO_CANDIDATE = "no_candidate"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class FieldExample:
    """One field of one document: its candidates, best first as the prior sees them, and which of them are right.

    `keys` tell values apart (`inference.fields.score.choose`); `is_right` is what a reader is judged by, `is_taught`
    what it learns: where the right text was read wrongly, its place. Of an ABSENT field nothing is either.
    """

    document: str
    field_path: str
    outcome: Outcome
    features: Sequence[Mapping[str, float]]
    prior: Floats
    keys: Sequence[str]
    is_right: Flags
    is_taught: Flags


def field_example(
    document: str, spec: FieldSpec, candidates: Sequence[Mapping[str, Any]], truth: str | None
) -> FieldExample:
    """Hold the settled value of a field (None: the page shows none) against stored candidates.

    `candidates` are those of `FieldReading.candidates_as_json`; several values of one span are one candidate.
    """
    spans = [span for _, span in sorted(_spans(candidates, spec).items(), key=lambda item: item[0])]
    scores = PriorScorer().score(spec, [span.features for span in spans])
    order = sorted(range(len(spans)), key=lambda row: -scores[row])[:PROPOSED]
    kept = [spans[row] for row in order]
    right = _comparable(truth, spec)
    is_right = np.array([right is not None and right in span.values for span in kept], dtype=bool)
    outcome, is_taught = _matched(kept, spec, right, is_right)
    return FieldExample(
        document=document,
        field_path=spec.path,
        outcome=outcome,
        features=[span.features for span in kept],
        prior=np.array([scores[row] for row in order], dtype=np.float64),
        keys=[span.key for span in kept],
        is_right=is_right,
        is_taught=is_taught,
    )


@dataclass(frozen=True, slots=True)
class _Span:
    text: str
    key: str
    values: frozenset[str]
    features: Mapping[str, float]


def _spans(candidates: Iterable[Mapping[str, Any]], spec: FieldSpec) -> dict[int, _Span]:
    """Return the spans in the order of their best candidate."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for one in candidates:
        found.setdefault((one["text"], one["page_number"], *one["bbox"]), []).append(one)
    return {number: _span(same, spec) for number, same in enumerate(found.values())}


def _span(same: Sequence[Mapping[str, Any]], spec: FieldSpec) -> _Span:
    text = str(same[0]["text"])
    values = {known for one in same if (known := _comparable(one["value"], spec)) is not None}
    # Of several meanings none was chosen: the text stands for itself, as where it has none.
    value = same[0]["value"] if len(same) == 1 else None
    key = f"?{text}" if value is None else str(value) if spec.value_type in TYPED else folded(str(value))
    return _Span(text, key, frozenset(values) if len(same) == 1 else frozenset(), same[0]["features"])


def _comparable(value: Any, spec: FieldSpec) -> str | None:  # noqa: ANN401 - whatever JSON holds
    return comparable(str(value), spec.value_type, spec.locale) if value not in (None, "") else None


def _matched(spans: Sequence[_Span], spec: FieldSpec, right: str | None, is_right: Flags) -> tuple[Outcome, Flags]:
    if right is None:
        return Outcome.ABSENT, np.zeros(len(spans), dtype=bool)
    if is_right.any():
        return Outcome.MATCHED, is_right
    nearness = np.array([_nearness(span, spec, right) for span in spans], dtype=np.float64)
    if not len(nearness) or nearness.max() < SAME_TEXT:
        return Outcome.NO_CANDIDATE, np.zeros(len(spans), dtype=bool)
    # One amount that differs from another by a digit is a misread one, or simply another: nothing to learn from.
    is_taught = (nearness == nearness.max()) & (spec.value_type not in TYPED)
    return Outcome.READ_WRONG, is_taught


def _nearness(span: _Span, spec: FieldSpec, right: str) -> float:
    found = next(iter(span.values), None) or _comparable(span.text, spec) or ""
    return float(Levenshtein.normalized_similarity(found, right))
