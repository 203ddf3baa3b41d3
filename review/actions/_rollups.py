"""Sums for the roll-ups: labels and decisions grouped by the cell and the day that they count in."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import F
from django.utils import timezone

from review.accuracy.estimators import WEIGHTS, Moments
from review.accuracy.metrics import confidence_bucket
from review.models import AccuracyRollup, FieldReview, Project, RoutingDecision, ThroughputRollup
from review.routing.bands import Band
from review.routing.paths import column_path


class AccuracyCell(NamedTuple):
    """Which row of `AccuracyRollup` a label counts in; `day` None is the sum over all days."""

    document_type_id: int
    engine_version_id: int
    field_path: str
    population: str
    bucket: str
    day: date | None


class ThroughputCell(NamedTuple):
    """Which row of `ThroughputRollup` a decision counts in."""

    document_type_id: int
    day: date


@dataclass(slots=True)
class AccuracySum:
    """What is added to one accuracy cell."""

    n: int = 0
    n_correct: int = 0
    sum_w: float = 0.0
    sum_wy: float = 0.0
    sum_w2: float = 0.0
    sum_w2y: float = 0.0

    def add(self, weight: float, *, is_correct: bool, times: int = 1) -> None:
        """Count one field that stands for `weight` fields; `times` -1 takes it out again."""
        self.n += times
        self.sum_w += times * weight
        self.sum_w2 += times * weight * weight
        if is_correct:
            self.n_correct += times
            self.sum_wy += times * weight
            self.sum_w2y += times * weight * weight

    def moments(self) -> Moments:
        """Return what an estimate needs."""
        return Moments(self.n, self.sum_w, self.sum_wy, self.sum_w2, self.sum_w2y)


@dataclass(slots=True)
class ThroughputSum:
    """What is added to one throughput cell."""

    n_documents: int = 0
    n_pages: int = 0
    n_auto: int = 0
    n_sampled: int = 0
    n_review: int = 0
    n_selected: int = 0
    cpu_seconds: float = 0.0


ACCURACY_COLUMNS = tuple(AccuracySum.__slots__)
THROUGHPUT_COLUMNS = tuple(ThroughputSum.__slots__)


@dataclass(slots=True)
class Sums:
    """Everything that one project's labels and decisions add to its roll-ups."""

    accuracy: dict[AccuracyCell, AccuracySum] = field(default_factory=lambda: defaultdict(AccuracySum))
    throughput: dict[ThroughputCell, ThroughputSum] = field(default_factory=lambda: defaultdict(ThroughputSum))


def day_of(moment: datetime) -> date:
    """Return the day on which something counts, in the installation's time zone."""
    return timezone.localtime(moment, timezone.get_default_timezone()).date()


def add_label(sums: Sums, label: FieldReview, *, times: int = 1) -> None:
    """Count a label that is in the sample and says right or wrong; any other adds nothing. `times` -1 takes it out.

    A weight of 0 is no part of a population: a field that is always examined is never stored unseen.
    """
    if not label.is_in_sample or label.is_correct is None:
        return
    path, bucket = column_path(label.field_path), confidence_bucket(label.confidence)
    for population, weight_of in WEIGHTS.items():
        weight = weight_of(label.inclusion_probability)
        if weight > 0:
            for day in (day_of(label.created_at), None):
                cell = AccuracyCell(label.document_type_id, label.engine_version_id, path, population, bucket, day)
                sums.accuracy[cell].add(weight, is_correct=label.is_correct, times=times)


def add_decision(sums: Sums, decision: RoutingDecision) -> None:
    """Count one routed document; `document` and `run` must be loaded."""
    total = sums.throughput[ThroughputCell(decision.document.document_type_id, day_of(decision.created_at))]
    total.n_documents += 1
    total.n_pages += decision.document.n_pages
    total.n_auto += decision.band == Band.AUTO
    total.n_sampled += decision.band == Band.SAMPLED
    total.n_review += decision.band == Band.REVIEW
    total.n_selected += decision.is_selected
    total.cpu_seconds += decision.run.cpu_seconds


