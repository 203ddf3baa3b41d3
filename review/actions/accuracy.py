"""Verdicts and decisions are added to roll-ups, so that no page ever reads them one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from review.actions._audit import record_audit
from review.actions._rollups import (
    ACCURACY_COLUMNS,
    THROUGHPUT_COLUMNS,
    AccuracyCell,
    Sums,
    ThroughputCell,
    add_decision,
    add_label,
    add_to_rollups,
    lock_rollups,
)
from review.models import AccuracyRollup, FieldReview, Project, RoutingDecision, ThroughputRollup
from review.selectors.access import Actor

_CHUNK = 2000
_ROUNDING = 1e-9
_LABEL_COLUMNS = (
    "document_type_id", "engine_version_id", "field_path", "confidence", "inclusion_probability", "is_correct",
    "is_in_sample", "created_at",
)  # fmt: skip
_DECISION_COLUMNS = (
    "band", "is_selected", "created_at", "document__document_type_id", "document__n_pages", "run__cpu_seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RollupDifference:
    """One number of a roll-up that was not what its labels or decisions add up to."""

    cell: AccuracyCell | ThroughputCell
    column: str
    stored: float
    counted: float


def roll_up_reviews(*, limit: int = 5000) -> int:
    """Add what has not been added yet, at most `limit` labels and decisions to a transaction; return how many.

    Each row is added exactly once, however often and by however many processes this is called: the roll-ups of one
    project are written by one transaction at a time, and a row is marked in the transaction that adds it. Goes on
    until nothing is left. No audit row and no event: a roll-up is a copy, not an act.
    """
    n_added = 0
    for project_id in _projects_with_news():
        while n := _roll_up(project_id, limit):
            n_added += n
    return n_added


def rebuild_rollups(*, actor: Actor, project: Project) -> list[RollupDifference]:
    """Count the project's roll-ups anew from every label and decision, and put right what differs; return that.

    One transaction: while it runs, nothing else is added (and on SQLite nothing is written at all).
    """
    with transaction.atomic(durable=True):
        lock_rollups(project.pk)
        sums = Sums()
        for label in _labels(project.pk, is_rolled_up=True).iterator(chunk_size=_CHUNK):
            add_label(sums, label)
        for decision in _decisions(project.pk, is_rolled_up=True).iterator(chunk_size=_CHUNK):
            add_decision(sums, decision)
        differences = list(_differences(project.pk, sums))
        if differences:
            AccuracyRollup.objects.filter(project=project).delete()
            ThroughputRollup.objects.filter(project=project).delete()
            add_to_rollups(project.pk, sums)
        record_audit(actor, "accuracy.rebuilt", project, project=project, detail={"n_differences": len(differences)})
    return differences


def _projects_with_news() -> list[int]:
    # Both queries read only the partial indexes of what is still to be added.
    labels = FieldReview.objects.filter(is_rolled_up=False).order_by("project_id").values_list("project_id", flat=True)
    decisions = RoutingDecision.objects.filter(is_rolled_up=False).order_by("document__project_id")
    return sorted({*labels.distinct(), *decisions.values_list("document__project_id", flat=True).distinct()})


def _roll_up(project_id: int, limit: int) -> int:
    with transaction.atomic(durable=True):
        lock_rollups(project_id)
        sums = Sums()
        labels = list(_labels(project_id, is_rolled_up=False).order_by("pk")[:limit])
        decisions = list(_decisions(project_id, is_rolled_up=False).order_by("pk")[: limit - len(labels)])
        for label in labels:
            add_label(sums, label)
        for decision in decisions:
            add_decision(sums, decision)
        marked = _mark(FieldReview, labels) + _mark(RoutingDecision, decisions)
        if marked != len(labels) + len(decisions):
            # Somebody marked them without the lock; what they added must not be added again.
            transaction.set_rollback(True)
            return 0
        add_to_rollups(project_id, sums)
    return marked


def _mark(model: type[FieldReview] | type[RoutingDecision], rows: list[FieldReview] | list[RoutingDecision]) -> int:
    n = 0
    for start in range(0, len(rows), _CHUNK):
        ids = [row.pk for row in rows[start : start + _CHUNK]]
        n += model._default_manager.filter(pk__in=ids, is_rolled_up=False).update(is_rolled_up=True)
    return n


def _labels(project_id: int, *, is_rolled_up: bool) -> QuerySet[FieldReview]:
    labels = FieldReview.objects.filter(project_id=project_id, is_rolled_up=is_rolled_up)
    return labels.only(*_LABEL_COLUMNS)


def _decisions(project_id: int, *, is_rolled_up: bool) -> QuerySet[RoutingDecision]:
    decisions = RoutingDecision.objects.select_related("document", "run")
    return decisions.filter(document__project_id=project_id, is_rolled_up=is_rolled_up).only(*_DECISION_COLUMNS)


def _differences(project_id: int, sums: Sums) -> Iterator[RollupDifference]:
    accuracy = {
        AccuracyCell(*(getattr(row, name) for name in AccuracyCell._fields)): row
        for row in AccuracyRollup.objects.filter(project_id=project_id)
    }
    throughput = {
        ThroughputCell(*(getattr(row, name) for name in ThroughputCell._fields)): row
        for row in ThroughputRollup.objects.filter(project_id=project_id)
    }
    yield from _compare(accuracy, sums.accuracy, ACCURACY_COLUMNS)
    yield from _compare(throughput, sums.throughput, THROUGHPUT_COLUMNS)


def _compare(
    stored: Mapping[Any, object], counted: Mapping[Any, object], columns: Sequence[str]
) -> Iterator[RollupDifference]:
    for cell in sorted({*stored, *counted}, key=str):
        for column in columns:
            before = getattr(stored.get(cell), column, 0)
            after = getattr(counted.get(cell), column, 0)
            # Sums that were added in another order differ by rounding.
            if not isclose(before, after, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
                yield RollupDifference(cell, column, before, after)
