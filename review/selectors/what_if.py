"""What other thresholds would have done with the documents of the last days, and how wrong they would be.

The number of rows read has a limit: the newest documents and the newest examined fields, which are also those that
say most about what comes next. All of them were read by one engine version, the one that reads now: a confidence of
another version promises something else.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from review.accuracy.estimators import Moments, hajek
from review.accuracy.intervals import AccuracyEstimate
from review.exceptions import InvalidInputError
from review.models import (
    DocumentType,
    EngineVersion,
    FieldDecision,
    FieldPrediction,
    FieldReview,
    RoutingDecision,
)
from review.routing.bands import Band
from review.routing.paths import column_path
from review.routing.policy import PolicyError, PolicyRules
from review.routing.what_if import RoutedField, WhatIf, unseen_weight_under, what_if
from review.selectors.rollouts import champion_of
from review.selectors.schemas import required_paths, spec_of

N_DAYS = 30
MAX_DOCUMENTS = 4_000
MAX_ROWS = 20_000
ENOUGH = 30
"""With fewer examined fields nothing is said: even all right would leave an error of 12 % possible."""


@dataclass(frozen=True, slots=True)
class ErrorEstimate:
    """The share of wrong values among those that rules would store unseen; `n` examined fields speak for it.

    `is_enough` is false where too few were examined for the interval to say anything.
    """

    point: float | None
    lower: float
    upper: float
    n: int

    @property
    def is_enough(self) -> bool:
        """Whether enough was examined to say something."""
        return self.point is not None and self.n >= ENOUGH

    @classmethod
    def of(cls, accuracy: AccuracyEstimate) -> "ErrorEstimate":
        """Turn the accuracy of values into their error."""
        point = 1 - accuracy.point if accuracy.point is not None else None
        return cls(point, 1 - accuracy.upper, 1 - accuracy.lower, accuracy.n)


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """What one set of rules makes of the documents: bands, and the error of each field among the unseen."""

    bands: WhatIf
    errors: Mapping[str, ErrorEstimate]


@dataclass(frozen=True, slots=True)
class RoutedDocuments:
    """The newest documents as they were routed and the newest examined fields: what every estimate here starts from.

    An examined field comes with the chance with which it was to be examined, and with whether it was right.
    `engine` is the engine version that read all of them, None where nothing was read yet; `has_others` says that other
    versions read documents in these days, which are left out. `is_cut` says that there were more than are read here.
    """

    documents: tuple[tuple[RoutedField, ...], ...]
    examined: tuple[tuple[RoutedField, float, bool], ...]
    required_paths: frozenset[str]
    n_days: int
    is_cut: bool
    engine: EngineVersion | None = None
    has_others: bool = False

    def under(self, rules: PolicyRules) -> PolicyOutcome:
        """Return what `rules` would have made of them."""
        weights: dict[str, tuple[list[float], list[bool]]] = defaultdict(lambda: ([], []))
        for field, probability, is_correct in self.examined:
            w, y = weights[column_path(field.field_path)]
            w.append(unseen_weight_under(rules, field, probability))
            y.append(is_correct)
        errors = {path: ErrorEstimate.of(hajek(Moments.of(w, y))) for path, (w, y) in weights.items()}
        return PolicyOutcome(what_if(self.documents, rules, self.required_paths), errors)


def parse_rules(rules: Mapping[str, Any]) -> PolicyRules:
    """Return rules from plain data; raise InvalidInputError with every problem and its pointer."""
    try:
        return PolicyRules.from_json(rules)
    except PolicyError as error:
        problems = [{"pointer": pointer, "message": message} for pointer, message in error.problems]
        raise InvalidInputError(code=error.code, details={"problems": problems}) from None


def routed_documents(document_type: DocumentType, *, n_days: int = N_DAYS) -> RoutedDocuments:
    """Return what the version that reads now read in the last `n_days` days and what was examined, in four queries."""
    engine = champion_of(document_type)
    in_time = RoutingDecision.objects.filter(
        document__document_type=document_type,
        run__is_current=True,
        created_at__gte=timezone.now() - timedelta(days=n_days),
    )
    decisions = in_time.filter(run__engine_version=engine)
    newest = decisions.order_by("-id").values("pk")[:MAX_DOCUMENTS]
    rows = list(_fields_of(newest)[: MAX_ROWS + 1])
    documents = _grouped(rows[:MAX_ROWS])
    is_cut = len(rows) > MAX_ROWS or len(documents) >= MAX_DOCUMENTS
    if len(rows) > MAX_ROWS:
        # The last document may have lost some of its fields.
        documents = documents[:-1]
    return RoutedDocuments(
        tuple(documents),
        tuple(_examined(document_type, engine)),
        _required(document_type),
        n_days,
        is_cut,
        engine,
        has_others=in_time.exclude(run__engine_version=engine).exists(),
    )


def _fields_of(decisions: Any) -> QuerySet[FieldDecision, tuple[Any, ...]]:  # noqa: ANN401 - a query of ids
    prediction = FieldPrediction.objects.filter(run=OuterRef("decision__run"), field_path=OuterRef("field_path"))
    fields = FieldDecision.objects.filter(decision__in=decisions).annotate(
        confidence=Subquery(prediction.values("confidence")[:1])
    )
    columns = ("decision_id", "field_path", "confidence", "band", "reasons", "decision__interest")
    return fields.order_by("-decision_id", "id").values_list(*columns)


def _grouped(rows: Iterable[Sequence[Any]]) -> list[tuple[RoutedField, ...]]:
    documents: dict[int, list[RoutedField]] = {}
    for decision_id, *of_field in rows:
        documents.setdefault(decision_id, []).append(_field(*of_field))
    return [tuple(fields) for fields in documents.values()]


def _field(
    path: str, confidence: float | None, band: str, reasons: Sequence[str] | None, interest: float | None
) -> RoutedField:
    return RoutedField(path, confidence, Band(band), tuple(reasons or ()), interest)


def _examined(document_type: DocumentType, engine: EngineVersion | None) -> list[tuple[RoutedField, float, bool]]:
    decided = FieldDecision.objects.filter(decision__run=OuterRef("task__run"), field_path=OuterRef("field_path"))
    labels = FieldReview.objects.filter(document_type=document_type, engine_version=engine)
    labels = labels.filter(is_in_sample=True, is_correct__isnull=False)
    labels = labels.annotate(
        reasons=Subquery(decided.values("reasons")[:1]), interest=F("task__run__decision__interest")
    ).order_by("-id")
    columns = ("field_path", "confidence", "band", "reasons", "interest", "inclusion_probability", "is_correct")
    rows = labels.values_list(*columns)[:MAX_ROWS]
    return [(_field(*of_field), probability, bool(is_correct)) for *of_field, probability, is_correct in rows]


def _required(document_type: DocumentType) -> frozenset[str]:
    version = document_type.active_version
    return required_paths(spec_of(version)) if version is not None else frozenset()
