"""Labels and decisions for tests of whatever counts them, written in bulk."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from review.models import (
    DocumentType,
    EngineVersion,
    ExtractionRun,
    FieldReview,
    Record,
    ReviewTask,
    RoutingDecision,
    TaskState,
    Verdict,
)
from tests import factories


@dataclass(frozen=True)
class Label:
    """One verdict to be: the defaults are those of a doubtful total that was right."""

    field_path: str = "/total"
    is_correct: bool | None = True
    inclusion_probability: float = 1.0
    confidence: float | None = 0.55
    is_in_sample: bool = True
    at: datetime | None = None
    engine_version: EngineVersion | None = None


def add_labels(document_type: DocumentType, labels: Iterable[Label]) -> list[FieldReview]:
    """Write the labels, each from a finished task of its own, all on one document."""
    labels = list(labels)
    with transaction.atomic():
        document = factories.make_routed(document_type, is_selected=False)
        # The document itself is no part of what these tests count.
        RoutingDecision.objects.filter(document=document).delete()
    run = ExtractionRun.objects.get(document=document)
    tasks = ReviewTask.objects.bulk_create(
        ReviewTask(
            project_id=document.project_id,
            document_type=document_type,
            document=document,
            run=run,
            state=TaskState.DONE,
            finished_at=timezone.now(),
        )
        for _ in labels
    )
    reviews = FieldReview.objects.bulk_create(
        [_review(task, label) for task, label in zip(tasks, labels, strict=True)], batch_size=500
    )
    dated = [(review, label.at) for review, label in zip(reviews, labels, strict=True) if label.at is not None]
    for review, at in dated:
        FieldReview.objects.filter(pk=review.pk).update(created_at=at)
    return reviews


def _review(task: ReviewTask, label: Label) -> FieldReview:
    verdicts = {True: Verdict.CONFIRMED, False: Verdict.CORRECTED, None: Verdict.ILLEGIBLE}
    return FieldReview(
        task=task,
        document_id=task.document_id,
        field_path=label.field_path,
        verdict=verdicts[label.is_correct],
        value="9.00",
        predicted_value="9.00" if label.is_correct else "8.00",
        is_correct=label.is_correct,
        is_in_sample=label.is_in_sample,
        inclusion_probability=label.inclusion_probability,
        project_id=task.project_id,
        document_type_id=task.document_type_id,
        engine_version=label.engine_version or task.run.engine_version,
        confidence=label.confidence,
        band="review",
    )


def mixed_labels(n: int, paths: Sequence[str] = ("/company", "/date", "/total")) -> list[Label]:
    """n labels over fields, buckets and inclusion probabilities, each combination again and again."""
    combinations = itertools.cycle(
        itertools.product(paths, (0.3, 0.7, 0.93, 0.97, None), (1.0, 0.1, 0.02), (True, True, False))
    )
    return [
        Label(path, is_correct, probability, confidence)
        for path, confidence, probability, is_correct in itertools.islice(combinations, n)
    ]


def add_decision(document_type: DocumentType, *, at: datetime | None = None, n_pages: int = 1, **values: Any) -> None:
    """A routed document; `values` go to `make_routed`."""
    document = factories.make_routed(document_type, **values)
    type(document).objects.filter(pk=document.pk).update(n_pages=n_pages)
    ExtractionRun.objects.filter(document=document).update(cpu_seconds=2.0 * n_pages)
    if at is not None:
        RoutingDecision.objects.filter(document=document).update(created_at=at)


def add_record(document_type: DocumentType, *, filename: str = "a.jpg", **values: Any) -> Record:
    """The first revision of a routed document's record, all of it the model's, or what `values` say."""
    document = factories.make_routed(document_type, is_selected=False, band="auto", filename=filename)
    run = ExtractionRun.objects.select_related("engine_version").get(document=document)
    predictions = list(run.predictions.order_by("pk"))
    defaults: dict[str, Any] = {
        "values": {one.field_path: one.value for one in predictions},
        "provenance": {one.field_path: {"source": "model", "confidence": one.confidence} for one in predictions},
        "revision": 1,
        "run": run,
    }
    return Record.objects.create(project_id=document.project_id, document=document, **(defaults | values))
