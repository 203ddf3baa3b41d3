"""Whether a file ends before its own structure says it should.

Decoders answer a cut file in many ways: some with an error, some with grey pixels, some (PDF repair) with fewer pages.
Nothing may be cut silently, so the end is looked for before anything is decoded. Only structure is read here.
"""

import mmap
import re
import struct
from collections.abc import Callable, Iterator, Mapping

from inference.imaging.sniff import MediaType
from inference.imaging.tiff_structure import is_tiff_cut_short

_PDF_TAIL_BYTES = 64 * 1024
_STANDALONE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, b"\xff\xd9"
_LINEARIZED_LENGTH = re.compile(rb"/Linearized\b.{0,200}?/L\s+(\d{1,15})", re.DOTALL)


def is_cut_short(data: bytes | mmap.mmap, media_type: MediaType) -> bool:
    """Return whether `data`, a whole file, lacks its end.

    False where the structure is too damaged to tell: then the decoder has the word.
    """
    return _CHECKS[media_type](data)


def _is_jpeg_cut_short(data: bytes | mmap.mmap) -> bool:
    """Look for the end marker behind the first scan, so that an embedded thumbnail's own end does not count."""
    position = 2
    while position + 4 <= len(data):
        if data[position] != 0xFF:
            return False
        marker = data[position + 1]
        if marker == 0xFF or marker in _STANDALONE_MARKERS:
            position += 1 if marker == 0xFF else 2
            continue
        if marker == _START_OF_SCAN:
            return data.find(_END_OF_IMAGE, position) < 0
        position += 2 + max(2, int.from_bytes(data[position + 2 : position + 4], "big"))
    return True


def _is_png_cut_short(data: bytes | mmap.mmap) -> bool:
    position = 8
    while position + 12 <= len(data):
        if data[position + 4 : position + 8] == b"IEND":
            return False
        position += 12 + int.from_bytes(data[position : position + 4], "big")
    return True


def _is_webp_cut_short(data: bytes | mmap.mmap) -> bool:
    return len(data) < 8 + int.from_bytes(data[4:8], "little")


def _is_heic_cut_short(data: bytes | mmap.mmap) -> bool:
    return any(end > len(data) for end in _box_ends(data))


def _box_ends(data: bytes | mmap.mmap) -> Iterator[int]:
    """Yield where each top-level box claims to end."""
    position = 0
    while position + 8 <= len(data):
        size = int.from_bytes(data[position : position + 4], "big")
        if size == 1 and position + 16 <= len(data):
            size = struct.unpack(">Q", data[position + 8 : position + 16])[0]
        if size < 8:
            # 0 means "to the end of the file", the rest is nonsense: nothing further can be told.
            return
        position += size
        yield position


def _is_pdf_cut_short(data: bytes | mmap.mmap) -> bool:
    if data.find(b"%%EOF", max(0, len(data) - _PDF_TAIL_BYTES)) < 0:
        return True
    # A linearized file has an end mark near its beginning too, but states its whole length.
    stated = _LINEARIZED_LENGTH.search(data[:2048])
    return stated is not None and int(stated[1]) > len(data)


_CHECKS: Mapping[MediaType, Callable[[bytes | mmap.mmap], bool]] = {
    MediaType.JPEG: _is_jpeg_cut_short,
    MediaType.PNG: _is_png_cut_short,
    MediaType.WEBP: _is_webp_cut_short,
    MediaType.TIFF: is_tiff_cut_short,
    MediaType.HEIC: _is_heic_cut_short,
    MediaType.PDF: _is_pdf_cut_short,
}
