"""Corrections as the error browser shows them: in words, with the address of the crop they were read from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from review import words
from review.models import DocumentType
from review.selectors.errors import ErrorRow
from review.web.crops import crop_address
from review.web.policy_view import field_paths


@dataclass(frozen=True, slots=True)
class ShownError:
    """One line of the error browser. `crop` is "" where the reader had found no place."""

    review: Any
    label: str
    verdict: str
    read: str
    truth: str
    confidence: str
    crop: str


def shown_errors(rows: list[ErrorRow], types: list[DocumentType]) -> list[ShownError]:
    """Return the lines for corrections; `types` are those of the project."""
    labels = {one.pk: {path: label for path, label, _cost in field_paths(one)} for one in types}
    return [_shown(row, labels.get(row.review.document_type_id, {})) for row in rows]


def _shown(row: ErrorRow, labels: Mapping[str, str]) -> ShownError:
    one = row.review
    column = "/".join("*" if part.isdecimal() else part for part in one.field_path.split("/"))
    return ShownError(
        review=one,
        label=labels.get(column, one.field_path),
        verdict=one.get_verdict_display(),
        read="" if one.predicted_value is None else str(one.predicted_value),
        truth="" if one.value is None else str(one.value),
        confidence=words.confidence_in_words(one.confidence),
        crop=crop_address(one.document, row.page_number, row.bbox),
    )
