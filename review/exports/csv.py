"""One line for each label of each field, and one for a field without a label: UTF-8, RFC 4180, null is empty."""

import csv
import io
import json
from typing import Any

from review.exports.rows import Row

_RECORD = ("record_id", "revision", "created_at", "project", "document_type", "schema_version")
_DOCUMENT = ("id", "filename", "sha256", "media_type", "n_pages", "received_at")
_PREDICTION = ("value", "raw_text", "confidence", "page_number")
_BOX = ("x0", "y0", "x1", "y1")
_LABEL = (
    "verdict", "value", "predicted_value", "is_correct", "is_in_sample", "inclusion_probability", "confidence",
    "band", "engine_digest", "reviewer", "created_at",
)  # fmt: skip

COLUMNS = (
    *_RECORD,
    *(f"document_{key}" for key in _DOCUMENT),
    "engine_name",
    "engine_digest",
    "policy",
    "band",
    "reviewer",
    "is_held_out",
    "field_path",
    "value",
    "source",
    *(f"predicted_{key}" for key in (*_PREDICTION, *_BOX)),
    "label_number",
    *(f"label_{key}" for key in _LABEL),
)
MEDIA_TYPE = "text/csv; charset=utf-8"


def encode(row: Row) -> bytes:
    """Return the lines of one record."""
    of_record = [
        *(row[key] for key in _RECORD),
        *(row["document"][key] for key in _DOCUMENT),
        row["engine"]["name"],
        row["engine"]["digest"],
        row["policy"],
        row["band"],
        row["reviewer"],
        row["is_held_out"],
    ]
    lines = []
    for field in row["fields"]:
        prediction = field["prediction"] or {}
        of_field = [
            field["field_path"],
            field["value"],
            (field["provenance"] or {}).get("source"),
            *(prediction.get(key) for key in _PREDICTION),
            *(prediction.get("bbox") or (None,) * len(_BOX)),
        ]
        for number, label in enumerate(field["labels"] or [None], 1):
            of_label = [number, *(label[key] for key in _LABEL)] if label else [None] * (1 + len(_LABEL))
            lines.append([*of_record, *of_field, *of_label])
    return _encoded(lines)


def _encoded(lines: list[list[Any]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([_cell(value) for value in line] for line in lines)
    return buffer.getvalue().encode("utf-8", errors="backslashreplace")


def _cell(value: object) -> object:
    """Return what stands in a cell: text as it is, true and false as in JSON, anything nested as JSON."""
    if value is None or isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    return json.dumps(value, ensure_ascii=False)


HEADER = _encoded([list(COLUMNS)])
