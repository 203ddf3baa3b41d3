"""Corrections as the error browser shows them: in words, with the address of the crop they were read from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from review import words
from review.models import DocumentType
from review.selectors.errors import ErrorRow
from review.web.policy_view import field_paths

MARGIN = 0.01
"""How much of the page is shown around the box, as a share of its sides."""


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
        crop=_crop(row),
    )


def _crop(row: ErrorRow) -> str:
    if row.bbox is None or row.page_number is None:
        return ""
    x0, y0, x1, y1 = row.bbox
    box = (max(0.0, x0 - MARGIN), max(0.0, y0 - MARGIN), min(1.0, x1 + MARGIN), min(1.0, y1 + MARGIN))
    document = row.review.document
    address = reverse("api:page_crop", args=[document.project.slug, document.pk, row.page_number])
    return f"{address}?bbox={','.join(f'{part:.4f}' for part in box)}"
