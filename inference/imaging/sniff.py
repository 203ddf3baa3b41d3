"""What a file is, told from its first bytes and never from its name."""

from dataclasses import dataclass
from enum import StrEnum

HEAD_BYTES = 4096
"""How many first bytes `sniff` likes to see; fewer do, where the file is shorter."""


class MediaType(StrEnum):
    """The kinds of file that become pages."""

    JPEG = "image/jpeg"
    PNG = "image/png"
    WEBP = "image/webp"
    TIFF = "image/tiff"
    HEIC = "image/heic"
    PDF = "application/pdf"


class FileHint(StrEnum):
    """What a file that is none of these seems to be, so that a refusal can say so."""

    NOTHING = "nothing"
    OFFICE = "office"
    ARCHIVE = "archive"
    HTML = "html"
    TEXT = "text"
    EXECUTABLE = "executable"
    VIDEO = "video"
    AUDIO = "audio"
    OTHER_IMAGE = "other_image"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Sniffed:
    """`media_type` is None for a file we do not take; then `hint` says what it looks like."""

    media_type: MediaType | None
    hint: FileHint


_HEIF_BRANDS = frozenset({b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"hevm", b"hevs", b"mif1", b"msf1"})
_OTHER_IMAGE_BRANDS = frozenset({b"avif", b"avis", b"crx ", b"jp2 ", b"jxl "})
_TIFF_STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

_HINTS_BY_START: tuple[tuple[bytes, FileHint], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileHint.OFFICE),
    (b"{\\rtf", FileHint.OFFICE),
    (b"MZ", FileHint.EXECUTABLE),
    (b"\x7fELF", FileHint.EXECUTABLE),
    (b"\xcf\xfa\xed\xfe", FileHint.EXECUTABLE),
    (b"\xca\xfe\xba\xbe", FileHint.EXECUTABLE),
    (b"#!", FileHint.EXECUTABLE),
    (b"Rar!", FileHint.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", FileHint.ARCHIVE),
    (b"\x1f\x8b", FileHint.ARCHIVE),
    (b"BZh", FileHint.ARCHIVE),
    (b"\xfd7zXZ\0", FileHint.ARCHIVE),
    (b"\x28\xb5\x2f\xfd", FileHint.ARCHIVE),
    (b"\x1a\x45\xdf\xa3", FileHint.VIDEO),
    (b"\0\0\x01\xba", FileHint.VIDEO),
    (b"FLV\x01", FileHint.VIDEO),
    (b"ID3", FileHint.AUDIO),
    (b"OggS", FileHint.AUDIO),
    (b"fLaC", FileHint.AUDIO),
    (b"GIF8", FileHint.OTHER_IMAGE),
    (b"BM", FileHint.OTHER_IMAGE),
    (b"8BPS", FileHint.OTHER_IMAGE),
    (b"\0\0\x01\0", FileHint.OTHER_IMAGE),
    (b"\0\0\0\x0cJXL ", FileHint.OTHER_IMAGE),
    (b"\0\0\0\x0cjP  ", FileHint.OTHER_IMAGE),
    (b"\xff\x0a", FileHint.OTHER_IMAGE),
    (b"AT&TFORM", FileHint.OTHER_IMAGE),
)
_OFFICE_PARTS = (b"word/", b"xl/", b"ppt/", b"[Content_Types].xml", b"mimetypeapplication/vnd.oasis")
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<!--")


def sniff(head: bytes) -> Sniffed:
    """Return the media type of a file that begins with `head` (its first few kB), or a hint of what it is instead."""
    if media_type := _media_type_of(head):
        return Sniffed(media_type, FileHint.NOTHING)
    return Sniffed(None, _hint_of(head))


def _media_type_of(head: bytes) -> MediaType | None:
    if head.startswith(b"\xff\xd8\xff"):
        return MediaType.JPEG
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return MediaType.PNG
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return MediaType.WEBP
    if head.startswith(_TIFF_STARTS):
        return MediaType.TIFF
    if head[4:8] == b"ftyp":
        return MediaType.HEIC if _is_heif(_brands(head)) else None
    # Mail gateways and scanners put bytes before the header; readers accept it anywhere in the first kB.
    return MediaType.PDF if b"%PDF-" in head[:1024] else None


def _brands(head: bytes) -> list[bytes]:
    """Return the major brand and then the compatible ones of an ISO media file."""
    end = min(int.from_bytes(head[:4], "big"), len(head))
    return [head[8:12], *(head[start : start + 4] for start in range(16, end - 3, 4))]


def _is_heif(brands: list[bytes]) -> bool:
    # "mif1" alone says only "some picture": AVIF carries it as well, so a foreign brand decides.
    if _OTHER_IMAGE_BRANDS.intersection(brands):
        return False
    return brands[0] in _HEIF_BRANDS


def _hint_of(head: bytes) -> FileHint:
    if head.startswith(b"PK\x03\x04"):
        return FileHint.OFFICE if any(part in head for part in _OFFICE_PARTS) else FileHint.ARCHIVE
    if head.startswith(b"RIFF"):
        return {b"AVI ": FileHint.VIDEO, b"WAVE": FileHint.AUDIO}.get(head[8:12], FileHint.UNKNOWN)
    if head[4:8] == b"ftyp":
        return _media_hint(_brands(head))
    for start, hint in _HINTS_BY_START:
        if head.startswith(start):
            return hint
    return _text_hint(head)


def _media_hint(brands: list[bytes]) -> FileHint:
    if _OTHER_IMAGE_BRANDS.intersection(brands):
        return FileHint.OTHER_IMAGE
    return FileHint.AUDIO if brands[0].startswith(b"M4A") else FileHint.VIDEO


def _text_hint(head: bytes) -> FileHint:
    beginning = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:512].lower()
    if beginning.startswith(_HTML_STARTS):
        return FileHint.HTML
    if beginning.startswith(b"<svg") or (beginning.startswith(b"<?xml") and b"<svg" in beginning):
        return FileHint.OTHER_IMAGE
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return FileHint.TEXT
    if not head:
        return FileHint.NOTHING
    control = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return FileHint.TEXT if control == 0 else FileHint.UNKNOWN
