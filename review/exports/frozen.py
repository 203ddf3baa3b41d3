"""The line of JSON that a snapshot freezes of a record: an export's row, with its side, and personal values gone."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from inference.types import DocumentTypeSpec
from review.exports.rows import Row, row_of
from review.models import Personal, Project
from review.selectors.schemas import spec_of
from review.selectors.snapshots import Candidate

MASK = "[personal]"
PERSONAL_NOT_LOCATED = "personal_not_located"
"""A personal value that is somewhere on the page, nobody knows where: the picture would give it away."""


def frozen_row(project: Project, candidate: Candidate, *, split: str, group: str, personal: str) -> Row:
    """Return the row of one record: an export's, with `split`, `group`, `pages`, and the `state` of each field."""
    row = row_of(project, candidate.item)
    spec = spec_of(candidate.item.record.run.schema_version)
    covered = list(_boxes(row, spec)) if personal != Personal.KEPT else []
    row["fields"] = [
        kept
        for field in row["fields"]
        if (kept := _as_asked(field | {"state": candidate.states[field["field_path"]]}, spec, personal)) is not None
    ]
    row["pages"] = [
        {
            "page_number": page.page.page_number,
            "width": page.page.width,
            "height": page.page.height,
            "content_hash": page.page.content_hash,
            "covered": [box for number, box in covered if number == page.page.page_number],
        }
        for page in candidate.pages
    ]
    return row | {"split": split, "group": group}


def frozen_line(row: Row) -> str:
    """Return a row as one line of JSON without its end. Characters stay as they are, but for lone surrogates."""
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def has_unlocated_personal(candidate: Candidate) -> bool:
    """Whether a personal value stands on the page that no box covers for sure."""
    spec = spec_of(candidate.item.record.run.schema_version)
    values, predictions = candidate.item.record.values, candidate.item.predictions
    for path in {*values, *predictions}:
        if not is_personal(spec, path):
            continue
        prediction, value = predictions.get(path), values.get(path)
        read = prediction.value if prediction is not None else None
        if value is None and read is None:
            continue
        if prediction is None or prediction.bbox is None or (value is not None and value != read):
            return True
    return False


def is_personal(spec: DocumentTypeSpec, field_path: str) -> bool:
    """Whether the schema marks the field as personal."""
    field = spec.spec_of(field_path)
    return field is not None and field.is_personal


def _boxes(row: Row, spec: DocumentTypeSpec) -> Iterator[tuple[int, list[float]]]:
    for field in row["fields"]:
        prediction = field["prediction"]
        if prediction is not None and prediction["bbox"] and is_personal(spec, field["field_path"]):
            yield prediction["page_number"], prediction["bbox"]


def _as_asked(field: Row, spec: DocumentTypeSpec, personal: str) -> Row | None:
    if personal == Personal.KEPT or not is_personal(spec, field["field_path"]):
        return field
    if personal == Personal.LEFT_OUT:
        return None
    prediction = field["prediction"]
    return field | {
        "value": _masked(field["value"]),
        "prediction": _mask_in(prediction, ("value", "raw_text")) if prediction is not None else None,
        "labels": [_mask_in(label, ("value", "predicted_value")) for label in field["labels"]],
    }


def _mask_in(data: Mapping[str, Any], keys: tuple[str, ...]) -> Row:
    return {**data, **{key: _masked(data[key]) for key in keys}}


def _masked(value: object) -> str | None:
    return None if value is None else MASK
