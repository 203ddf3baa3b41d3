"""Files to pages: every page upright once, RGB, bounded (S1); one page in memory at a time."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from inference.imaging.inspection import identify_file
from inference.imaging.limits import Limits
from inference.imaging.pdf_client import draw_pdf_pages
from inference.imaging.rasters import open_raster, pages_of, refusing, upright_rgb
from inference.imaging.sniff import MediaType
from inference.types import PageImage

JPEG_QUALITY = 92


@dataclass(frozen=True, slots=True, eq=False)
class OpenedPage:
    """One page. When `is_original`, the file is itself this page as a JPEG: keep its bytes and do not encode again."""

    image: PageImage
    is_original: bool


def open_pages(path: Path, limits: Limits) -> Iterator[OpenedPage]:
    """Yield the pages of the file in order; raise UnreadableFileError, at the latest at the page that fails.

    A caller that wants all or nothing keeps the pages aside until the iterator is exhausted.
    """
    media_type = identify_file(path, limits)
    if media_type is MediaType.PDF:
        for image in draw_pdf_pages(path, limits):
            yield OpenedPage(image, is_original=False)
        return
    with open_raster(path, media_type) as raster:
        for page_number in pages_of(raster, media_type, limits):
            pixels, is_untouched = upright_rgb(raster, limits.long_side)
            is_original = is_untouched and media_type is MediaType.JPEG
            yield OpenedPage(PageImage(pixels, page_number), is_original)


def encode_page(image: PageImage) -> bytes:
    """Return the page as a JPEG whose colours are not thinned out (4:4:4: thin red stamps stay red)."""
    buffer = io.BytesIO()
    Image.fromarray(image.pixels).save(buffer, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    return buffer.getvalue()


def decode_page(data: bytes, page_number: int = 1) -> PageImage:
    """Return the raster of a stored page (what `encode_page` wrote, up to JPEG's loss); raise UnreadableFileError."""
    with refusing(), Image.open(io.BytesIO(data), formats=["JPEG"]) as image:
        return PageImage(np.asarray(image.convert("RGB"), dtype=np.uint8), page_number)
