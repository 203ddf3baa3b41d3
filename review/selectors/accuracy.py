"""How accurate and how fast, read from the roll-ups alone: the cost of a page does not grow with history."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import QuerySet, Sum
from django.utils import timezone

from review.accuracy.estimators import Moments, hajek
from review.accuracy.intervals import AccuracyEstimate
from review.accuracy.metrics import BUCKETS
from review.accuracy.rates import automation_rate, pages_per_hour, straight_through_rate
from review.models import AccuracyRollup, DocumentType, EngineVersion, Population, Project, ThroughputRollup
from review.selectors.review_tasks import QueueSummary, queue_summary
from review.selectors.schemas import spec_of

__all__ = [
    "BUCKETS",
    "AccuracyRow",
    "Rates",
    "TrendPoint",
    "accuracy_table",
    "accuracy_trend",
    "both_accuracy_tables",
    "rates",
    "today",
    "types_by_id",
]

DAY_SECONDS = 86_400
TREND_DAYS = 30
RATES_DAYS = 30
_MOMENTS = ("n", "sum_w", "sum_wy", "sum_w2", "sum_w2y")


@dataclass(frozen=True, slots=True)
class AccuracyRow:
    """Accuracy of one field of one type in one population; `bucket` None is all confidences together.

    In the path of a table's column the row is `*`. `n` is how many fields were examined.
    """

    document_type: DocumentType
    field_path: str
    population: Population
    bucket: str | None
    estimate: AccuracyEstimate
    n: int


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """Accuracy of one field of one type in one population on one day."""

    document_type: DocumentType
    field_path: str
    population: Population
    day: date
    estimate: AccuracyEstimate


@dataclass(frozen=True, slots=True)
class Rates:
    """What the machine does alone and how fast. Counts and shares are over the last `n_days` days, today included.

    A rate of nothing is None. `pages_per_hour` is of the last 24 hours (less in a younger project): today's pages
    and, of yesterday's, the share that its part of these hours is of the day. `queue` is as it stands now.
    """

    n_days: int
    n_documents: int
    n_pages: int
    n_auto: int
    n_sampled: int
    n_review: int
    n_selected: int
    automation_rate: float | None
    straight_through_rate: float | None
    pages_per_hour: float | None
    cpu_seconds_per_page: float | None
    queue: QueueSummary


def accuracy_table(
    project: Project,
    *,
    document_type: DocumentType | None = None,
    population: Population | str = Population.READER,
    engine_version: EngineVersion | None = None,
    types: Mapping[int, DocumentType] | None = None,
) -> list[AccuracyRow]:
    """Return, for each type and field in the schema's order, the total and then each bucket that has a label.

    Over all engine versions unless one is given. Two queries, however many labels there are, one where the project's
    `types` by id are known; raises ValueError for an unknown population.
    """
    of = Population(population)
    cells = _cells(project, of, document_type, engine_version).filter(day__isnull=True)
    by_bucket: dict[tuple[int, str], dict[str, Moments]] = {}
    for type_id, path, bucket, *sums in cells.values_list("document_type_id", "field_path", "bucket").annotate(
        *_totals()
    ):
        by_bucket.setdefault((type_id, path), {})[bucket] = _moments(sums)
    return _rows(by_bucket, types_by_id(project) if types is None else types, of)


def both_accuracy_tables(
    project: Project, types: Mapping[int, DocumentType]
) -> tuple[list[AccuracyRow], list[AccuracyRow]]:
    """Return `accuracy_table` of all that was read and of what was stored unseen, in one query."""
    cells = AccuracyRollup.objects.filter(project=project, day__isnull=True, n__gt=0).order_by()
    found: dict[str, dict[tuple[int, str], dict[str, Moments]]] = {}
    columns = ("population", "document_type_id", "field_path", "bucket")
    for population, type_id, path, bucket, *sums in cells.values_list(*columns).annotate(*_totals()):
        found.setdefault(population, {}).setdefault((type_id, path), {})[bucket] = _moments(sums)
    of_reader, of_unseen = (_rows(found.get(of, {}), types, of) for of in (Population.READER, Population.UNSEEN))
    return of_reader, of_unseen


def _rows(
    by_bucket: Mapping[tuple[int, str], Mapping[str, Moments]], types: Mapping[int, DocumentType], of: Population
) -> list[AccuracyRow]:
    rows = []
    for type_id, path in _in_order(by_bucket, types):
        moments = by_bucket[type_id, path]
        rows.append(_row(types[type_id], path, of, None, sum(moments.values(), Moments())))
        rows += [_row(types[type_id], path, of, bucket, moments[bucket]) for bucket in BUCKETS if bucket in moments]
    return rows


def accuracy_trend(
    project: Project,
    *,
    document_type: DocumentType | None = None,
    population: Population | str = Population.READER,
    field_path: str | None = None,
    n_days: int = TREND_DAYS,
) -> list[TrendPoint]:
    """Return the accuracy on each of the last `n_days` days that has labels: by type, field (or only one), day.

    The day is that of the verdict. Each day stands alone; few labels a day make wide intervals, not wrong ones.
    """
    of = Population(population)
    cells = _cells(project, of, document_type, None).filter(day__gt=today() - timedelta(days=n_days))
    if field_path is not None:
        cells = cells.filter(field_path=field_path)
    found: dict[tuple[int, str], list[tuple[date, Moments]]] = {}
    days = cells.values_list("document_type_id", "field_path", "day").annotate(*_totals()).order_by("day")
    for type_id, path, day, *sums in days:
        found.setdefault((type_id, path), []).append((day, _moments(sums)))
    types = types_by_id(project)
    return [
        TrendPoint(types[type_id], path, of, day, hajek(moments))
        for type_id, path in _in_order(found, types)
        for day, moments in found[type_id, path]
    ]


def rates(project: Project, *, document_type: DocumentType | None = None, n_days: int = RATES_DAYS) -> Rates:
    """Return the rates of a project, or of one type: reads one roll-up row a day and type, and the queue's indexes."""
    days = ThroughputRollup.objects.filter(project=project, day__gt=today() - timedelta(days=n_days))
    if document_type is not None:
        days = days.filter(document_type=document_type)
    names = ("n_documents", "n_pages", "n_auto", "n_sampled", "n_review", "n_selected", "cpu_seconds")
    sums = days.aggregate(**{name: Sum(name) for name in names})
    cpu_seconds = sums.pop("cpu_seconds") or 0.0
    total = {name: int(value or 0) for name, value in sums.items()}
    return Rates(
        n_days=n_days,
        **total,
        automation_rate=automation_rate(
            n_auto=total["n_auto"], n_sampled=total["n_sampled"], n_review=total["n_review"]
        ),
        straight_through_rate=straight_through_rate(n_documents=total["n_documents"], n_selected=total["n_selected"]),
        pages_per_hour=_recent_speed(project, days, timezone.now()),
        cpu_seconds_per_page=cpu_seconds / total["n_pages"] if total["n_pages"] else None,
        queue=queue_summary(project, document_type=document_type),
    )


