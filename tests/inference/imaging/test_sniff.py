import io
import zipfile

import pytest

from inference.imaging.sniff import FileHint, MediaType, sniff
from tests.inference.imaging.documents import encoded, pdf_of_quarters, quarters


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("JPEG", MediaType.JPEG),
        ("PNG", MediaType.PNG),
        ("WEBP", MediaType.WEBP),
        ("TIFF", MediaType.TIFF),
        ("HEIF", MediaType.HEIC),
        ("PDF", MediaType.PDF),
    ],
)
def test_every_kind_is_told_by_its_content(kind: str, media_type: MediaType) -> None:
    found = sniff(encoded(quarters(), kind)[:4096])
    assert found.media_type is media_type
    assert found.hint is FileHint.NOTHING


@pytest.mark.parametrize("start", [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"])
def test_both_byte_orders_and_both_sizes_of_tiff_are_known(start: bytes) -> None:
    assert sniff(start + bytes(100)).media_type is MediaType.TIFF


def test_pdf_behind_a_few_foreign_bytes_is_a_pdf() -> None:
    assert sniff(b"\r\n\0junk" + pdf_of_quarters((10, 10, 0))).media_type is MediaType.PDF


def test_pdf_header_far_inside_a_text_is_no_pdf() -> None:
    assert sniff(b"x" * 2000 + b"%PDF-1.4").media_type is None


def office_file() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<w/>")
    return buffer.getvalue()


def plain_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("scan.jpg", "x")
    return buffer.getvalue()


def iso_media(*brands: bytes) -> bytes:
    body = brands[0] + bytes(4) + b"".join(brands[1:])
    return (8 + len(body)).to_bytes(4, "big") + b"ftyp" + body + bytes(64)


@pytest.mark.parametrize(
    ("head", "hint"),
    [
        (office_file(), FileHint.OFFICE),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), FileHint.OFFICE),
        (plain_archive(), FileHint.ARCHIVE),
        (b"\x1f\x8b\x08" + bytes(20), FileHint.ARCHIVE),
        (b"\n  <!DOCTYPE html><html>", FileHint.HTML),
        (b"\xef\xbb\xbf<html lang=en>", FileHint.HTML),
        ("Total 總計 12.00\n".encode(), FileHint.TEXT),
        ("ab".encode("utf-16"), FileHint.TEXT),
        (b"MZ\x90\0", FileHint.EXECUTABLE),
        (b"\x7fELF\x02", FileHint.EXECUTABLE),
        (b"#!/bin/sh\n", FileHint.EXECUTABLE),
        (iso_media(b"isom", b"mp41"), FileHint.VIDEO),
        (b"RIFF\0\0\0\0AVI LIST", FileHint.VIDEO),
        (b"RIFF\0\0\0\0WAVEfmt ", FileHint.AUDIO),
        (iso_media(b"M4A ", b"isom"), FileHint.AUDIO),
        (iso_media(b"avif", b"mif1"), FileHint.OTHER_IMAGE),
        (iso_media(b"mif1", b"avif"), FileHint.OTHER_IMAGE),
        (encoded(quarters(), "GIF"), FileHint.OTHER_IMAGE),
        (encoded(quarters(), "BMP"), FileHint.OTHER_IMAGE),
        (b'<svg xmlns="x">', FileHint.OTHER_IMAGE),
        (b"\x01\x02\x03\x04", FileHint.UNKNOWN),
        (b"RIFF\0\0\0\0????", FileHint.UNKNOWN),
        (b"", FileHint.NOTHING),
    ],
)
def test_wrong_file_is_refused_with_what_it_seems_to_be(head: bytes, hint: FileHint) -> None:
    found = sniff(head)
    assert found.media_type is None
    assert found.hint is hint


def test_generic_heif_brand_without_a_foreign_one_is_heic() -> None:
    assert sniff(iso_media(b"mif1", b"heic", b"miaf")).media_type is MediaType.HEIC
