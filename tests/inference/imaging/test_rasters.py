import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from inference.errors import UnreadableFileError
from inference.imaging.limits import Limits
from inference.imaging.pages import open_pages
from inference.imaging.rasters import pages_of, refusing, upright_rgb
from inference.imaging.sniff import MediaType
from tests.inference.imaging.documents import (
    assert_quarters,
    encoded,
    exif_with_orientation,
    quarters,
)

TURNS = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def page_pixels(tmp_path: Path, data: bytes, limits: Limits | None = None) -> list[np.ndarray]:
    path = tmp_path / "file"
    path.write_bytes(data)
    return [page.image.pixels for page in open_pages(path, limits or Limits())]


def laid_down(orientation: int) -> Image.Image:
    """The quarters as a camera stores them whose tag says how to turn them back."""
    turn = TURNS[orientation]
    return quarters() if turn is None else quarters().transpose(turn)


@pytest.mark.parametrize("orientation", TURNS)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_exif_orientation_is_applied_exactly_once(tmp_path: Path, kind: str, orientation: int) -> None:
    data = encoded(laid_down(orientation), kind, exif=exif_with_orientation(orientation))
    (pixels,) = page_pixels(tmp_path, data)
    assert pixels.shape == (120, 80, 3)
    assert_quarters(pixels, tolerance=40 if kind == "WEBP" else 12)


@pytest.mark.parametrize("orientation", TURNS)
@pytest.mark.parametrize("compression", [None, "tiff_lzw"])
def test_tiff_orientation_is_applied_exactly_once(tmp_path: Path, compression: str | None, orientation: int) -> None:
    data = encoded(laid_down(orientation), "TIFF", compression=compression, tiffinfo={274: orientation})
    (pixels,) = page_pixels(tmp_path, data)
    assert pixels.shape == (120, 80, 3)
    assert_quarters(pixels)


@pytest.mark.parametrize("orientation", TURNS)
def test_heic_orientation_is_applied_exactly_once(tmp_path: Path, orientation: int) -> None:
    data = encoded(laid_down(orientation), "HEIF", exif=exif_with_orientation(orientation).tobytes(), quality=95)
    # The container turns the picture itself, and the tag beside it must not turn it again.
    assert (b"irot" in data or b"imir" in data) == (orientation != 1)
    (pixels,) = page_pixels(tmp_path, data)
    assert pixels.shape == (120, 80, 3)
    assert_quarters(pixels, tolerance=40)


