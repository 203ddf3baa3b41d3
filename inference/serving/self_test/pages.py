"""Pages drawn for a self-test: nobody's document, and the same on every machine."""

import functools

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from inference.types import PageImage

NUMBERS = ("48217", "48277")
"""What the two near-identical pages say: they differ in one digit."""

_SIZE = (560, 420)
_LINES = ("RECEIPT No {number}", "14 March 2026", "Total 138.50")


@functools.cache
def near_identical_pages() -> tuple[PageImage, PageImage]:
    """Return two small receipts that differ in one digit of their number."""
    first, second = (_receipt(number) for number in NUMBERS)
    return first, second


def _receipt(number: str) -> PageImage:
    image = Image.new("RGB", _SIZE, "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=44)
    for row, line in enumerate(_LINES):
        draw.text((40, 60 + 100 * row), line.format(number=number), fill="black", font=font)
    return PageImage(np.asarray(image, dtype=np.uint8))


def dense_page(side: int) -> PageImage:
    """Return a square page full of print, `side` pixels wide: as large as any page that could be sent."""
    image = Image.new("RGB", (side, side), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=28)
    line = " ".join(str(number * number) for number in range(3, 3 + side // 40))
    for top in range(20, side - 40, 40):
        draw.text((20, top), line, fill="black", font=font)
    return PageImage(np.asarray(image, dtype=np.uint8))
