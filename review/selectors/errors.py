"""What was read wrong: the newest corrections with the place they were read from, and which characters were confused.

Rows read have a limit, so that a page costs the same with ten corrections and with a million.
"""

from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils import timezone

from review.accuracy.confusions import Confusion, most_frequent
from review.accuracy.estimators import WEIGHTS, Moments, hajek
from review.accuracy.intervals import AccuracyEstimate
from review.accuracy.reliability import WeightedReliability, weighted_reliability
from review.models import (
    AccuracyRollup,
    DocumentType,
    FieldPrediction,
    FieldReview,
    PolicyState,
    Population,
    Project,
    RoutingPolicy,
)
from review.selectors.accuracy import TREND_DAYS, today

PAGE_SIZE = 25
MAX_EXAMINED = 5_000
MAX_CORRECTIONS = 2_000
_MOMENTS = ("n", "sum_w", "sum_wy", "sum_w2", "sum_w2y")


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One correction: what the reader gave, what stands on the page, and where it was read, if anywhere."""

    review: FieldReview
    raw_text: str | None
    page_number: int | None
    bbox: tuple[float, float, float, float] | None


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that changed on a day: a policy came into force, or an engine version was first examined."""

    day: date
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class EngineTrend:
    """Accuracy by day of one engine version."""

    engine: str
    points: tuple[tuple[date, AccuracyEstimate], ...]


def error_rows(
    project: Project, *, document_type: DocumentType | None = None, field_path: str = "", before: int = 0
) -> tuple[list[ErrorRow], bool]:
    """Return a page of corrections, newest first, and whether older ones follow. Two queries."""
    place = FieldPrediction.objects.filter(run=OuterRef("task__run"), field_path=OuterRef("field_path"))
    reviews = _wrong(project, document_type, field_path).select_related(
        "document__project", "document_type", "reviewer"
    )
    reviews = reviews.annotate(prediction_id=Subquery(place.values("pk")[:1])).order_by("-id")
    if before:
        reviews = reviews.filter(pk__lt=before)
    found = list(reviews[: PAGE_SIZE + 1])
    ids = [one.prediction_id for one in found[:PAGE_SIZE]]
    places = {one.pk: one for one in FieldPrediction.objects.filter(pk__in=ids).defer("evidence", "findings")}
    rows = [_error_row(one, places.get(one.prediction_id)) for one in found[:PAGE_SIZE]]
    return rows, len(found) > PAGE_SIZE


def newest_checked_type(project: Project) -> int | None:
    """Return the id of the document type of which somebody checked a field last, None where nobody did. One query."""
    labels = FieldReview.objects.filter(project=project).order_by("-id")
    return labels.values_list("document_type_id", flat=True).first()


def character_confusions(
    project: Project, *, document_type: DocumentType | None = None, field_path: str = "", limit: int = 20
) -> list[Confusion]:
    """Return the most frequent confusions in the newest corrections, one query."""
    wrong = _wrong(project, document_type, field_path).filter(predicted_value__isnull=False, value__isnull=False)
    newest = wrong.order_by("-id").values_list("predicted_value", "value")[:MAX_CORRECTIONS]
    return most_frequent(((str(read), str(truth)) for read, truth in newest), limit)


def reliability_of(
    document_type: DocumentType, field_path: str, *, population: Population | str = Population.READER
) -> list[WeightedReliability]:
    """Return promise and accuracy by confidence bucket from the newest examined fields of one path, one query."""
    weigh = WEIGHTS[Population(population)]
    examined = _of_path(FieldReview.objects.filter(document_type=document_type), field_path)
    examined = examined.filter(is_in_sample=True, is_correct__isnull=False).order_by("-id")
    rows = list(examined.values_list("confidence", "is_correct", "inclusion_probability")[:MAX_EXAMINED])
    return weighted_reliability(
        [row[0] for row in rows], [bool(row[1]) for row in rows], [weigh(row[2]) for row in rows]
    )


def trend_by_engine(
    document_type: DocumentType,
    field_path: str,
    *,
    population: Population | str = Population.READER,
    n_days: int = TREND_DAYS,
) -> list[EngineTrend]:
    """Return accuracy by day for each engine version with labels in the last `n_days` days, one query."""
    cells = AccuracyRollup.objects.filter(
        project=document_type.project_id,
        document_type=document_type,
        field_path=field_path,
        population=Population(population),
        day__gt=today() - timedelta(days=n_days),
        n__gt=0,
    )
    names = ("engine_version__name", "engine_version__digest", "day")
    sums = cells.order_by().values_list(*names).annotate(*[Sum(name) for name in _MOMENTS]).order_by(*names)
    found: dict[str, list[tuple[date, AccuracyEstimate]]] = {}
    for name, digest, day, n, *others in sums:
        found.setdefault(f"{name} {digest[:8]}", []).append((day, hajek(Moments(int(n), *others))))
    return [EngineTrend(engine, tuple(points)) for engine, points in found.items()]


def marks_of(document_type: DocumentType, *, n_days: int = TREND_DAYS) -> list[Mark]:
    """Return the changes of policy and engine in the last `n_days` days, oldest first. Two queries."""
    since = today() - timedelta(days=n_days)
    policies = RoutingPolicy.objects.filter(document_type=document_type, activated_at__date__gt=since)
    policies = policies.exclude(state=PolicyState.DRAFT)
    marks = [
        Mark(timezone.localtime(policy.activated_at).date(), "policy", str(policy.number))
        for policy in policies
        if policy.activated_at is not None
    ]
    firsts = AccuracyRollup.objects.filter(
        project=document_type.project_id, document_type=document_type, day__isnull=False
    )
    names = ("engine_version__name", "engine_version__digest")
    for name, digest, day in firsts.order_by().values_list(*names).annotate(Min("day")):
        if day > since:
            marks.append(Mark(day, "engine", f"{name} {digest[:8]}"))
    return sorted(marks, key=lambda mark: (mark.day, mark.kind, mark.name))


def _wrong(project: Project, document_type: DocumentType | None, field_path: str) -> QuerySet[FieldReview]:
    wrong = FieldReview.objects.filter(project=project, is_correct=False)
    if document_type is not None:
        wrong = wrong.filter(document_type=document_type)
    return _of_path(wrong, field_path) if field_path else wrong


def _of_path(reviews: QuerySet[FieldReview], field_path: str) -> QuerySet[FieldReview]:
    """Narrow to a field, or to every row of a column whose path has `*` for the row."""
    if "*" not in field_path:
        return reviews.filter(field_path=field_path)
    group, _, column = field_path.partition("/*/")
    return reviews.filter(Q(field_path__startswith=f"{group}/") & Q(field_path__endswith=f"/{column}"))


def _error_row(review: FieldReview, place: FieldPrediction | None) -> ErrorRow:
    box = place.bbox if place is not None else None
    return ErrorRow(
        review=review,
        raw_text=place.raw_text if place is not None else None,
        page_number=place.page_number if place is not None else None,
        bbox=(box[0], box[1], box[2], box[3]) if box else None,
    )