def test_second_page_of_a_tiff_has_its_own_orientation(tmp_path: Path) -> None:
    second = laid_down(6)
    second.encoderinfo = {"tiffinfo": {274: 6}}
    first, turned = page_pixels(tmp_path, encoded(quarters(), "TIFF", save_all=True, append_images=[second]))
    assert first.shape == turned.shape == (120, 80, 3)
    assert_quarters(first)
    assert_quarters(turned)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_broken_orientation_does_not_cost_the_page(tmp_path: Path) -> None:
    data = encoded(quarters(), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff")
    (pixels,) = page_pixels(tmp_path, data)
    assert_quarters(pixels)


def grey_steps() -> np.ndarray:
    """0 to 255 in 16 steps, left to right."""
    return np.tile(np.repeat(np.arange(0, 256, 17, dtype=np.uint8), 4), (20, 1))


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_sixteen_bit_grey_keeps_its_steps(tmp_path: Path, kind: str) -> None:
    deep = Image.fromarray(grey_steps().astype(np.uint16) * 257)
    (pixels,) = page_pixels(tmp_path, encoded(deep, kind))
    assert np.array_equal(pixels, np.stack([grey_steps()] * 3, axis=-1))


def test_sixteen_bit_white_is_zero_is_not_a_negative(tmp_path: Path) -> None:
    deep = Image.fromarray((255 - grey_steps()).astype(np.uint16) * 257)
    (pixels,) = page_pixels(tmp_path, encoded(deep, "TIFF", tiffinfo={262: 0}))
    # Pillow writes the samples as they are and the tag beside them.
    with Image.open(tmp_path / "file") as stored:
        assert isinstance(stored, TiffImageFile)
        expected = grey_steps() if stored.tag_v2[262] == 0 else 255 - grey_steps()
    assert np.array_equal(pixels[:, :, 0], expected)


@pytest.mark.parametrize(("top", "mode"), [(1.0, "F"), (255.0, "F"), (65535.0, "F"), (65535, "I"), (255, "I")])
def test_wide_samples_are_brought_to_eight_bits(tmp_path: Path, top: float, mode: str) -> None:
    wide = Image.fromarray((grey_steps() / 255 * top).astype(np.float32 if mode == "F" else np.int32))
    assert wide.mode == mode
    (pixels,) = page_pixels(tmp_path, encoded(wide, "TIFF"))
    assert np.abs(pixels[:, :, 1].astype(int) - grey_steps()).max() <= 1


def test_all_black_wide_page_is_black(tmp_path: Path) -> None:
    (pixels,) = page_pixels(tmp_path, encoded(Image.new("F", (8, 8), 0.0), "TIFF"))
    assert pixels.max() == 0


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_one_bit_page_has_its_polarity(tmp_path: Path, kind: str) -> None:
    image = Image.new("1", (40, 40), 1)
    image.paste(0, (0, 0, 20, 40))
    (pixels,) = page_pixels(tmp_path, encoded(image, kind))
    assert (pixels[:, :20] == 0).all()
    assert (pixels[:, 20:] == 255).all()


def test_fax_compressed_page_has_its_polarity(tmp_path: Path) -> None:
    image = Image.new("1", (40, 40), 1)
    image.paste(0, (0, 0, 20, 40))
    (pixels,) = page_pixels(tmp_path, encoded(image, "TIFF", compression="group4"))
    assert (pixels[:, :20] == 0).all()
    assert (pixels[:, 20:] == 255).all()


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_is_not_a_negative(tmp_path: Path, kind: str) -> None:
    (pixels,) = page_pixels(tmp_path, encoded(quarters().convert("CMYK"), kind))
    assert_quarters(pixels, tolerance=25)


def test_palette_colours_are_looked_up(tmp_path: Path) -> None:
    (pixels,) = page_pixels(tmp_path, encoded(quarters().convert("P", palette=Image.Palette.ADAPTIVE), "PNG"))
    assert_quarters(pixels)


def test_lab_white_is_white(tmp_path: Path) -> None:
    lab = Image.new("LAB", (10, 10), (255, 128, 128))
    pixels, _ = upright_rgb(lab, 1600)
    assert pixels.min() >= 250


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparent_paper_is_white(tmp_path: Path, mode: str) -> None:
    image = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (0, 0, 10, 20))
    image.paste((0, 0, 0, 128), (10, 0, 15, 20))
    (pixels,) = page_pixels(tmp_path, encoded(image.convert(mode), "PNG"))
    assert (pixels[:, :10] == 0).all()
    assert np.abs(pixels[:, 10:15].astype(int) - 127).max() <= 1
    assert (pixels[:, 15:] == 255).all()


@pytest.mark.parametrize(("mode", "key"), [("P", 0), ("L", 0), ("RGB", (0, 0, 0))])
def test_colour_marked_as_transparent_is_white(tmp_path: Path, mode: str, key: object) -> None:
    grey = Image.new("L", (20, 20), 0)
    grey.paste(100, (10, 0, 20, 20))
    image = grey.convert(mode)
    if mode == "P":
        image = Image.new("P", (20, 20), 0)
        image.putpalette([0, 0, 0, 100, 100, 100])
        image.paste(1, (10, 0, 20, 20))
    (pixels,) = page_pixels(tmp_path, encoded(image, "PNG", transparency=key))
    assert (pixels[:, :10] == 255).all()
    assert (pixels[:, 10:] == 100).all()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "HEIF"])