def lock_rollups(project_id: int) -> None:
    """Become the only one who writes the project's roll-ups, until the caller's transaction ends.

    One row for all roll-ups of a project: no two transactions add to the same cells, so none waits for another in a
    circle. NO KEY leaves those alone who only refer to the project. (SQLite has one writer at a time anyway.)
    """
    Project.objects.select_for_update(no_key=True).only("pk").get(pk=project_id)


def withdraw_labels(project_id: int, task_id: int, field_paths: Iterable[str]) -> dict[str, bool | None]:
    """Take the labels of a task out of the sample, and out of the roll-ups where they are in.

    Return, by field path, what they had said of the reader: right, wrong, or None for what nobody could read.
    What an adjudication decided replaces them, so that no field of a document counts twice.
    """
    lock_rollups(project_id)
    labels = list(FieldReview.objects.filter(task_id=task_id, field_path__in=list(field_paths), is_in_sample=True))
    sums = Sums()
    for label in labels:
        if label.is_rolled_up:
            add_label(sums, label, times=-1)
    add_to_rollups(project_id, sums)
    FieldReview.objects.filter(pk__in=[label.pk for label in labels]).update(is_in_sample=False)
    return {label.field_path: label.is_correct for label in labels}


def add_to_rollups(project_id: int, sums: Sums) -> None:
    """Add the sums to the project's roll-ups. The caller holds the lock that makes it the only one who does."""
    accuracy = _known_accuracy(project_id, {cell.day for cell in sums.accuracy})
    for cell, total in sums.accuracy.items():
        if cell in accuracy:
            _add(AccuracyRollup, accuracy[cell], total, ACCURACY_COLUMNS)
    AccuracyRollup.objects.bulk_create(
        AccuracyRollup(project_id=project_id, **cell._asdict(), **_columns(total, ACCURACY_COLUMNS))
        for cell, total in sums.accuracy.items()
        if cell not in accuracy
    )
    throughput = _known_throughput(project_id, {cell.day for cell in sums.throughput})
    for place, counts in sums.throughput.items():
        if place in throughput:
            _add(ThroughputRollup, throughput[place], counts, THROUGHPUT_COLUMNS)
    ThroughputRollup.objects.bulk_create(
        ThroughputRollup(project_id=project_id, **place._asdict(), **_columns(counts, THROUGHPUT_COLUMNS))
        for place, counts in sums.throughput.items()
        if place not in throughput
    )


def _add(
    model: type[AccuracyRollup] | type[ThroughputRollup],
    pk: int,
    total: AccuracySum | ThroughputSum,
    columns: Iterable[str],
) -> None:
    changes = {name: F(name) + value for name, value in _columns(total, columns).items() if value}
    if changes:
        model._default_manager.filter(pk=pk).update(**changes)


def _columns(total: AccuracySum | ThroughputSum, columns: Iterable[str]) -> Mapping[str, Any]:
    return {name: getattr(total, name) for name in columns}


def _known_accuracy(project_id: int, days: Iterable[date | None]) -> dict[AccuracyCell, int]:
    rows = AccuracyRollup.objects.filter(project_id=project_id)
    dated = [day for day in days if day is not None]
    names = ("pk", *AccuracyCell._fields)
    found = [*rows.filter(day__isnull=True).values_list(*names), *rows.filter(day__in=dated).values_list(*names)]
    return {AccuracyCell(*row[1:]): row[0] for row in found}


def _known_throughput(project_id: int, days: Iterable[date]) -> dict[ThroughputCell, int]:
    rows = ThroughputRollup.objects.filter(project_id=project_id, day__in=list(days))
    return {ThroughputCell(*row[1:]): row[0] for row in rows.values_list("pk", *ThroughputCell._fields)}
