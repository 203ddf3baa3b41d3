"""The address of a piece of a page, with a little of what is around it."""

from collections.abc import Sequence

from django.urls import reverse

from review.models import Document

MARGIN = 0.01
"""How much of the page is shown around the box, as a share of its sides."""


def crop_address(document: Document, page_number: int | None, bbox: Sequence[float] | None) -> str:
    """Return the address of the crop of a box in 0-1 on a page, "" where there is no place."""
    if bbox is None or page_number is None:
        return ""
    x0, y0, x1, y1 = bbox
    box = (max(0.0, x0 - MARGIN), max(0.0, y0 - MARGIN), min(1.0, x1 + MARGIN), min(1.0, y1 + MARGIN))
    address = reverse("api:page_crop", args=[document.project.slug, document.pk, page_number])
    return f"{address}?bbox={','.join(f'{part:.4f}' for part in box)}"
