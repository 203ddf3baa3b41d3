import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile

from inference.errors import UnreadableFileError
from inference.imaging.hashing import content_hash
from inference.imaging.limits import Limits
from inference.imaging.pages import OpenedPage, decode_page, encode_page, open_pages
from inference.types import PageImage
from tests.inference.imaging.documents import SAMPLES, encoded, exif_with_orientation, pdf_of_quarters, quarters


def opened(tmp_path: Path, data: bytes, limits: Limits | None = None) -> list[OpenedPage]:
    path = tmp_path / "file"
    path.write_bytes(data)
    return list(open_pages(path, limits or Limits()))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jpg")), ids=lambda path: path.name)
def test_sample_is_its_own_page(path: Path) -> None:
    (page,) = open_pages(path, Limits())
    assert page.is_original
    assert content_hash(page.image) == content_hash(decode_page(path.read_bytes()))


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        (encoded(quarters(), "PNG"), Limits()),
        (encoded(quarters(), "JPEG"), Limits(long_side=100)),
        (encoded(quarters(), "JPEG", exif=exif_with_orientation(3)), Limits()),
        (encoded(quarters().convert("L"), "JPEG"), Limits()),
        (encoded(quarters().convert("CMYK"), "JPEG"), Limits()),
        (pdf_of_quarters((100, 200, 0)), Limits()),
    ],
)
def test_file_that_needed_work_is_not_its_own_page(tmp_path: Path, data: bytes, limits: Limits) -> None:
    (page,) = opened(tmp_path, data, limits)
    assert not page.is_original


def test_upright_tag_needs_no_work(tmp_path: Path) -> None:
    (page,) = opened(tmp_path, encoded(quarters(), "JPEG", exif=exif_with_orientation(1)))
    assert page.is_original


@pytest.mark.parametrize("kind", ["TIFF", "PDF"])
def test_pages_are_numbered_from_one(tmp_path: Path, kind: str) -> None:
    data = encoded(quarters(), kind, save_all=True, append_images=[quarters(), quarters()])
    assert [page.image.page_number for page in opened(tmp_path, data)] == [1, 2, 3]


def test_page_is_contiguous_rgb_of_eight_bits(tmp_path: Path) -> None:
    for data in (encoded(quarters(), "PNG"), pdf_of_quarters((100, 200, 0))):
        (page,) = opened(tmp_path, data)
        assert page.image.pixels.dtype == np.uint8
        assert page.image.pixels.flags.c_contiguous


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "HEIF"])
def test_cut_picture_is_refused_as_truncated(tmp_path: Path, kind: str) -> None:
    data = encoded(quarters((400, 400)), kind)
    with pytest.raises(UnreadableFileError) as caught:
        opened(tmp_path, data[: len(data) * 2 // 3])
    assert caught.value.code == "truncated"


def test_too_many_pages_are_refused_without_reading_them_all(tmp_path: Path) -> None:
    data = encoded(quarters(), "TIFF", save_all=True, append_images=[quarters()] * 5)
    path = tmp_path / "file"
    path.write_bytes(data)
    pages = open_pages(path, Limits(max_pages=2))
    assert [next(pages).image.page_number, next(pages).image.page_number] == [1, 2]
    with pytest.raises(UnreadableFileError, match="too_many_pages"):
        next(pages)


def test_encoded_page_is_a_jpeg_with_full_colour() -> None:
    data = encode_page(PageImage(np.asarray(quarters())))
    with Image.open(io.BytesIO(data)) as image:
        assert isinstance(image, JpegImageFile)
        # (1, 1) for every component: colour at every pixel.
        assert {layer[1:3] for layer in image.layer} == {(1, 1)}


def test_stored_page_comes_back_almost_as_it_was() -> None:
    page = decode_page((SAMPLES / "364.jpg").read_bytes(), 3)
    again = decode_page(encode_page(page), 3)
    assert again.page_number == 3
    assert again.size == page.size
    assert np.abs(again.pixels.astype(int) - page.pixels).mean() < 2


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", encoded(quarters(), "PNG"), encoded(quarters(), "JPEG")[:-300]])
def test_damaged_stored_page_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableFileError):
        decode_page(data)
