"""Accuracy as its page shows it: one row a field, both populations side by side, intervals as marks on one scale."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from review import words
from review.models import DocumentType, Project
from review.selectors.accuracy import BUCKETS, AccuracyRow, both_accuracy_tables, types_by_id
from review.selectors.learning import Reads, read_uncalibrated
from review.selectors.schemas import field_spec_at, spec_of

# The drawing of an interval, in its own units.
WIDTH = 120
STEP = 0.05


@dataclass(frozen=True, slots=True)
class Cell:
    """One estimate: shares, and where they lie on the drawing (`point`, `left`, `length` in 0 to WIDTH)."""

    share: float
    lower: float
    upper: float
    n: int
    point: float
    left: float
    length: float


@dataclass(frozen=True, slots=True)
class FieldAccuracy:
    """One field of one type; a population without labels is None. `buckets` are of everything that was read."""

    document_type: DocumentType
    field_path: str
    label: str
    unseen: Cell | None
    reader: Cell | None
    buckets: list[tuple[str, Cell]]


@dataclass(frozen=True, slots=True)
class AccuracyPage:
    """All rows, the one that says most (the field whose errors cost most), and where the drawings' scale begins.

    `uncalibrated`: the types whose confidences are the reader's own word, as it reads now.
    """

    rows: list[FieldAccuracy]
    headline: FieldAccuracy | None
    scale_from: float
    uncalibrated: list[Reads]
    width: int = WIDTH

    @property
    def has_labels(self) -> bool:
        """Whether anything was examined."""
        return bool(self.rows)

    @property
    def heat_chart(self) -> dict[str, Any]:
        """Return what the heat map draws: fields by buckets, each cell with its share, interval and n."""
        present = {bucket for row in self.rows for bucket, _cell in row.buckets}
        buckets = [bucket for bucket in BUCKETS if bucket in present]
        return {
            "fields": [self._name(row) for row in self.rows],
            "buckets": [words.bucket_in_words(bucket) for bucket in buckets],
            "cells": [
                [buckets.index(bucket), number, cell.share, cell.lower, cell.upper, cell.n]
                for number, row in enumerate(self.rows)
                for bucket, cell in row.buckets
            ],
        }

    def _name(self, row: FieldAccuracy) -> str:
        is_one = len({one.document_type.pk for one in self.rows}) == 1
        kind = words.label_of(row.document_type.labels, row.document_type.slug)
        return row.label if is_one else f"{kind} · {row.label}"

    def plain(self) -> Iterator[list[object]]:
        """Yield the rows of the table as plain values: totals of both populations, then each bucket."""
        for row in self.rows:
            of = [row.document_type.slug, row.field_path]
            for population, cell in (("unseen", row.unseen), ("reader", row.reader)):
                if cell is not None:
                    yield [*of, population, "", cell.share, cell.lower, cell.upper, cell.n]
            for bucket, cell in row.buckets:
                yield [*of, "reader", bucket, cell.share, cell.lower, cell.upper, cell.n]


def accuracy_page(project: Project) -> AccuracyPage:
    """Return what the accuracy page shows of a project."""
    types = types_by_id(project)
    reader, leaked = both_accuracy_tables(project, types)
    unseen = {_key(row): row for row in leaked if row.bucket is None}
    start = _scale_start([*reader, *unseen.values()])
    buckets: dict[tuple[int, str], list[tuple[str, Cell]]] = {}
    for row in reader:
        if row.bucket is not None and (cell := _cell(row, start)) is not None:
            buckets.setdefault(_key(row), []).append((row.bucket, cell))
    rows = [
        FieldAccuracy(
            document_type=row.document_type,
            field_path=row.field_path,
            label=_label(row),
            unseen=_cell(unseen.get(_key(row)), start),
            reader=_cell(row, start),
            buckets=buckets.get(_key(row), []),
        )
        for row in reader
        if row.bucket is None
    ]
    return AccuracyPage(rows, _headline(rows), start, read_uncalibrated(list(types.values())))


def _key(row: AccuracyRow) -> tuple[int, str]:
    return row.document_type.pk, row.field_path


def _scale_start(rows: Iterable[AccuracyRow]) -> float:
    """Return the largest step at or below every interval, so that the drawings use their whole width."""
    lowest = min(
        (row.estimate.lower for row in rows if row.bucket is None and row.estimate.point is not None), default=0.0
    )
    return min(1 - STEP, math.floor(lowest / STEP + 1e-9) * STEP)


def _cell(row: AccuracyRow | None, start: float) -> Cell | None:
    if row is None or row.estimate.point is None:
        return None
    estimate = row.estimate

    def at(share: float) -> float:
        return round(max(0.0, (share - start) / (1 - start)) * WIDTH, 1)

    left, right = at(estimate.lower), at(estimate.upper)
    return Cell(
        row.estimate.point, estimate.lower, estimate.upper, row.n, at(row.estimate.point), left, round(right - left, 1)
    )


def _label(row: AccuracyRow) -> str:
    version = row.document_type.active_version
    found = field_spec_at(spec_of(version), row.field_path.replace("/*/", "/0/")) if version is not None else None
    return words.label_of(found.labels, row.field_path) if found is not None else row.field_path


def _headline(rows: list[FieldAccuracy]) -> FieldAccuracy | None:
    """Return the field with labels of unseen values whose errors cost most; of equals, the one best known."""
    known = [row for row in rows if row.unseen is not None]
    return max(known, key=lambda row: (_cost(row), row.unseen.n if row.unseen else 0), default=None)


def _cost(row: FieldAccuracy) -> float:
    version = row.document_type.active_version
    found = field_spec_at(spec_of(version), row.field_path.replace("/*/", "/0/")) if version is not None else None
    return found.error_cost if found is not None else 0.0
