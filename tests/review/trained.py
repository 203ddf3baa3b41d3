"""Models as a training leaves them, small enough to see through: one weight a feature, or a constant chance."""

import hashlib
import json
from collections.abc import Mapping

from review.accuracy.calibration import Calibration
from review.accuracy.calibrators import Isotonic
from review.models import DocumentType, ModelKind, TrainedModel
from tests.inference.fields.locators import locator_bytes


def make_locator(
    document_type: DocumentType, fields: Mapping[str, Mapping[str, float]], **values: float
) -> TrainedModel:
    """A locator of the type that scores by these weights."""
    return make_model(document_type, ModelKind.LOCATOR, locator_bytes(fields, **values), "onnx")


def make_calibrator(document_type: DocumentType, engine_version: str, by_field: Mapping[str, float]) -> TrainedModel:
    """A calibrator for the evidence of that version that gives each field's values one chance to be right."""
    maps = {
        path: Calibration(engine_version, path, Isotonic((0.5,), (chance,)), 9, 9, 0, {}, {}, {}).as_json()
        for path, chance in by_field.items()
    }
    return make_model(document_type, ModelKind.CALIBRATOR, json.dumps(maps).encode(), "json")


def make_model(document_type: DocumentType, kind: ModelKind, payload: bytes, format_name: str) -> TrainedModel:
    """A trained model with these bytes."""
    return TrainedModel.objects.create(
        project=document_type.project,
        document_type=document_type,
        kind=kind,
        format=format_name,
        sha256=hashlib.sha256(payload).hexdigest(),
        payload=payload,
    )
