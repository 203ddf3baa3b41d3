"""What a file is and whether we take it, from its headers alone: cheap enough for a web request."""

import mmap
from dataclasses import dataclass
from pathlib import Path

from inference.errors import UnreadableFileError
from inference.imaging.completeness import is_cut_short
from inference.imaging.limits import Limits
from inference.imaging.pdf_client import count_pdf_pages
from inference.imaging.rasters import open_raster, pages_of
from inference.imaging.sniff import HEAD_BYTES, MediaType, sniff


@dataclass(frozen=True, slots=True)
class Inspection:
    """A file that we take: its kind, its size in bytes and the number of its pages."""

    media_type: MediaType
    n_bytes: int
    n_pages: int


def inspect_file(path: Path, limits: Limits) -> Inspection:
    """Look at the file's structure without decoding it.

    Raises UnreadableFileError when it is refused; with the code `unknown_type` its `detail` is a `FileHint`.
    A file may still prove damaged inside when its pages are opened.
    """
    media_type = identify_file(path, limits)
    if media_type is MediaType.PDF:
        n_pages = count_pdf_pages(path, limits)
    else:
        with open_raster(path, media_type) as image:
            n_pages = sum(1 for _ in pages_of(image, media_type, limits))
    return Inspection(media_type, path.stat().st_size, n_pages)


def identify_file(path: Path, limits: Limits) -> MediaType:
    """Return the file's kind; raise UnreadableFileError when it is empty, too large, unknown or cut short."""
    n_bytes = path.stat().st_size
    if n_bytes == 0:
        raise UnreadableFileError("empty_file")
    if n_bytes > limits.max_bytes:
        raise UnreadableFileError("too_many_bytes")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        sniffed = sniff(data[:HEAD_BYTES])
        if sniffed.media_type is None:
            raise UnreadableFileError("unknown_type", sniffed.hint)
        if is_cut_short(data, sniffed.media_type):
            raise UnreadableFileError("truncated")
    return sniffed.media_type
