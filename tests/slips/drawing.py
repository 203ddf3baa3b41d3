"""Slips drawn from a number: a page in a fixed layout whose values are known, and as worn as one likes.

Everything is made up. The same number draws the same slip.
"""

import datetime
import functools
from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from inference.types import PageImage

COLUMNS, ROWS = 20, 10
"""Places for characters across and lines down, margins included."""
PITCH, LINE = 28, 56
"""Pixels from one character and from one line to the next."""
LEFT, TOP = 2, 1
AT = 6
"""A value begins so many places behind its label."""
PAPER = 245.0
FIRST_TAUGHT = 1_000_000
"""From this number on slips are for teaching; what is recorded has lower ones."""

FIRST = (
    "ACME", "BORNEO", "CEDAR", "DELTA", "EMBER", "FALCON", "GARUDA", "HARBOR", "INDIGO", "JASMIN", "KESTREL", "LOTUS",
    "MERANTI", "NORTH", "ORCHID", "PELITA", "QUARTZ", "RIVER", "SUNRISE", "TANJUNG", "UNITY", "VICTORY", "WILLOW",
    "ZENITH",
)  # fmt: skip
SECOND = ("TRADING", "MART", "BAKERY", "HARDWARE", "FOODS", "SUPPLY", "BOOKS", "PHARMACY", "MOTORS", "CAFE")
FIELDS = ("company", "date", "net", "tax", "total")
LABELS = ("DATE", "DUE", "NET", "TAX", "TOTAL", "CASH", "BACK")


@dataclass(frozen=True, slots=True)
class Slip:
    """What is printed: `values` by field, `lines` as they stand on the page, `wear` from 0 (new) to 1."""

    number: int
    values: Mapping[str, str]
    lines: tuple[str, ...]
    wear: float


def make_slip(number: int, wear: tuple[float, float] = (0.0, 1.0)) -> Slip:
    """Make up what stands on a slip; `wear` says between which bounds it is worn."""
    rng = np.random.default_rng([number, 1])
    # Amounts of either length, so that nothing stands at a fixed place of the answer.
    net = int(rng.integers(*((1_000, 9_999) if rng.random() < 0.4 else (10_000, 90_000))))
    tax = round(net / 10)
    cash = -(-(net + tax) // 1000) * 1000 + int(rng.integers(0, 4)) * 500
    day = datetime.date(2024, 1, 1) + datetime.timedelta(days=int(rng.integers(0, 900)))
    due = day + datetime.timedelta(days=int(rng.integers(7, 60)))
    values = {
        "company": f"{rng.choice(FIRST)} {rng.choice(SECOND)}",
        "date": f"{day:%d/%m/%Y}",
        "net": _amount(net),
        "tax": _amount(tax),
        "total": _amount(net + tax),
    }
    printed = (
        values["date"],
        f"{due:%d/%m/%Y}",
        *(_amount(one) for one in (net, tax, net + tax, cash, cash - net - tax)),
    )
    lines = (values["company"], *(f"{label:<{AT}}{text}" for label, text in zip(LABELS, printed, strict=True)))
    return Slip(number, values, lines, float(rng.uniform(*wear)))


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def draw(slip: Slip) -> PageImage:
    """Draw a slip: blurred, faded in spots and noisy as far as it is worn."""
    rng = np.random.default_rng([slip.number, 2])
    page = np.zeros((ROWS * LINE, COLUMNS * PITCH), np.float32)
    down, right = (int(one) for one in rng.integers(-4, 5, 2))
    for row, line in enumerate(slip.lines, TOP):
        for column, character in enumerate(line, LEFT):
            if character != " ":
                y, x = row * LINE + down, column * PITCH + right
                page[y : y + LINE, x : x + PITCH] += _glyph(character)
    for _ in range(rng.poisson(8 * slip.wear)):
        _fade(page, rng)
    page = np.asarray(cv2.GaussianBlur(page, (0, 0), 0.6 + 1.6 * slip.wear), np.float32)
    ink = rng.uniform(150, 215) * (1.0 - 0.35 * slip.wear)
    noise = (6 + 46 * slip.wear) * rng.standard_normal(page.shape, np.float32)
    grey = np.clip(PAPER - ink * page + noise, 0, 255).astype(np.uint8)
    return PageImage(np.repeat(grey[:, :, None], 3, axis=2), 1)


def _fade(page: npt.NDArray[np.float32], rng: np.random.Generator) -> None:
    """Take most of the ink from a round spot among the values."""
    radius = int(rng.integers(8, 20))
    x = int(rng.integers(LEFT, 16)) * PITCH + PITCH // 2 - radius
    y = int(rng.integers(TOP, ROWS - 1)) * LINE + LINE // 2 - radius
    spot = np.zeros((2 * radius, 2 * radius), np.float32)
    cv2.circle(spot, (radius, radius), radius - 1, float(rng.uniform(0.4, 0.9)), -1)
    page[y : y + 2 * radius, x : x + 2 * radius] *= 1.0 - spot


@functools.cache
def _glyph(character: str) -> npt.NDArray[np.float32]:
    """Return the ink of a character in its place, 0 to 1."""
    font, scale, thickness = cv2.FONT_HERSHEY_SIMPLEX, 1.05, 3
    (width, height), _ = cv2.getTextSize(character, font, scale, thickness)
    ink = np.zeros((LINE, PITCH), np.uint8)
    at = ((PITCH - width) // 2, (LINE + height) // 2 if character.isalnum() else (LINE + 22) // 2)
    cv2.putText(ink, character, at, font, scale, 255, thickness, cv2.LINE_AA)
    return ink.astype(np.float32) / 255.0
