from pathlib import Path

import numpy as np
import pytest

from inference.imaging.crop import box_in_page, crop_to_content
from inference.imaging.pages import decode_page
from inference.types import BBox, PageImage
from tests.inference.imaging.documents import SAMPLES

WHOLE_PAGE = BBox(0.0, 0.0, 1.0, 1.0)


def paper(height: int = 1000, width: int = 800, level: int = 250) -> np.ndarray:
    return np.full((height, width, 3), level, dtype=np.uint8)


def kept(pixels: np.ndarray) -> tuple[int, int, int, int]:
    """Pixel bounds (left, top, right, bottom) of what the crop keeps."""
    height, width = pixels.shape[:2]
    cropped, box = crop_to_content(PageImage(pixels))
    bounds = (round(box.x0 * width), round(box.y0 * height), round(box.x1 * width), round(box.y1 * height))
    left, top, right, bottom = bounds
    assert np.array_equal(cropped.pixels, pixels[top:bottom, left:right])
    return bounds


def test_white_margins_go_and_a_padding_stays() -> None:
    pixels = paper()
    pixels[400:600, 300:500] = 30
    left, top, right, bottom = kept(pixels)
    assert 270 <= left < 300
    assert 370 <= top < 400
    assert 500 < right <= 530
    assert 600 < bottom <= 630


def test_black_scanner_borders_go() -> None:
    pixels = paper()
    pixels[:50] = pixels[-70:] = 5
    pixels[:, :40] = pixels[:, -30:] = 12
    pixels[200:800, 200:600] = 60
    left, top, right, bottom = kept(pixels)
    assert 160 <= left <= 200
    assert 160 <= top <= 200
    assert 600 <= right <= 640
    assert 800 <= bottom <= 840


def test_white_print_on_a_black_band_stays() -> None:
    pixels = paper()
    pixels[:120] = 10
    pixels[50:70, 300:340] = 250
    pixels[500:600, 100:700] = 20
    assert kept(pixels)[1] <= 50


@pytest.mark.parametrize("level", [0, 90, 250, 255])
def test_evenly_filled_page_comes_back_whole(level: int) -> None:
    page = PageImage(paper(level=level), 4)
    cropped, box = crop_to_content(page)
    assert box == WHOLE_PAGE
    assert cropped is page


def test_page_full_to_its_edges_comes_back_whole() -> None:
    pixels = paper()
    pixels[::20] = 40
    pixels[-1:] = 40
    assert crop_to_content(PageImage(pixels))[1] == WHOLE_PAGE


def test_faint_pencil_is_content() -> None:
    pixels = paper()
    pixels[500:600, 300:500] = 30
    pixels[900:905, 700:760] = 215
    _, _, right, bottom = kept(pixels)
    assert right >= 760
    assert bottom >= 905


def test_grain_of_dust_is_not_content() -> None:
    pixels = paper()
    pixels[400:600, 300:500] = 30
    pixels[10, 10] = 30
    assert kept(pixels)[0] > 200


def test_page_number_stays_with_the_crop() -> None:
    pixels = paper()
    pixels[400:600, 300:500] = 30
    assert crop_to_content(PageImage(pixels, 7))[0].page_number == 7


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (2, 2), (3000, 20)])
def test_page_of_any_shape_is_answered(shape: tuple[int, int]) -> None:
    pixels = paper(*shape)
    pixels[0, 0] = 0
    cropped, box = crop_to_content(PageImage(pixels))
    assert cropped.pixels.size > 0
    assert 0 <= box.x0 < box.x1 <= 1
    assert 0 <= box.y0 < box.y1 <= 1


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jpg")), ids=lambda path: path.name)
def test_no_ink_of_a_sample_is_cut_off(path: Path) -> None:
    page = decode_page(path.read_bytes())
    grey = page.pixels.mean(axis=2)
    width, height = page.size
    left, top, right, bottom = kept(page.pixels)
    outside = np.ones(grey.shape, dtype=bool)
    outside[top:bottom, left:right] = False
    dark = (grey < 140) & outside
    # A column black from top to bottom is the scanner's, not the receipt's.
    dark[:, (grey < 140).mean(axis=0) > 0.98] = False
    assert dark.sum() < 0.0005 * width * height


def test_box_of_the_crop_maps_back_to_the_page() -> None:
    crop = BBox(0.2, 0.1, 0.7, 0.5)
    mapped = box_in_page(BBox(0.0, 0.5, 1.0, 1.0), crop)
    assert mapped == pytest.approx((0.2, 0.3, 0.7, 0.5))
    assert box_in_page(WHOLE_PAGE, crop) == pytest.approx(crop)


def test_pixel_found_in_the_crop_is_the_same_pixel_of_the_page() -> None:
    pixels = paper()
    pixels[400:600, 300:500] = 30
    pixels[450, 350] = (200, 0, 0)
    cropped, crop = crop_to_content(PageImage(pixels))
    y, x = (int(index[0]) for index in np.nonzero(cropped.pixels[:, :, 0] == 200))
    width, height = cropped.size
    mapped = box_in_page(BBox(x / width, y / height, (x + 1) / width, (y + 1) / height), crop)
    assert (mapped.x0 * 800, mapped.y0 * 1000) == pytest.approx((350, 450), abs=0.01)
