"""What a box shows, cut out of the page's picture."""

import io

import pytest
from django.core.files.base import ContentFile
from PIL import Image, ImageDraw

from review.exceptions import NotFoundError
from review.models import Page
from review.selectors.crops import Box, page_crop, pixels_of
from tests import factories
from tests.conftest import Cast


@pytest.fixture
def page(cast: Cast) -> Page:
    """400 × 200: red on the left half, blue on the right."""
    picture = Image.new("RGB", (400, 200), "red")
    ImageDraw.Draw(picture).rectangle((200, 0, 399, 199), fill="blue")
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=95)
    page = factories.make_routed(cast.document_type).pages.get()
    page.image.save("page.jpg", ContentFile(buffer.getvalue()))
    return page


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((0.0, 0.0, 1.0, 1.0), (0, 0, 400, 200)),
        ((0.25, 0.5, 0.5, 0.75), (100, 100, 200, 150)),
        ((0.251, 0.501, 0.499, 0.749), (100, 100, 200, 150)),
        ((0.1, 0.1, 0.100001, 0.100001), (40, 20, 41, 21)),
        ((1.0, 1.0, 1.0, 1.0), (399, 199, 400, 200)),
    ],
)
def test_a_box_touches_whole_pixels_on_the_page(box: Box, expected: tuple[int, int, int, int]) -> None:
    assert pixels_of(box, (400, 200)) == expected


def test_a_crop_shows_what_stands_in_the_box(page: Page) -> None:
    with Image.open(io.BytesIO(page_crop(page, (0.75, 0.0, 1.0, 0.5)))) as crop:
        assert (crop.format, crop.size) == ("JPEG", (100, 100))
        red, _green, blue = crop.getpixel((50, 50))  # type: ignore[misc]  # a JPEG in colour
        assert blue > 200 > 60 > red


def test_the_whole_page_can_be_asked_for(page: Page) -> None:
    with Image.open(io.BytesIO(page_crop(page, (0.0, 0.0, 1.0, 1.0)))) as crop:
        assert crop.size == (400, 200)


@pytest.mark.parametrize("content", [None, b"no picture"])
def test_a_picture_that_is_lost_or_damaged_is_not_found(page: Page, content: bytes | None) -> None:
    page.image.storage.delete(str(page.image.name))
    if content is not None:
        page.image.storage.save(str(page.image.name), ContentFile(content))
    with pytest.raises(NotFoundError) as caught:
        page_crop(page, (0.0, 0.0, 1.0, 1.0))
    assert caught.value.code == "file_missing"
