"""One name for one raster: pages that are pixel for pixel the same are read once (S7)."""

import hashlib

import numpy as np

from inference.types import PageImage


def content_hash(image: PageImage) -> str:
    """Return the SHA-256, in hex, of the raster's shape and pixels; the page number does not count."""
    height, width = image.pixels.shape[:2]
    digest = hashlib.sha256(f"rgb8:{height}x{width}:".encode())
    digest.update(np.ascontiguousarray(image.pixels).data)
    return digest.hexdigest()
