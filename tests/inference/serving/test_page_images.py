import base64
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from inference.errors import EngineError
from inference.serving.page_images import MAX_RATIO, PreparedImage, fitted_size, prepare_page
from inference.types import ImagingProfile, PageImage
from tests.inference.serving.asking import a_page

SIDES = st.integers(50, 12_000)
UNCROPPED = ImagingProfile(is_cropped=False)


@given(SIDES, SIDES, st.integers(200, 4000), st.integers(10_000, 4_000_000))
def test_no_page_exceeds_the_pixel_budget_or_is_enlarged(width: int, height: int, long_side: int, budget: int) -> None:
    fitted = fitted_size((width, height), long_side, budget)
    assert fitted[0] * fitted[1] <= budget
    assert fitted[0] <= width
    assert fitted[1] <= height


@given(SIDES, SIDES, st.integers(200, 4000))
def test_proportions_are_kept_to_a_pixel(width: int, height: int, long_side: int) -> None:
    new_width, new_height = fitted_size((width, height), long_side, 10**9)
    scale = max(new_width / width, new_height / height)
    assert abs(new_width - width * scale) <= max(1, width / height)
    assert abs(new_height - height * scale) <= max(1, height / width)


@pytest.mark.parametrize("size", [(2480, 3508), (3508, 2480), (3000, 3000), (2400, 3000)])
def test_office_paper_and_wider_is_bounded_by_its_long_side(size: tuple[int, int]) -> None:
    assert max(fitted_size(size, 1440, 10**9)) in {1439, 1440}


def test_a_till_receipt_keeps_its_print_legible() -> None:
    """Shrunk to 1440 in length, a receipt of 600 x 4000 would be 216 pixels wide."""
    width, height = fitted_size((600, 4000), 1440, 1_600_000)
    assert width > 460
    assert width * height <= 1440 * 1440 / 2**0.5


def test_a_page_within_bounds_keeps_every_pixel() -> None:
    page = a_page()
    assert np.array_equal(prepare_page(page, UNCROPPED).pixels, page.pixels)


def test_margins_are_cut_only_where_the_profile_says_so() -> None:
    page = a_page(size=(900, 1200))
    assert prepare_page(page, UNCROPPED).size == (900, 1200)
    width, height = prepare_page(page, ImagingProfile()).size
    assert width * height < 0.3 * 900 * 1200


@pytest.mark.parametrize("size", [(2480, 3508), (480, 640)])
def test_another_scale_is_another_image_for_pages_of_any_size(size: tuple[int, int]) -> None:
    page = a_page(size=size)
    first, second = prepare_page(page, UNCROPPED).size, prepare_page(page, UNCROPPED, 0.75).size
    assert second == pytest.approx((first[0] * 0.75, first[1] * 0.75), abs=1)


def test_a_larger_scale_keeps_to_the_pixel_budget() -> None:
    page = a_page(size=(2480, 3508))
    width, height = prepare_page(page, UNCROPPED, 2.0).size
    assert 0.99 * UNCROPPED.max_pixels < width * height <= UNCROPPED.max_pixels


def test_a_strip_is_refused_before_a_server_refuses_it() -> None:
    strip = PageImage(np.zeros((30, 30 * MAX_RATIO + 30, 3), np.uint8))
    with pytest.raises(EngineError, match="strip of 3030 x 30 pixels"):
        prepare_page(strip, UNCROPPED)


@settings(max_examples=10)
@given(st.integers(60, 95))
def test_image_survives_its_encoding_with_its_colours(quality: int) -> None:
    pixels = np.full((40, 60, 3), (250, 250, 250), np.uint8)
    pixels[10:12, :] = (200, 20, 20)
    url = PreparedImage(pixels, quality).as_data_url()
    kind, _, data = url.partition(b",")
    decoded = np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"), np.int16)
    assert kind == b"data:image/jpeg;base64"
    assert decoded.shape == pixels.shape
    # A thin red line stays red: with thinned-out colours it is mixed with the paper.
    assert np.abs(decoded - pixels.astype(np.int16)).mean() < 4
    assert decoded[10:12, :, 0].mean() - decoded[10:12, :, 1].mean() > 150


def test_picture_in_this_process_is_the_same_image() -> None:
    image = PreparedImage(a_page().pixels, 92)
    assert np.array_equal(np.asarray(image.as_picture()), image.pixels)
