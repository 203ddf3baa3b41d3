"""Pages that look the same: a hash proposes, a comparison of the pixels decides (S7).

The hash costs nothing and is often wrong: receipts of one till look alike from afar. So a hit needs a second look, at
the resolution at which the pages are read, and that look must never take two pages for one that differ in a single
digit. It is strict for that: a page that was scanned again is another page; what it finds are copies that were
encoded or brightened anew, and some that were scaled.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inference.types import PageImage

Grey = npt.NDArray[np.float32]

HASH_DIGITS = 16
_HASH_SIDE = 32
_HASH_BLOCK = 8
LEAST_SCALE = 0.8
"""Of the larger page's width and height the smaller must have this share: what it lacks cannot be compared."""
_MAX_ASPECT_DIFFERENCE = 0.005
_MAX_SHIFT = 3
"""In pixels. So much of an edge cannot be compared: no digit that anybody could read fits into it."""
_STROKE_SIGMA = 0.8
_NEIGHBOURHOOD = 15
_LEAST_CONTRAST = 6.0
_MAX_CONTRAST_CHANGE = 1.5
MAX_GREY_DIFFERENCE = 4.0
MAX_RELATIVE_DIFFERENCE = 0.6
"""The limits for the largest difference of a pixel: in grey levels, which sees a digit beside bold print, and as a
share of the contrast around it, which sees a faint one on empty paper. On real receipts copies differ by up to 3.7
levels and 0.6 (JPEG at quality 90; below that a part of the copies is read again), digits 8 pixels high and 30 levels
darker than the paper by 7.2 levels and more (`tests/inference/imaging/test_similarity.py`)."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest difference between two pages: in `grey` levels, and `relative` to the contrast around it."""

    grey: float
    relative: float

    @property
    def is_none(self) -> bool:
        """Whether no stroke can be another one."""
        return self.grey <= MAX_GREY_DIFFERENCE and self.relative <= MAX_RELATIVE_DIFFERENCE


_ANOTHER_PAGE = Difference(math.inf, math.inf)


def perceptual_hash(image: PageImage) -> str:
    """Return 64 bits in hex that pages of the same look share but for a few: the signs of low frequencies (pHash)."""
    small = cv2.resize(_grey(image), (_HASH_SIDE, _HASH_SIDE), interpolation=cv2.INTER_AREA)
    low = cv2.dct(small)[:_HASH_BLOCK, :_HASH_BLOCK].ravel()
    bits = low > np.median(low[1:])
    return np.packbits(bits).tobytes().hex()


def is_same_at_reading_resolution(first: PageImage, second: PageImage) -> bool:
    """Whether two rasters show the same page, every stroke of it, at the resolution of the smaller one.

    Differences of brightness and contrast, of compression, and a shift by a few pixels are let pass.
    """
    return difference(first, second).is_none


def difference(first: PageImage, second: PageImage) -> Difference:
    """Return how far two pages differ where they differ most; infinite for pages that cannot be laid on each other."""
    scale = min(first.size[0] / second.size[0], first.size[1] / second.size[1])
    aspect = first.size[0] * second.size[1] / (first.size[1] * second.size[0])
    if not LEAST_SCALE <= scale <= 1 / LEAST_SCALE or abs(aspect - 1) > _MAX_ASPECT_DIFFERENCE:
        return _ANOTHER_PAGE
    size = min(first.size, second.size)
    one, other = (_brought_to(_grey(page), size) for page in (first, second))
    return min((_difference(*pair) for pair in _registered(one, other)), key=lambda found: found.grey)


def _difference(one: Grey, other: Grey) -> Difference:
    gain = max(float(one.std()), _LEAST_CONTRAST) / max(float(other.std()), _LEAST_CONTRAST)
    if not 1 / _MAX_CONTRAST_CHANGE <= gain <= _MAX_CONTRAST_CHANGE:
        return _ANOTHER_PAGE
    other = (other - other.mean()) * np.float32(gain) + one.mean()
    one, other = (cv2.GaussianBlur(page, (0, 0), _STROKE_SIGMA).astype(np.float32) for page in (one, other))
    contrast = np.maximum(np.maximum(_contrast(one), _contrast(other)), _LEAST_CONTRAST)
    apart = np.abs(one - other)
    return Difference(float(apart.max()), float((apart / contrast).max()))


def _grey(image: PageImage) -> Grey:
    return cv2.cvtColor(image.pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)


def _brought_to(page: Grey, size: tuple[int, int]) -> Grey:
    height, width = page.shape
    return page if (width, height) == size else cv2.resize(page, size, interpolation=cv2.INTER_AREA).astype(np.float32)


def _registered(one: Grey, other: Grey) -> Iterator[tuple[Grey, Grey]]:
    """Yield both pages as they are, and what they share under each shift by whole pixels that may lay one on the other.

    Whole pixels only: between them a stroke would have to be made up.
    """
    yield one, other
    height, width = one.shape
    # It multiplies what it is given by the window, in place.
    window = cv2.createHanningWindow((width, height), cv2.CV_32F)
    found, _ = cv2.phaseCorrelate(one.copy(), other.copy(), window)
    for dx, dy in itertools.product(*({math.floor(by + 0.1), math.ceil(by - 0.1)} for by in found)):
        if (dx, dy) != (0, 0) and max(abs(dx), abs(dy)) <= _MAX_SHIFT:
            left, top = max(0, -dx), max(0, -dy)
            right, bottom = width - max(0, dx), height - max(0, dy)
            yield one[top:bottom, left:right], other[top + dy : bottom + dy, left + dx : right + dx]


def _contrast(page: Grey) -> Grey:
    """Return the standard deviation around each pixel."""
    box = (_NEIGHBOURHOOD, _NEIGHBOURHOOD)
    mean = cv2.boxFilter(page, -1, box)
    square = cv2.sqrBoxFilter(page, -1, box)
    return np.sqrt(np.maximum(square - mean * mean, 0.0)).astype(np.float32)
