"""Crop to content (S2): black scanner borders and white margins go, and nothing else."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inference.types import BBox, PageImage

_WORK_SIDE = 800
_DARK_LEVEL = 110
_DARK_MEAN = 70
_STRAY_SHARE = 0.003
_MAX_BORDER_SHARE = 0.2
_INK_CONTRAST = 20
_SPECK_AREA = 3
_PADDING_SHARE = 0.015


@dataclass(slots=True)
class _Window:
    """Half-open pixel bounds of what is kept."""

    left: int
    top: int
    right: int
    bottom: int


def crop_to_content(image: PageImage) -> tuple[PageImage, BBox]:
    """Return the page without its empty edges, and where the returned part lies in the given page.

    Conservative: an edge goes only where it is evenly black or holds nothing darker than paper; a padding stays around
    the content; a page on which nothing is found comes back whole. To map a box of the cropped page back, pass both
    boxes to `box_in_page`.
    """
    width, height = image.size
    scale = min(1.0, _WORK_SIDE / max(width, height))
    grey = _work_grey(image.pixels, scale)
    window = _Window(0, 0, grey.shape[1], grey.shape[0])
    # Twice: a border across the corner is evenly black only once its neighbour is gone.
    for _ in range(2):
        _cut_black_borders(grey, window)
    if not _shrink_to_ink(grey, window):
        return image, BBox(0.0, 0.0, 1.0, 1.0)
    across, down = width / grey.shape[1], height / grey.shape[0]
    left, top = int(window.left * across), int(window.top * down)
    right, bottom = min(width, math.ceil(window.right * across)), min(height, math.ceil(window.bottom * down))
    if (left, top, right, bottom) == (0, 0, width, height):
        return image, BBox(0.0, 0.0, 1.0, 1.0)
    pixels = np.ascontiguousarray(image.pixels[top:bottom, left:right])
    box = BBox(left / width, top / height, right / width, bottom / height)
    return PageImage(pixels, image.page_number), box


def box_in_page(box: BBox, crop: BBox) -> BBox:
    """Map `box`, given in shares of a cropped page, to shares of the page that it was cropped from."""
    return BBox(
        crop.x0 + box.x0 * crop.width,
        crop.y0 + box.y0 * crop.height,
        crop.x0 + box.x1 * crop.width,
        crop.y0 + box.y1 * crop.height,
    )


def _work_grey(pixels: npt.NDArray[np.uint8], scale: float) -> npt.NDArray[np.uint8]:
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    if scale < 1:
        size = (max(1, round(grey.shape[1] * scale)), max(1, round(grey.shape[0] * scale)))
        grey = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
    return np.asarray(grey, dtype=np.uint8)


def _cut_black_borders(grey: npt.NDArray[np.uint8], window: _Window) -> None:
    """Move each bound inwards over rows or columns that are black from end to end."""
    columns = slice(window.left, window.right)
    window.top += _black_run(grey[window.top : window.bottom, columns])
    window.bottom -= _black_run(grey[window.top : window.bottom, columns][::-1])
    rows = slice(window.top, window.bottom)
    window.left += _black_run(grey[rows, window.left : window.right].T)
    window.right -= _black_run(grey[rows, window.left : window.right].T[::-1])


def _black_run(lines: npt.NDArray[np.uint8]) -> int:
    """Return how many of the first lines are black. White print on a black band is light enough to end the run."""
    reach = lines[: int(len(lines) * _MAX_BORDER_SHARE) + 1]
    if reach.size == 0:
        return 0
    is_black = ((reach > _DARK_LEVEL).mean(axis=1) <= _STRAY_SHARE) & (reach.mean(axis=1) < _DARK_MEAN)
    run = len(reach) if is_black.all() else int(np.argmin(is_black))
    # Black as far as we look is a dark page, not a border.
    return 0 if run == len(reach) else run


def _shrink_to_ink(grey: npt.NDArray[np.uint8], window: _Window) -> bool:
    """Shrink the window to the ink in it, with padding; return whether there was any."""
    part = grey[window.top : window.bottom, window.left : window.right]
    paper = int(np.percentile(part, 90))
    ink = (part < paper - _INK_CONTRAST).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    # The first is the background. Single specks are dust; a full stop at this scale is larger.
    blobs = stats[1:][stats[1:, cv2.CC_STAT_AREA] >= _SPECK_AREA]
    if len(blobs) == 0:
        return False
    padding = round(_PADDING_SHARE * max(grey.shape)) + 1
    lefts, tops = blobs[:, cv2.CC_STAT_LEFT], blobs[:, cv2.CC_STAT_TOP]
    rights, bottoms = lefts + blobs[:, cv2.CC_STAT_WIDTH], tops + blobs[:, cv2.CC_STAT_HEIGHT]
    right, bottom = window.left + int(rights.max()) + padding, window.top + int(bottoms.max()) + padding
    window.right, window.bottom = min(window.right, right), min(window.bottom, bottom)
    window.left += max(0, int(lefts.min()) - padding)
    window.top += max(0, int(tops.min()) - padding)
    return True