def today() -> date:
    """Return the day that roll-ups count in now: the installation's time zone decides."""
    return timezone.localtime(timezone.now(), timezone.get_default_timezone()).date()


def _recent_speed(project: Project, days: QuerySet[ThroughputRollup], now: datetime) -> float | None:
    local = timezone.localtime(now, timezone.get_default_timezone())
    elapsed = (local - local.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
    recent = days.filter(day__gte=local.date() - timedelta(days=1)).values_list("day").annotate(Sum("n_pages"))
    n_pages = {day: int(n) for day, n in recent}
    yesterday = n_pages.get(local.date() - timedelta(days=1), 0) * max(0.0, 1 - elapsed / DAY_SECONDS)
    seconds = min(DAY_SECONDS, (now - project.created_at).total_seconds())
    return pages_per_hour(n_pages=round(n_pages.get(local.date(), 0) + yesterday), seconds=max(0.0, seconds))


def _cells(
    project: Project, population: Population, document_type: DocumentType | None, engine_version: EngineVersion | None
) -> QuerySet[AccuracyRollup]:
    cells = AccuracyRollup.objects.filter(project=project, population=population, n__gt=0)
    if document_type is not None:
        cells = cells.filter(document_type=document_type)
    if engine_version is not None:
        cells = cells.filter(engine_version=engine_version)
    return cells.order_by()


def _totals() -> list[Sum]:
    return [Sum(name) for name in _MOMENTS]


def _moments(sums: Sequence[float]) -> Moments:
    n, *others = sums
    # PostgreSQL adds big integers up to a Decimal.
    return Moments(int(n), *others)


def types_by_id(project: Project) -> dict[int, DocumentType]:
    """Return the document types of a project with their active versions, by id, in the order of their slugs."""
    types = (
        DocumentType.objects.select_related("active_version", "project__engine_version__base")
        .filter(project=project)
        .order_by("slug")
    )
    return {found.pk: found for found in types}


def _in_order(keys: Iterable[tuple[int, str]], types: Mapping[int, DocumentType]) -> list[tuple[int, str]]:
    """Sort (type, path) pairs by the type's slug and the schema's order; fields that the schema has lost come last."""
    places: dict[tuple[int, str], int] = {}
    for type_id, document_type in types.items():
        if document_type.active_version is not None:
            spec = spec_of(document_type.active_version)
            columns = [f"{group.path}/*{column.path}" for group in spec.groups for column in group.columns]
            paths = [*(known.path for known in spec.fields), *columns]
            places |= {(type_id, path): place for place, path in enumerate(paths)}
    order = list(types)
    return sorted(keys, key=lambda key: (order.index(key[0]), places.get(key, len(places)), key[1]))


def _row(
    document_type: DocumentType, path: str, population: Population, bucket: str | None, moments: Moments
) -> AccuracyRow:
    return AccuracyRow(document_type, path, population, bucket, hajek(moments), moments.n)
