"""Small documents built in the tests: pictures of every kind, and PDFs written by hand."""

import hashlib
import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image

pillow_heif.register_heif_opener()

SAMPLES = Path(__file__).resolve().parents[3] / "samples"

RED, GREEN, BLUE, YELLOW = (230, 20, 20), (20, 200, 20), (20, 20, 230), (230, 230, 20)
_PASSWORD_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def quarters(size: tuple[int, int] = (80, 120)) -> Image.Image:
    """Red top left, green top right, blue bottom left, yellow bottom right: any turn or flip shows."""
    width, height = size
    image = Image.new("RGB", size, YELLOW)
    image.paste(RED, (0, 0, width // 2, height // 2))
    image.paste(GREEN, (width // 2, 0, width, height // 2))
    image.paste(BLUE, (0, height // 2, width // 2, height))
    return image


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def exif_with_orientation(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def png_claiming(width: int, height: int) -> bytes:
    """A PNG of a few hundred bytes that would unpack to width × height pixels."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


def pdf(objects: list[bytes], *, trailer: bytes = b"") -> bytes:
    """A PDF of these objects, numbered from 1; the first is the catalogue."""
    out = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for offset in offsets:
        out += b"%010d 00000 n \n" % offset
    out += b"trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<</Length %d%s>>\nstream\n%s\nendstream" % (len(content), entries, content)


def quarters_content(width: int, height: int) -> bytes:
    """Drawing commands of the four quarters (a PDF's y goes up)."""
    parts = []
    for (red, green, blue), x, y in (
        (RED, 0, height / 2),
        (GREEN, width / 2, height / 2),
        (BLUE, 0, 0),
        (YELLOW, width / 2, 0),
    ):
        colour = f"{red / 255:.4f} {green / 255:.4f} {blue / 255:.4f} rg"
        parts.append(f"{colour} {x} {y} {width / 2} {height / 2} re f")
    return "\n".join(parts).encode()


def pdf_of_quarters(*pages: tuple[int, int, int], text: str = "") -> bytes:
    """One page for each (width, height, /Rotate), with an optional text layer."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for width, height, rotation in pages:
        content = quarters_content(width, height)
        if text:
            content += b"\n0 g BT /F1 %d Tf 10 %d Td (%s) Tj ET" % (height // 6, height // 3, text.encode())
        entries = b"/MediaBox[0 0 %d %d]/Rotate %d" % (width, height, rotation)
        resources = b"/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(b"<</Type/Page/Parent 2 0 R%s%s/Contents %d 0 R>>" % (entries, resources, len(objects) + 2))
        objects.append(stream(content))
    return pdf(objects)


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def encrypted_pdf(user_password: str) -> bytes:
    """One page of quarters under the standard security handler (40-bit), as a signed or locked PDF would be."""
    padded_user = (user_password.encode() + _PASSWORD_PADDING)[:32]
    padded_owner = (b"owner" + _PASSWORD_PADDING)[:32]
    owner_entry = _rc4(hashlib.md5(padded_owner).digest()[:5], padded_user)
    permissions, identifier = -44, b"0123456789abcdef"
    key = hashlib.md5(padded_user + owner_entry + struct.pack("<i", permissions) + identifier).digest()[:5]
    user_entry = _rc4(key, _PASSWORD_PADDING)
    content_key = hashlib.md5(key + (4).to_bytes(3, "little") + (0).to_bytes(2, "little")).digest()[:10]
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 200]/Resources<<>>/Contents 4 0 R>>",
        stream(_rc4(content_key, quarters_content(100, 200))),
        b"<</Filter/Standard/V 1/R 2/O<%s>/U<%s>/P %d>>"
        % (owner_entry.hex().encode(), user_entry.hex().encode(), permissions),
    ]
    hex_identifier = identifier.hex().encode()
    return pdf(objects, trailer=b"/Encrypt 5 0 R/ID[<%s><%s>]" % (hex_identifier, hex_identifier))


def pdf_with_picture(width: int, height: int) -> bytes:
    """A page that is one grey picture of this many pixels, packed to almost nothing."""
    squeeze = zlib.compressobj(9)
    row = b"\x7f" * width
    packed = b"".join([*(squeeze.compress(row) for _ in range(height)), squeeze.flush()])
    entries = b"/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8" % (
        width,
        height,
    )
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Resources<</XObject<</I 5 0 R>>>>/Contents 4 0 R>>",
            stream(b"200 0 0 200 0 0 cm /I Do"),
            stream(packed, entries + b"/Filter/FlateDecode"),
        ]
    )


def slow_pdf() -> bytes:
    """A page whose patterns within patterns take far longer to draw than anyone would wait."""
    depth = 12
    resources = b"/Resources<</XObject<</F %d 0 R>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]%s/Contents 4 0 R>>" % (resources % 5),
        stream(b"/F Do " * 20),
    ]
    for level in range(depth):
        is_last = level == depth - 1
        content = quarters_content(200, 200) if is_last else b"/F Do " * 20
        inner = b"" if is_last else resources % (6 + level)
        objects.append(stream(content, b"/Type/XObject/Subtype/Form/BBox[0 0 200 200]" + inner))
    return pdf(objects)


def assert_quarters(pixels: np.ndarray, tolerance: int = 12) -> None:
    """Each quarter of the pixels (height x width x RGB) has the colour that it has in `quarters`, nearly."""
    height, width = pixels.shape[:2]
    for (y, x), colour in {(1, 1): RED, (1, 3): GREEN, (3, 1): BLUE, (3, 3): YELLOW}.items():
        found = pixels[height * y // 4, width * x // 4].astype(int)
        assert np.abs(found - colour).max() <= tolerance, (y, x, found)
