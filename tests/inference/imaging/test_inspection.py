from pathlib import Path

import pytest
from PIL import Image

from inference.errors import UnreadableFileError
from inference.imaging.inspection import Inspection, inspect_file
from inference.imaging.limits import Limits
from inference.imaging.sniff import FileHint, MediaType
from tests.inference.imaging.documents import (
    SAMPLES,
    encoded,
    encrypted_pdf,
    pdf,
    pdf_of_quarters,
    png_claiming,
    quarters,
)

LIMITS = Limits()
NO_PAGES = pdf([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"])
TWO_PAGE_TIFF = encoded(quarters(), "TIFF", save_all=True, append_images=[quarters((30, 40))])


def stored(tmp_path: Path, data: bytes, name: str = "upload.bin") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def refusal(path: Path, limits: Limits = LIMITS) -> UnreadableFileError:
    with pytest.raises(UnreadableFileError) as caught:
        inspect_file(path, limits)
    return caught.value


@pytest.mark.parametrize(
    ("data", "media_type", "n_pages"),
    [
        (encoded(quarters(), "JPEG"), MediaType.JPEG, 1),
        (encoded(quarters(), "PNG"), MediaType.PNG, 1),
        (encoded(quarters(), "WEBP"), MediaType.WEBP, 1),
        (TWO_PAGE_TIFF, MediaType.TIFF, 2),
        (encoded(quarters(), "HEIF"), MediaType.HEIC, 1),
        (pdf_of_quarters((100, 200, 0), (50, 50, 90)), MediaType.PDF, 2),
        (encrypted_pdf(""), MediaType.PDF, 1),
    ],
)
def test_accepted_file_is_described(tmp_path: Path, data: bytes, media_type: MediaType, n_pages: int) -> None:
    assert inspect_file(stored(tmp_path, data), LIMITS) == Inspection(media_type, len(data), n_pages)


def test_wrong_name_does_not_mislead(tmp_path: Path) -> None:
    path = stored(tmp_path, encoded(quarters(), "PNG"), "invoice.pdf")
    assert inspect_file(path, LIMITS).media_type is MediaType.PNG


@pytest.mark.parametrize(
    ("data", "limits", "code"),
    [
        (b"", LIMITS, "empty_file"),
        (b"hello", LIMITS, "unknown_type"),
        (encoded(quarters(), "JPEG"), Limits(max_bytes=100), "too_many_bytes"),
        (encoded(quarters(), "PNG"), Limits(max_pixels=80 * 120 - 1), "too_many_pixels"),
        (encoded(quarters(), "HEIF"), Limits(max_pixels=80 * 120 - 1), "too_many_pixels"),
        (TWO_PAGE_TIFF, Limits(max_pages=1), "too_many_pages"),
        (pdf_of_quarters((9, 9, 0), (9, 9, 0)), Limits(max_pages=1), "too_many_pages"),
        (encrypted_pdf("secret"), LIMITS, "encrypted"),
        (NO_PAGES, LIMITS, "no_pages"),
        (b"%PDF-1.7\nnothing\n%%EOF\n", LIMITS, "damaged"),
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\0IEND" + bytes(8), LIMITS, "damaged"),
        (pdf_of_quarters((100, 200, 0))[:300], LIMITS, "truncated"),
        (encoded(quarters(), "WEBP")[:-20], LIMITS, "truncated"),
        (pdf_of_quarters((9, 9, 0)), Limits(pdf_seconds=0.000001), "time_limit"),
    ],
)
def test_refused_file_says_exactly_why(tmp_path: Path, data: bytes, limits: Limits, code: str) -> None:
    assert refusal(stored(tmp_path, data), limits).code == code


def test_exact_limit_is_still_accepted(tmp_path: Path) -> None:
    limits = Limits(max_bytes=len(TWO_PAGE_TIFF), max_pixels=80 * 120, max_pages=2)
    assert inspect_file(stored(tmp_path, TWO_PAGE_TIFF), limits).n_pages == 2


@pytest.mark.parametrize("side", [10_000, 12_000, 60_000])
def test_decompression_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, side: int) -> None:
    # Above Pillow's own two thresholds as well, one of which only warns.
    assert refusal(stored(tmp_path, png_claiming(side, side))).code == "too_many_pixels"


def test_refusal_of_an_unknown_file_names_what_it_seems_to_be(tmp_path: Path) -> None:
    assert refusal(stored(tmp_path, b"<!doctype html><p>Please sign in")).detail == FileHint.HTML


def test_reduced_copy_beside_a_tiff_page_is_no_page(tmp_path: Path) -> None:
    thumbnail = quarters((8, 12))
    thumbnail.encoderinfo = {"tiffinfo": {254: 1}}
    data = encoded(quarters(), "TIFF", save_all=True, append_images=[thumbnail])
    path = stored(tmp_path, data)
    with Image.open(path) as image:
        assert getattr(image, "n_frames", 1) == 2
    assert inspect_file(path, LIMITS).n_pages == 1


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jpg")), ids=lambda path: path.name)
def test_samples_are_accepted(path: Path) -> None:
    assert inspect_file(path, LIMITS) == Inspection(MediaType.JPEG, path.stat().st_size, 1)
