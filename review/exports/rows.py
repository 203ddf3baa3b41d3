"""The shape of one exported record, as plain data; docs/exports.md describes it key by key."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from review.models import FieldPrediction, FieldReview, Project
from review.selectors.exports import ExportItem

Row = dict[str, Any]


def row_of(project: Project, item: ExportItem) -> Row:
    """Return one record with provenance and labels as JSON data that every JSON reader takes (no NaN)."""
    record, document, version = item.record, item.record.document, item.record.run.schema_version
    paths = dict.fromkeys([*item.predictions, *record.values, *item.labels])
    return {
        "record_id": record.pk,
        "revision": record.revision,
        "created_at": moment(record.created_at),
        "project": project.slug,
        # That of the fields: the document may be called otherwise since.
        "document_type": version.document_type.slug,
        "schema_version": version.number,
        "document": {
            "id": document.pk,
            "filename": document.filename,
            "sha256": document.sha256,
            "media_type": document.media_type,
            "n_pages": document.n_pages,
            "received_at": moment(document.received_at),
        },
        "engine": {"name": record.run.engine_version.name, "digest": record.run.engine_version.digest},
        "policy": item.decision.policy.number if item.decision is not None else None,
        "band": item.decision.band if item.decision is not None else None,
        "reviewer": record.reviewer.get_username() if record.reviewer is not None else None,
        "is_held_out": item.is_held_out,
        "fields": [_field(path, item) for path in paths],
    }


def _field(path: str, item: ExportItem) -> Row:
    prediction = item.predictions.get(path)
    return {
        "field_path": path,
        "value": legal(item.record.values.get(path)),
        "provenance": legal(item.record.provenance.get(path)),
        "prediction": _prediction(prediction) if prediction is not None else None,
        "labels": [_label(label) for label in item.labels.get(path, ())],
    }


def _prediction(prediction: FieldPrediction) -> Row:
    return {
        "value": legal(prediction.value),
        "raw_text": prediction.raw_text,
        "confidence": legal(prediction.confidence),
        "findings": legal(prediction.findings),
        "page_number": prediction.page_number,
        "bbox": legal(prediction.bbox),
    }


def _label(label: FieldReview) -> Row:
    return {
        "verdict": label.verdict,
        "value": legal(label.value),
        "predicted_value": legal(label.predicted_value),
        "is_correct": label.is_correct,
        "is_in_sample": label.is_in_sample,
        "inclusion_probability": label.inclusion_probability,
        "confidence": legal(label.confidence),
        "band": label.band,
        "engine_digest": label.engine_version.digest,
        "reviewer": label.reviewer.get_username() if label.reviewer is not None else None,
        "created_at": moment(label.created_at),
    }


def moment(at: datetime) -> str:
    """Return a moment as the API writes it: ISO 8601 in UTC with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def legal(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with null for every number that JSON does not know (NaN, infinity)."""
    match value:
        case float():
            return value if isfinite(value) else None
        case str():
            return value
        case Mapping():
            return {key: legal(inner) for key, inner in value.items()}
        case Sequence():
            return [legal(inner) for inner in value]
    return value
