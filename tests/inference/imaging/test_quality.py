import cv2
import numpy as np
import pytest

from inference.imaging.pages import decode_page
from inference.imaging.quality import measure
from inference.types import PageImage
from tests.inference.imaging.documents import SAMPLES


def sample(name: str = "351.jpg") -> PageImage:
    return decode_page((SAMPLES / name).read_bytes())


def turned(page: PageImage, degrees_clockwise: float) -> PageImage:
    width, height = page.size
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -degrees_clockwise, 1)
    return PageImage(
        np.asarray(cv2.warpAffine(page.pixels, matrix, (width, height), borderValue=(255, 255, 255)), np.uint8)
    )


@pytest.mark.parametrize("name", ["351.jpg", "161.jpg", "407.jpg", "548.jpg"])
@pytest.mark.parametrize("degrees", [-5.0, -1.5, 0.0, 0.75, 3.0])
def test_skew_is_told_in_clockwise_degrees(name: str, degrees: float) -> None:
    assert measure(turned(sample(name), degrees))["skew_degrees"] == pytest.approx(degrees, abs=0.5)


def test_blur_lowers_sharpness() -> None:
    page = sample()
    blurred = PageImage(np.asarray(cv2.GaussianBlur(page.pixels, (0, 0), 3), np.uint8))
    assert measure(blurred)["sharpness"] < measure(page)["sharpness"] / 5


def test_sharpness_compares_across_scales() -> None:
    page = sample("407.jpg")
    half = PageImage(np.asarray(cv2.resize(page.pixels, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA), np.uint8))
    assert measure(half)["sharpness"] == pytest.approx(measure(page)["sharpness"], rel=0.4)


def test_faded_print_has_less_contrast() -> None:
    page = sample()
    faded = PageImage((255 - (255 - page.pixels.astype(np.uint16)) // 3).astype(np.uint8))
    assert measure(faded)["contrast"] < measure(page)["contrast"] / 1.5


def test_dark_page_is_less_bright() -> None:
    page = sample()
    dark = PageImage(page.pixels // 2)
    assert measure(dark)["brightness"] == pytest.approx(measure(page)["brightness"] / 2, abs=0.02)


def test_black_scanner_border_is_seen() -> None:
    pixels = np.full((1000, 800, 3), 255, dtype=np.uint8)
    assert measure(PageImage(pixels))["dark_border_share"] == 0
    pixels[:, :60] = 10
    share = measure(PageImage(pixels))["dark_border_share"]
    assert 0.2 < share < 0.4


@pytest.mark.parametrize("level", [0, 128, 255])
@pytest.mark.parametrize("shape", [(1200, 800), (1, 1), (3, 2000), (30, 30)])
def test_empty_page_has_finite_measures(level: int, shape: tuple[int, int]) -> None:
    found = measure(PageImage(np.full((*shape, 3), level, dtype=np.uint8)))
    assert all(np.isfinite(value) for value in found.values())
    assert found["skew_degrees"] == found["ink_share"] == found["contrast"] == found["sharpness"] == 0
    assert found["brightness"] == pytest.approx(level / 255, abs=0.01)


def test_measures_are_plain_floats_under_fixed_names() -> None:
    found = measure(sample())
    assert set(found) == {"sharpness", "contrast", "brightness", "ink_share", "dark_border_share", "skew_degrees"}
    assert {type(value) for value in found.values()} == {float}


def test_measuring_leaves_the_page_as_it_is() -> None:
    page = sample()
    before = page.pixels.copy()
    measure(page)
    assert np.array_equal(page.pixels, before)
