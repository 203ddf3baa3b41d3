import struct

import pytest

from inference.imaging.completeness import is_cut_short
from inference.imaging.sniff import MediaType
from tests.inference.imaging.documents import SAMPLES, encoded, exif_with_orientation, pdf_of_quarters, quarters

WHOLE: dict[str, tuple[MediaType, bytes]] = {
    "jpeg": (MediaType.JPEG, encoded(quarters(), "JPEG")),
    "progressive": (MediaType.JPEG, encoded(quarters(), "JPEG", progressive=True)),
    "scan": (MediaType.JPEG, (SAMPLES / "364.jpg").read_bytes()),
    "png": (MediaType.PNG, encoded(quarters(), "PNG")),
    "webp": (MediaType.WEBP, encoded(quarters(), "WEBP")),
    "tiff": (MediaType.TIFF, encoded(quarters(), "TIFF")),
    "lzw": (MediaType.TIFF, encoded(quarters(), "TIFF", compression="tiff_lzw")),
    "pages": (MediaType.TIFF, encoded(quarters(), "TIFF", save_all=True, append_images=[quarters((30, 40))])),
    "big": (MediaType.TIFF, encoded(quarters(), "TIFF", big_tiff=True)),
    "heic": (MediaType.HEIC, encoded(quarters(), "HEIF")),
    "pdf": (MediaType.PDF, pdf_of_quarters((100, 200, 0))),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_file_is_whole(name: str) -> None:
    media_type, data = WHOLE[name]
    assert not is_cut_short(data, media_type)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("kept_share", [0.3, 0.6, 0.9])
def test_cut_file_is_cut(name: str, kept_share: float) -> None:
    media_type, data = WHOLE[name]
    assert is_cut_short(data[: int(len(data) * kept_share)], media_type)


@pytest.mark.parametrize("name", ["jpeg", "png", "pdf", "webp", "tiff"])
def test_bytes_behind_the_end_do_no_harm(name: str) -> None:
    media_type, data = WHOLE[name]
    assert not is_cut_short(data + b"\0" * 500, media_type)


def test_end_of_an_embedded_thumbnail_is_not_the_end_of_the_picture() -> None:
    thumbnail = encoded(quarters((16, 16)), "JPEG")
    segment = b"\xff\xe1" + struct.pack(">H", len(thumbnail) + 2) + thumbnail
    whole = WHOLE["jpeg"][1][:2] + segment + WHOLE["jpeg"][1][2:]
    assert not is_cut_short(whole, MediaType.JPEG)
    assert is_cut_short(whole[:-2], MediaType.JPEG)


def test_first_end_mark_of_a_linearized_pdf_is_not_its_end() -> None:
    body = pdf_of_quarters((100, 200, 0))
    linearized = body.replace(
        b"%PDF-1.7\n", b"%%PDF-1.7\n9 0 obj<</Linearized 1/L %d>>endobj\n%%%%EOF\n" % (len(body) + 50)
    )
    assert is_cut_short(linearized[: len(body) // 2], MediaType.PDF)


def test_tiff_whose_directories_run_in_a_circle_is_answered() -> None:
    looped = struct.pack("<2sHI", b"II", 42, 8) + struct.pack("<HI", 0, 8)
    assert not is_cut_short(looped, MediaType.TIFF)


def test_exif_block_is_walked_over() -> None:
    assert not is_cut_short(encoded(quarters(), "JPEG", exif=exif_with_orientation(6)), MediaType.JPEG)
