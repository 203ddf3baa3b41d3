"""Measures of a page image: evidence for confidence, and what asks for a rescue. A few milliseconds a page."""

import cv2
import numpy as np
import numpy.typing as npt

from inference.types import PageImage

_WORK_SIDE = 800
_FRAME_SHARE = 0.03
_DARK_LEVEL = 60
_INK_CONTRAST = 25
_MAX_SKEW_DEGREES = 8.0
_MIN_INK_POINTS = 200
_MAX_INK_POINTS = 12_000


def measure(image: PageImage) -> dict[str, float]:
    """Return the page's measures.

    `sharpness`: variance of the Laplacian at a long side of 800 px (a blurred page has a fraction of a sharp one's).
    `contrast`: 0-1, from the ink's middle grey to the paper's; 0 without ink. `brightness`: mean grey, 0-1.
    `ink_share`: share of the page darker than its surroundings. `dark_border_share`: share of a thin frame along the
    edges that is nearly black. `skew_degrees`: how far lines of text are turned clockwise, within ±8; 0 where there
    is too little ink to tell.
    """
    grey = _work_grey(image.pixels)
    ink = _ink(grey)
    return {
        "sharpness": float(cv2.Laplacian(grey, cv2.CV_32F).var()),
        "contrast": float(np.percentile(grey, 95) - np.median(grey[ink])) / 255 if ink.any() else 0.0,
        "brightness": float(grey.mean()) / 255,
        "ink_share": float(ink.mean()),
        "dark_border_share": _dark_border_share(grey),
        "skew_degrees": _skew_degrees(ink),
    }


def _work_grey(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return grey at the one scale at which figures compare; a smaller page is enlarged to it."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    scale = _WORK_SIDE / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    resized = cv2.resize(grey, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    return np.asarray(resized, dtype=np.uint8)


def _ink(grey: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Mark what is darker than the mean around it: shadows and tinted paper do not count."""
    around = cv2.blur(grey, (31, 31))
    return np.asarray(cv2.subtract(around, grey) > _INK_CONTRAST, dtype=np.bool_)


def _dark_border_share(grey: npt.NDArray[np.uint8]) -> float:
    height, width = grey.shape
    depth = max(1, round(_FRAME_SHARE * max(height, width)))
    frame = np.ones(grey.shape, dtype=np.bool_)
    frame[depth : height - depth, depth : width - depth] = False
    return float((grey[frame] < _DARK_LEVEL).mean())


def _skew_degrees(ink: npt.NDArray[np.bool_]) -> float:
    """Find the turn at which the ink gathers in the sharpest rows: coarse steps, then fine ones around the best."""
    # Long strokes along the edges (scanner borders, table frames) would outvote the text.
    margin = _WORK_SIDE // 40
    rows, columns = np.nonzero(ink[margin:-margin, margin:-margin])
    if len(rows) < _MIN_INK_POINTS:
        return 0.0
    step = 1 + len(rows) // _MAX_INK_POINTS
    ys, xs = rows[::step].astype(np.float32), columns[::step].astype(np.float32)
    best = 0.0
    for span, width in ((_MAX_SKEW_DEGREES, 1.0), (1.0, 0.25), (0.25, 0.0625)):
        turns = best + np.arange(-span, span + width / 2, width)
        # Ties go to the smaller turn: an empty difference must not tilt the page.
        best = float(max(turns, key=lambda turn: (_row_sharpness(xs, ys, float(turn)), -abs(turn))))
    return best


def _row_sharpness(xs: npt.NDArray[np.float32], ys: npt.NDArray[np.float32], degrees: float) -> float:
    """Return how unevenly the ink lies over the rows once the page is turned back by `degrees`."""
    radians = np.deg2rad(degrees)
    rows = ys * np.float32(np.cos(radians)) - xs * np.float32(np.sin(radians))
    counts = np.bincount((rows - rows.min()).astype(np.int32)).astype(np.float64)
    return float(np.square(np.diff(counts)).sum())
