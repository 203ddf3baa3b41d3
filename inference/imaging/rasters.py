"""Pictures to upright, bounded RGB rasters (S1): everything that Pillow is asked to do with a file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pillow_heif
from PIL import Image, ImageCms

from inference.errors import UnreadableFileError
from inference.imaging.limits import Limits
from inference.imaging.sniff import MediaType

pillow_heif.register_heif_opener()

_FORMATS: Mapping[MediaType, str] = {
    MediaType.JPEG: "JPEG",
    MediaType.PNG: "PNG",
    MediaType.WEBP: "WEBP",
    MediaType.TIFF: "TIFF",
    MediaType.HEIC: "HEIF",
}
_MANY_PAGED = (MediaType.TIFF, MediaType.HEIC)
_ORIENTATION = 0x0112
_TRANSPOSES: Mapping[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SUBFILE_TYPE, _BITS, _PHOTOMETRIC, _TILE_WIDTH, _TILE_LENGTH = 254, 258, 262, 322, 323
_IS_REDUCED_OR_MASK = 0b101


@contextmanager
def open_raster(path: Path, media_type: MediaType) -> Iterator[Image.Image]:
    """Open the picture's headers with the one decoder that its content asks for; raise UnreadableFileError."""
    with refusing():
        image = Image.open(path, formats=[_FORMATS[media_type]])
    with image:
        yield image


@contextmanager
def refusing() -> Iterator[None]:
    """Turn whatever a decoder raises into UnreadableFileError.

    Broad on purpose: on damaged files decoders raise anything from struct.error to TypeError. Keep only calls of
    the decoder inside.
    """
    try:
        yield
    except UnreadableFileError:
        raise
    except MemoryError as error:
        raise UnreadableFileError("memory_limit") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnreadableFileError("too_many_pixels") from error
    except Exception as error:
        code = "truncated" if "truncated" in str(error).lower() else "damaged"
        raise UnreadableFileError(code, type(error).__name__) from error


def pages_of(image: Image.Image, media_type: MediaType, limits: Limits) -> Iterator[int]:
    """Seek to one page after the other, check its size against the limits, and yield its number (from 1).

    Reduced copies and masks that a TIFF carries beside its pages are passed over.
    """
    page_number = 0
    for frame in range(2 * limits.max_pages + 1):
        try:
            with refusing():
                is_there = frame == 0 or (media_type in _MANY_PAGED and _seek(image, frame))
                is_page = is_there and not _is_reduced_or_mask(image)
        except UnreadableFileError as error:
            raise UnreadableFileError(error.code, f"frame {frame}") from error
        if not is_there:
            break
        if is_page:
            page_number += 1
            if page_number > limits.max_pages:
                raise UnreadableFileError("too_many_pages")
            _check_size(image, limits)
            yield page_number
    else:
        raise UnreadableFileError("too_many_pages")
    if page_number == 0:
        raise UnreadableFileError("no_pages")


def _seek(image: Image.Image, frame: int) -> bool:
    try:
        image.seek(frame)
    except EOFError:
        return False
    return True


def _tags(image: Image.Image) -> Mapping[int, Any]:
    tags: Mapping[int, Any] = getattr(image, "tag_v2", {})
    return tags


def _is_reduced_or_mask(image: Image.Image) -> bool:
    return bool(int(_tags(image).get(_SUBFILE_TYPE, 0)) & _IS_REDUCED_OR_MASK)


def _check_size(image: Image.Image, limits: Limits) -> None:
    width, height = image.size
    tile = int(_tags(image).get(_TILE_WIDTH, 0)) * int(_tags(image).get(_TILE_LENGTH, 0))
    if max(width * height, tile) > limits.max_pixels:
        raise UnreadableFileError("too_many_pixels")
    if min(width, height) < limits.min_side:
        raise UnreadableFileError("damaged", "a side is too short")


def upright_rgb(image: Image.Image, long_side: int) -> tuple[npt.NDArray[np.uint8], bool]:
    """Decode the current page: uint8 RGB of shape (height, width, 3), upright, its longer side at most `long_side`.

    Also returns whether nothing had to be done to its pixels. Raises UnreadableFileError.
    """
    with refusing():
        full_size = image.size
        bounded_size = _bounded(full_size, long_side)
        if image.format in ("JPEG", "MPO"):
            # JPEG decodes at a half, a quarter, an eighth almost for nothing; the good filter does the rest.
            image.draft(None, bounded_size)
        image.load()
        # Only now: a TIFF is turned while it is loaded, and says so by dropping the tag.
        transpose = _TRANSPOSES.get(_orientation(image))
        upright = image if transpose is None else image.transpose(transpose)
        page = _to_rgb(upright, _tags(image))
        final_size = _bounded(page.size, long_side)
        if page.size != final_size:
            page = page.resize(final_size, Image.Resampling.LANCZOS, reducing_gap=3.0)
        is_untouched = image.mode == "RGB" and transpose is None and bounded_size == full_size
        return np.asarray(page, dtype=np.uint8), is_untouched and "transparency" not in image.info


def _bounded(size: tuple[int, int], long_side: int) -> tuple[int, int]:
    longest = max(size)
    if longest <= long_side:
        return size
    width, height = (max(1, round(side * long_side / longest)) for side in size)
    return width, height


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:
        # Broken metadata is no reason to refuse a page whose pixels are fine.
        return 1


def _to_rgb(image: Image.Image, tags: Mapping[int, Any]) -> Image.Image:
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        return _from_deep(image, tags).convert("RGB")
    if image.mode == "LAB":
        to_srgb = ImageCms.buildTransform(ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), "LAB", "RGB")
        converted = ImageCms.applyTransform(image, to_srgb)
        return image.convert("RGB") if converted is None else converted
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        with_alpha = image.convert("RGBA")
        paper = Image.new("RGBA", with_alpha.size, "white")
        return Image.alpha_composite(paper, with_alpha).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


def _from_deep(image: Image.Image, tags: Mapping[int, Any]) -> Image.Image:
    """Bring more than 8 bits a sample to 8. The full range is the stated one, or the narrowest usual one that fits."""
    values = np.nan_to_num(np.asarray(image).astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    if image.mode.startswith("I;16"):
        bits = tags.get(_BITS, (16,))
        top = float(2 ** (bits[0] if isinstance(bits, tuple) else bits) - 1)
    else:
        usual = (1.0, 255.0, 65535.0) if image.mode == "F" else (255.0, 65535.0)
        peak = float(values.max())
        top = next((top for top in usual if peak <= top), peak)
    scaled = np.clip(values * (255.0 / top), 0, 255).round().astype(np.uint8)
    # Pillow inverts "white is zero" itself, except at 16 bits.
    if image.mode.startswith("I;16") and tags.get(_PHOTOMETRIC) == 0:
        scaled = 255 - scaled
    return Image.fromarray(scaled)