def test_large_page_is_reduced_to_the_long_side(tmp_path: Path, kind: str) -> None:
    (pixels,) = page_pixels(tmp_path, encoded(quarters((1000, 600)), kind), Limits(long_side=200))
    assert pixels.shape == (120, 200, 3)
    assert_quarters(pixels, tolerance=40)


def test_small_page_is_never_enlarged(tmp_path: Path) -> None:
    (pixels,) = page_pixels(tmp_path, encoded(quarters(), "PNG"))
    assert pixels.shape == (120, 80, 3)


def test_thin_page_keeps_at_least_one_pixel(tmp_path: Path) -> None:
    (pixels,) = page_pixels(tmp_path, encoded(Image.new("RGB", (4000, 1)), "PNG"), Limits(long_side=100))
    assert pixels.shape == (1, 100, 3)


def test_fine_print_is_averaged_and_not_dropped(tmp_path: Path) -> None:
    stripes = np.zeros((400, 400), dtype=np.uint8)
    stripes[:, ::2] = 255
    (pixels,) = page_pixels(tmp_path, encoded(Image.fromarray(stripes), "PNG"), Limits(long_side=100))
    assert np.abs(pixels[10:-10, 10:-10].astype(int) - 127).max() <= 8


def test_pages_of_a_tiff_keep_their_order_and_sizes(tmp_path: Path) -> None:
    pages = [quarters((30, 40)), quarters((60, 20)), quarters((10, 10)).convert("1")]
    data = encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    assert [pixels.shape for pixels in page_pixels(tmp_path, data)] == [(40, 30, 3), (20, 60, 3), (10, 10, 3)]


def test_every_picture_of_a_heic_is_a_page(tmp_path: Path) -> None:
    data = encoded(quarters(), "HEIF", save_all=True, append_images=[quarters((64, 64))])
    assert [pixels.shape for pixels in page_pixels(tmp_path, data)] == [(120, 80, 3), (64, 64, 3)]


def test_moving_pictures_give_their_first_one_only() -> None:
    buffer = io.BytesIO(encoded(quarters(), "WEBP", save_all=True, append_images=[quarters((80, 120)).rotate(180)]))
    with Image.open(buffer) as image:
        assert list(pages_of(image, MediaType.WEBP, Limits())) == [1]


def test_tile_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    with Image.open(io.BytesIO(encoded(quarters(), "TIFF"))) as image:
        assert isinstance(image, TiffImageFile)
        image.tag_v2[322], image.tag_v2[323] = 60_000, 60_000
        with pytest.raises(UnreadableFileError, match="too_many_pixels"):
            list(pages_of(image, MediaType.TIFF, Limits()))


def test_side_below_the_least_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match="damaged"):
        page_pixels(tmp_path, encoded(quarters((9, 90)), "PNG"), Limits(min_side=10))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError("image file is truncated (3 bytes not processed)"), "truncated"),
        (OSError("broken data stream"), "damaged"),
        (KeyError(273), "damaged"),
        (MemoryError(), "memory_limit"),
        (Image.DecompressionBombError("large"), "too_many_pixels"),
        (UnreadableFileError("no_pages"), "no_pages"),
    ],
)
def test_whatever_a_decoder_raises_becomes_a_reason(error: Exception, code: str) -> None:
    with pytest.raises(UnreadableFileError) as caught, refusing():
        raise error
    assert caught.value.code == code


def test_text_of_a_decoders_error_is_not_passed_on() -> None:
    with pytest.raises(UnreadableFileError) as caught, refusing():
        raise ValueError("account 12345")
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_request_to_stop_is_not_taken_for_damage(stop: type[BaseException]) -> None:
    with pytest.raises(stop), refusing():
        raise stop
