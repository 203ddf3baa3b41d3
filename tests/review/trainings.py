"""Trainings that are done, as they are shown: their figures by hand, their models without content."""

from typing import Any

from django.utils import timezone

from review.actions._compositions import ensure_composed_version
from review.models import DocumentType, ModelKind, TrainedModel, TrainingRun
from tests import factories
from tests.conftest import Cast


def scores(loss: float) -> dict[str, Any]:
    return {"log_loss": loss, "brier": loss / 2, "calibration_error": loss / 4, "coverage_at_99": {"share": 1 - loss}}


CALIBRATED = {
    "n_labels": 120,
    "fields": {
        "/total": {"n_labels": 120, "method": "isotonic", "before": scores(0.8), "after": scores(0.4)},
        "/date": {"n_labels": 7, "method": "identity", "before": scores(0.5), "after": scores(0.5)},
    },
}


def trained(
    cast: Cast, kind: ModelKind, metrics: dict[str, Any], document_type: DocumentType | None = None
) -> TrainingRun:
    run = TrainingRun.objects.create(
        project=cast.project,
        document_type=None if kind == ModelKind.CLASSIFIER else document_type or cast.document_type,
        kind=kind,
        state="done",
        metrics=metrics,
        base=factories.make_engine_version(),
        finished_at=timezone.now(),
        n_steps=4,
        n_done=4,
    )
    model = TrainedModel.objects.create(
        project=cast.project,
        document_type=run.document_type,
        kind=kind,
        payload=b"{}",
        sha256=f"{run.pk:064}",
        training_run=run,
    )
    if kind == ModelKind.CALIBRATOR:
        ensure_composed_version(factories.make_engine_version(), calibrator=model)
    return run
