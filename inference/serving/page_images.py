"""A page as a language model sees it: cropped to its content, within the version's pixel budget (S1, S2)."""

import base64
import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from inference.errors import EngineError
from inference.imaging.crop import crop_to_content
from inference.types import ImagingProfile, PageImage

PAGE_RATIO = math.sqrt(2)
"""Long to short side of a page of office paper, of which the profile's long side is meant."""

MAX_RATIO = 100
"""Image processors refuse strips; PaddleOCR-VL's does from 200 on."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedImage:
    """What the model is given: `pixels` is uint8 RGB of shape (height, width, 3)."""

    pixels: npt.NDArray[np.uint8]
    jpeg_quality: int

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return int(self.pixels.shape[1]), int(self.pixels.shape[0])

    def as_picture(self) -> Image.Image:
        """Return the image for a processor in this process."""
        return Image.fromarray(self.pixels)

    def as_jpeg(self) -> bytes:
        """Return the image as a JPEG; colours are not thinned out, thin red stamps stay red."""
        parameters = [
            *(cv2.IMWRITE_JPEG_QUALITY, self.jpeg_quality),
            *(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444),
        ]
        is_done, data = cv2.imencode(".jpg", cv2.cvtColor(self.pixels, cv2.COLOR_RGB2BGR), parameters)
        if not is_done:
            raise EngineError("the page cannot be encoded as a JPEG")
        return data.tobytes()

    def as_data_url(self) -> bytes:
        """Return the image as a JPEG in a `data:` URL."""
        return b"data:image/jpeg;base64," + base64.b64encode(self.as_jpeg())


def prepare_page(page: PageImage, profile: ImagingProfile, scale: float = 1.0) -> PreparedImage:
    """Return the page for the model, never enlarged; at another `scale`, so many times as long as that.

    Raise EngineError for a strip that no model takes.
    """
    if profile.is_cropped:
        page, _ = crop_to_content(page)
    width, height = page.size
    if max(width, height) > MAX_RATIO * min(width, height):
        raise EngineError(f"the page is a strip of {width} x {height} pixels: no model reads it")
    size = fitted_size((width, height), profile.long_side, profile.max_pixels)
    if scale != 1.0:
        size = fitted_size((round(size[0] * scale), round(size[1] * scale)), max(size) * 2, profile.max_pixels)
    pixels = page.pixels
    if size != (width, height):
        method = cv2.INTER_AREA if size[0] < width else cv2.INTER_CUBIC
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=method), dtype=np.uint8)
    return PreparedImage(pixels, profile.jpeg_quality)


def fitted_size(size: tuple[int, int], long_side: int, max_pixels: int) -> tuple[int, int]:
    """Return (width, height) within the bounds, in the same proportions.

    `long_side` bounds pages as wide as office paper or wider. A narrower page (a till receipt) gets as many pixels as
    such a page would: shrunk to the same length its print could no longer be read. `max_pixels` is never exceeded: an
    image with more tokens than the server's encoder takes is refused.
    """
    width, height = size
    budget = min(max_pixels, long_side * long_side / min(PAGE_RATIO, max(size) / min(size)))
    scale = min(1.0, math.sqrt(budget / (width * height)))
    return max(1, math.floor(width * scale)), max(1, math.floor(height * scale))
