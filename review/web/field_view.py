"""One field's accuracy over time and by confidence, as its page and charts show it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from review import words
from review.models import DocumentType, Population
from review.selectors.accuracy import AccuracyRow, accuracy_table
from review.selectors.errors import EngineTrend, Mark, marks_of, reliability_of, trend_by_engine
from review.web.policy_view import field_paths


@dataclass(frozen=True, slots=True)
class FieldPage:
    """Everything about one field of one type in one population."""

    document_type: DocumentType
    path: str
    label: str
    population: str
    total: AccuracyRow | None
    trend: list[EngineTrend]
    marks: list[Mark]
    reliability: list[Any]

    @property
    def points(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield engine, day and estimate for each point of the trend, as the table lists them."""
        for series in self.trend:
            for day, estimate in series.points:
                yield series.engine, day, estimate

    @property
    def trend_chart(self) -> dict[str, Any]:
        """Return what the trend's chart draws: a line with its band for each engine, and the marks."""
        return {
            "series": [
                {
                    "name": one.engine,
                    "points": [[day.isoformat(), e.point, e.lower, e.upper, e.n] for day, e in one.points],
                }
                for one in self.trend
            ],
            "marks": [{"day": mark.day.isoformat(), "name": mark_in_words(mark)} for mark in self.marks],
        }

    @property
    def reliability_chart(self) -> dict[str, Any]:
        """Return what the reliability diagram draws: promise, what was kept with its interval, and n."""
        return {
            "points": [
                [row.mean_confidence, row.accuracy.point, row.accuracy.lower, row.accuracy.upper, row.accuracy.n]
                for row in self.reliability
            ],
            "promised": gettext("confidence"),
            "kept": gettext("right"),
            "ideal": gettext("kept as promised"),
        }


def mark_in_words(mark: Mark) -> str:
    """Return what changed on the day of a mark."""
    texts = {"policy": gettext("Policy %(name)s"), "engine": gettext("Reader %(name)s")}
    return texts[mark.kind] % {"name": mark.name}


def field_page(document_type: DocumentType, path: str, population: str) -> FieldPage | None:
    """Return the page of a field; None for a path that the type does not have."""
    label = next((label for known, label, _cost in field_paths(document_type) if known == path), None)
    if label is None:
        return None
    of = population if population in Population.values else Population.READER.value
    types = {document_type.pk: document_type}
    rows = accuracy_table(document_type.project, document_type=document_type, population=of, types=types)
    return FieldPage(
        document_type=document_type,
        path=path,
        label=label,
        population=of,
        total=next((row for row in rows if row.field_path == path and row.bucket is None), None),
        trend=trend_by_engine(document_type, path, population=of),
        marks=marks_of(document_type),
        reliability=reliability_of(document_type, path, population=of),
    )


def field_choices(types: list[DocumentType]) -> list[tuple[str, str]]:
    """Return every field of every type as (`type:path`, its name), for a choice."""
    return [
        (f"{one.slug}:{path}", f"{words.label_of(one.labels, one.slug)} · {label}")
        for one in types
        for path, label, _cost in field_paths(one)
    ]
