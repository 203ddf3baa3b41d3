"""Copies are found; a page that differs in one digit never is. Real receipts, with digits printed on them."""

import io
import itertools
import math
import random
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from inference.imaging.similarity import (
    HASH_DIGITS,
    LEAST_SCALE,
    Difference,
    difference,
    is_same_at_reading_resolution,
    perceptual_hash,
)
from inference.types import MAX_DISTANCE, PageImage, hamming_distance

Pixels = npt.NDArray[np.uint8]

SAMPLES = sorted((Path(__file__).resolve().parents[3] / "samples").glob("*.jpg"))
FACES = cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_PLAIN
SIDE = 160


def load(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=np.uint8)


def encoded(pixels: Pixels, quality: int) -> Pixels:
    """The same, once more through JPEG."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer).convert("RGB"), dtype=np.uint8)


def scaled(pixels: Pixels, share: float) -> Pixels:
    height, width = pixels.shape[:2]
    size = (round(width * share), round(height * share))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def brightened(pixels: Pixels) -> Pixels:
    return np.asarray(np.clip(pixels * 0.9 + 15, 0, 255), dtype=np.uint8)


def shifted(pixels: Pixels, by: int) -> Pixels:
    return np.pad(pixels, ((by, 0), (0, 0), (0, 0)), mode="edge")[: pixels.shape[0]]


@pytest.fixture(scope="module")
def receipts() -> dict[str, Pixels]:
    assert len(SAMPLES) == 12
    return {path.stem: load(path) for path in SAMPLES}


def with_text(
    pixels: Pixels, text: str, at: tuple[int, int], height: int, shades: tuple[int, int], font: int
) -> Pixels:
    """Print a text so many pixels high over a patch of paper, at the left end of its base line."""
    ink, paper = shades
    face = ImageFont.load_default(size=height * 1.4) if font < 0 else None
    image = Image.fromarray(pixels.copy())
    draw = ImageDraw.Draw(image)
    if face is not None:
        box = draw.textbbox(at, text, font=face, anchor="ls")
        draw.rectangle((box[0] - 2, box[1] - 2, box[2] + 2, box[3] + 2), fill=(paper,) * 3)
        draw.text(at, text, font=face, fill=(ink,) * 3, anchor="ls")
        return np.asarray(image)
    scale = cv2.getFontScaleFromHeight(FACES[font], height)
    (width, tall), below = cv2.getTextSize(text, FACES[font], scale, 1)
    canvas = np.asarray(image).copy()
    cv2.rectangle(canvas, (at[0] - 2, at[1] - tall - 2), (at[0] + width + 2, at[1] + below), (paper,) * 3, -1)
    cv2.putText(canvas, text, at, FACES[font], scale, (ink,) * 3, 1, cv2.LINE_AA)
    return canvas


def pairs_of_prices(seed: int, n: int) -> Iterator[tuple[str, str]]:
    """Prices that differ in one digit; every pair of digits comes in turn, at any place of the price."""
    chance = random.Random(seed)
    digits = itertools.cycle(itertools.combinations("0123456789", 2))
    for one, other in itertools.islice(digits, n):
        price = f"{chance.randrange(10, 999)}.{chance.randrange(100):02}"
        place = chance.choice([n for n, letter in enumerate(price) if letter.isdigit()])
        yield price[:place] + one + price[place + 1 :], price[:place] + other + price[place + 1 :]


@pytest.mark.parametrize("stem", [path.stem for path in SAMPLES])
def test_two_receipts_that_differ_in_one_digit_are_never_the_same(receipts: dict[str, Pixels], stem: str) -> None:
    """For each of 12 receipts 225 pairs of pages, 2,700 in all: every pair of digits, five looks of print.

    From 8 to 20 pixels high, from faint (30 grey levels) to black on white; the second page comes through JPEG or is
    brightened anew, as a near duplicate would be.
    """
    chance = random.Random(int(stem))
    changes = [lambda page: page, lambda page: encoded(page, 75), lambda page: encoded(page, 92), brightened]
    wrong = []
    for first, second in pairs_of_prices(int(stem), 225):
        height, ink, font = chance.randrange(8, 21), chance.randrange(10, 200), chance.randrange(-1, len(FACES))
        paper = chance.randrange(ink + 30, 256)
        top = chance.randrange(receipts[stem].shape[0] - SIDE)
        left = chance.randrange(receipts[stem].shape[1] - SIDE)
        part = receipts[stem][top : top + SIDE, left : left + SIDE]
        at = (chance.randrange(4, SIDE // 3), chance.randrange(40, SIDE - 12))
        one, other = (with_text(part, text, at, height, (ink, paper), font) for text in (first, second))
        found = difference(PageImage(one), PageImage(chance.choice(changes)(other)))
        if found.is_none:
            wrong.append((first, second, height, ink, paper, font, found))
    assert wrong == []


@pytest.mark.parametrize("stem", [path.stem for path in SAMPLES])
def test_nor_are_they_as_whole_pages(receipts: dict[str, Pixels], stem: str) -> None:
    page = receipts[stem]
    at = (page.shape[1] // 3, page.shape[0] // 2)
    one, other = (PageImage(with_text(page, text, at, 12, (60, 240), 0)) for text in ("RM 13.80", "RM 18.80"))
    assert not is_same_at_reading_resolution(one, other)
    assert hamming_distance(perceptual_hash(one), perceptual_hash(other)) <= MAX_DISTANCE, "the hash alone would err"


@pytest.mark.parametrize("stem", [path.stem for path in SAMPLES])
@pytest.mark.parametrize(
    "change",
    [
        lambda page: encoded(page, 95),
        lambda page: encoded(page, 90),
        brightened,
        lambda page: scaled(page, 0.9),
        lambda page: shifted(page, 2),
    ],
    ids=["quality 95", "quality 90", "brighter", "smaller", "shifted"],
)
def test_a_copy_is_proposed_and_is_the_same(receipts: dict[str, Pixels], stem: str, change: object) -> None:
    assert callable(change)
    page, copy = PageImage(receipts[stem]), PageImage(change(receipts[stem]))
    assert hamming_distance(perceptual_hash(page), perceptual_hash(copy)) <= MAX_DISTANCE
    assert is_same_at_reading_resolution(page, copy), difference(page, copy)
    assert is_same_at_reading_resolution(copy, page)


def test_different_receipts_are_different(receipts: dict[str, Pixels]) -> None:
    pages = [PageImage(pixels) for pixels in receipts.values()]
    assert not any(is_same_at_reading_resolution(*pair) for pair in itertools.combinations(pages, 2))


def test_what_a_much_smaller_page_lacks_cannot_be_compared(receipts: dict[str, Pixels]) -> None:
    page = receipts[SAMPLES[0].stem]
    small = scaled(page, LEAST_SCALE - 0.05)
    assert difference(PageImage(page), PageImage(small)) == Difference(math.inf, math.inf)
    assert difference(PageImage(small), PageImage(page)) == Difference(math.inf, math.inf)


def test_another_shape_is_another_page(receipts: dict[str, Pixels]) -> None:
    page = receipts[SAMPLES[0].stem]
    assert difference(PageImage(page), PageImage(page[:-20])) == Difference(math.inf, math.inf)


def test_a_large_shift_is_another_page(receipts: dict[str, Pixels]) -> None:
    page = receipts[SAMPLES[0].stem]
    assert not is_same_at_reading_resolution(PageImage(page), PageImage(shifted(page, 8)))


def test_empty_pages_are_the_same() -> None:
    white, grey = (PageImage(np.full((300, 200, 3), shade, np.uint8)) for shade in (255, 240))
    assert is_same_at_reading_resolution(white, grey)


def test_a_faint_line_on_an_empty_page_is_seen() -> None:
    empty = np.full((300, 200, 3), 255, np.uint8)
    line = empty.copy()
    line[150, 20:60] = 225
    assert not is_same_at_reading_resolution(PageImage(empty), PageImage(line))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(20, 90), st.integers(20, 90))
def test_a_page_is_the_same_as_itself_and_order_does_not_count(seed: int, height: int, width: int) -> None:
    chance = np.random.default_rng(seed)
    one, other = (PageImage(chance.integers(0, 256, (height, width, 3), np.uint8)) for _ in range(2))
    assert difference(one, one).grey <= 1e-3
    assert not is_same_at_reading_resolution(one, other)
    assert not is_same_at_reading_resolution(other, one)


def test_a_hash_has_sixteen_digits() -> None:
    chance = np.random.default_rng(1)
    digest = perceptual_hash(PageImage(chance.integers(0, 256, (90, 60, 3), np.uint8)))
    assert len(digest) == HASH_DIGITS
    assert int(digest, 16) >= 0
