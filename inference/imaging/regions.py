"""A part of a page, drawn larger for a second look: from the original where that has more pixels, else enlarged."""

from pathlib import Path

import cv2
import numpy as np

from inference.imaging.inspection import identify_file
from inference.imaging.limits import Limits
from inference.imaging.pdf_client import draw_pdf_page
from inference.imaging.rasters import open_raster, pages_of, upright_rgb
from inference.imaging.sniff import MediaType
from inference.types import BBox, PageImage

FINE_LONG_SIDE = 3200
"""The long side, in pixels, at which the whole page would be drawn: twice what is read at first."""
MIN_HEIGHT = 96
MAX_SIDE = 1600
MAX_ENLARGEMENT = 4.0
MARGIN = 24


def open_page_finely(path: Path, page_number: int, limits: Limits) -> PageImage | None:
    """Return one page of the file, upright, with at most `limits.long_side` pixels; None when there is no such page.

    Raise UnreadableFileError.
    """
    media_type = identify_file(path, limits)
    if media_type is MediaType.PDF:
        return draw_pdf_page(path, page_number, limits)
    with open_raster(path, media_type) as raster:
        for number in pages_of(raster, media_type, limits):
            if number == page_number:
                return PageImage(upright_rgb(raster, limits.long_side)[0], page_number)
    return None


def region_image(page: PageImage, bbox: BBox) -> PageImage:
    """Return what stands in `bbox` as if the page were `FINE_LONG_SIDE` long, a line at least `MIN_HEIGHT` high.

    No side is longer than `MAX_SIDE`. Around it stands a margin in the colour of its paper: letters at the edge of a
    picture are overlooked.
    """
    width, height = page.size
    left, top = min(int(bbox.x0 * width), width - 1), min(int(bbox.y0 * height), height - 1)
    right, bottom = max(left + 1, round(bbox.x1 * width)), max(top + 1, round(bbox.y1 * height))
    part = page.pixels[top:bottom, left:right]
    scale = max(FINE_LONG_SIDE / max(width, height), MIN_HEIGHT / part.shape[0], 1.0)
    scale = min(scale, MAX_ENLARGEMENT, MAX_SIDE / max(part.shape[:2]))
    if scale != 1.0:
        size = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
        part = np.asarray(
            cv2.resize(part, size, interpolation=cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA), np.uint8
        )
    paper = np.percentile(part.reshape(-1, 3), 90, axis=0)
    framed = cv2.copyMakeBorder(
        part, MARGIN, MARGIN, MARGIN, MARGIN, cv2.BORDER_CONSTANT, value=[int(level) for level in paper]
    )
    return PageImage(np.asarray(framed, np.uint8), page.page_number)
