"""A part of a page's picture: what a field's box shows."""

import io
from math import ceil, floor

from django.core.files.storage import default_storage
from django.utils.translation import gettext_lazy as _
from PIL import Image

from review.exceptions import NotFoundError
from review.models import Page

JPEG_QUALITY = 85

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in 0-1 of the page, from its top left."""


def page_crop(page: Page, bbox: Box) -> bytes:
    """Return the part of the page within `bbox` as a JPEG, at least one pixel; NotFoundError when the file is lost."""
    try:
        with default_storage.open(str(page.image.name)) as file, Image.open(file, formats=["JPEG"]) as image:
            part = image.crop(pixels_of(bbox, image.size)).convert("RGB")
    except (OSError, ValueError):
        raise NotFoundError(
            _("The file is no longer in the storage. Tell your administrator."), code="file_missing"
        ) from None
    buffer = io.BytesIO()
    part.save(buffer, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return buffer.getvalue()


def pixels_of(bbox: Box, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return the whole pixels (left, top, right, bottom) that the box touches, at least one, all on the page."""
    width, height = size
    x0, y0, x1, y1 = bbox
    left, top = min(floor(x0 * width), width - 1), min(floor(y0 * height), height - 1)
    right, bottom = min(ceil(x1 * width), width), min(ceil(y1 * height), height)
    return left, top, max(right, left + 1), max(bottom, top + 1)
