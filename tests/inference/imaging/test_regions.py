"""A marked part of a page is drawn from the original, larger, with a margin of paper around it."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from inference.errors import UnreadableFileError
from inference.imaging.limits import Limits
from inference.imaging.regions import (
    FINE_LONG_SIDE,
    MARGIN,
    MAX_ENLARGEMENT,
    MAX_SIDE,
    MIN_HEIGHT,
    open_page_finely,
    region_image,
)
from inference.types import BBox, PageImage

FINE = Limits(long_side=FINE_LONG_SIDE)


def paper(width: int, height: int, level: int = 240) -> PageImage:
    return PageImage(np.full((height, width, 3), level, np.uint8), 3)


def inner(image: PageImage) -> tuple[int, int]:
    width, height = image.size
    return width - 2 * MARGIN, height - 2 * MARGIN


@pytest.mark.parametrize(
    ("page", "bbox", "size"),
    [
        # Drawn as if the page were 3200 long: twice.
        ((800, 1600), BBox(0.25, 0.25, 0.5, 0.5), (400, 800)),
        # The original has the pixels already.
        ((1600, 3200), BBox(0.25, 0.25, 0.5, 0.5), (400, 800)),
        # A thin line is brought to a readable height, but never enlarged without end.
        ((1600, 3200), BBox(0.1, 0.5, 0.3, 0.51), (960, 96)),
        ((100, 100), BBox(0.5, 0.5, 0.6, 0.51), (40, 4)),
        # The whole page is no larger than what is read at first.
        ((800, 1600), BBox(0.0, 0.0, 1.0, 1.0), (800, 1600)),
        ((1600, 3200), BBox(0.0, 0.0, 1.0, 1.0), (800, 1600)),
    ],
)
def test_a_region_is_enlarged_within_bounds(page: tuple[int, int], bbox: BBox, size: tuple[int, int]) -> None:
    found = region_image(paper(*page), bbox)
    assert inner(found) == size
    assert found.page_number == 3
    assert max(inner(found)) <= MAX_SIDE


def test_bounds_are_what_they_say() -> None:
    assert (MIN_HEIGHT, MAX_SIDE, MAX_ENLARGEMENT) == (96, 1600, 4.0)


@pytest.mark.parametrize("bbox", [BBox(0.999, 0.999, 1.0, 1.0), BBox(0.0, 0.0, 1e-9, 1e-9), BBox(1.0, 1.0, 1.0, 1.0)])
def test_even_a_speck_is_a_picture(bbox: BBox) -> None:
    width, height = inner(region_image(paper(300, 200), bbox))
    assert min(width, height) >= 1


def test_what_stands_in_the_box_is_kept_and_what_stands_outside_is_not() -> None:
    pixels = np.full((400, 400, 3), 230, np.uint8)
    pixels[100:140, 100:200] = (200, 0, 0)
    pixels[300:, :] = (0, 0, 200)
    found = region_image(PageImage(pixels), BBox(0.2, 0.2, 0.6, 0.4)).pixels
    reds = (found[:, :, 0] > 150) & (found[:, :, 1] < 80)
    assert reds.any()
    assert not ((found[:, :, 2] > 150) & (found[:, :, 0] < 80)).any()


def test_the_margin_has_the_colour_of_the_paper() -> None:
    pixels = np.full((400, 400, 3), (250, 240, 200), np.uint8)
    pixels[190:210, 100:300] = 0
    found = region_image(PageImage(pixels), BBox(0.2, 0.4, 0.8, 0.6)).pixels
    for edge in (found[:MARGIN], found[-MARGIN:], found[:, :MARGIN], found[:, -MARGIN:]):
        assert np.abs(edge.reshape(-1, 3).astype(int) - (250, 240, 200)).max() <= 2


def test_a_picture_is_opened_with_more_pixels_than_are_read_at_first(tmp_path: Path) -> None:
    path = tmp_path / "large.jpg"
    Image.new("RGB", (2000, 3000), "white").save(path)
    found = open_page_finely(path, 1, FINE)
    assert found is not None
    assert found.size == (2000, 3000)
    assert open_page_finely(path, 2, FINE) is None


def test_a_turned_picture_is_opened_upright(tmp_path: Path) -> None:
    path = tmp_path / "turned.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (3000, 2000), "white").save(path, exif=exif)
    found = open_page_finely(path, 1, FINE)
    assert found is not None
    assert found.size == (2000, 3000)


def test_the_right_page_of_many_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "many.tif"
    frames = [Image.new("RGB", (100 + 10 * number, 100), "white") for number in range(3)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    for number in (1, 2, 3):
        found = open_page_finely(path, number, FINE)
        assert found is not None
        assert (found.size[0], found.page_number) == (90 + 10 * number, number)


def test_one_page_of_a_pdf_is_drawn_finely(tmp_path: Path) -> None:
    path = tmp_path / "two.pdf"
    path.write_bytes(two_pages())
    for number in (1, 2):
        found = open_page_finely(path, number, FINE)
        assert found is not None
        assert (max(found.size), found.page_number) == (FINE_LONG_SIDE, number)
        is_dark = bool((found.pixels < 100).all(axis=2).mean() > 0.5)
        assert is_dark is (number == 2)
    assert open_page_finely(path, 3, FINE) is None


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\nnothing")
    with pytest.raises(UnreadableFileError):
        open_page_finely(path, 1, FINE)


def two_pages() -> bytes:
    """A white page and a black one."""
    pages = [Image.new("RGB", (60, 80), colour) for colour in ("white", "black")]
    ImageDraw.Draw(pages[0]).point((1, 1), "black")
    buffer = io.BytesIO()
    pages[0].save(buffer, "PDF", save_all=True, append_images=pages[1:])
    return buffer.getvalue()
