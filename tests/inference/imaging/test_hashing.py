import numpy as np

from inference.imaging.hashing import content_hash
from inference.types import PageImage


def raster(height: int, width: int) -> np.ndarray:
    return np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)


def test_page_number_does_not_count() -> None:
    assert content_hash(PageImage(raster(4, 6), 1)) == content_hash(PageImage(raster(4, 6), 7))


def test_one_changed_sample_counts() -> None:
    changed = raster(4, 6)
    changed[3, 5, 2] ^= 1
    assert content_hash(PageImage(changed)) != content_hash(PageImage(raster(4, 6)))


def test_same_bytes_in_another_shape_are_another_page() -> None:
    assert content_hash(PageImage(raster(4, 6))) != content_hash(PageImage(raster(6, 4)))


def test_memory_layout_does_not_count() -> None:
    turned = np.asfortranarray(raster(4, 6))
    assert content_hash(PageImage(turned)) == content_hash(PageImage(raster(4, 6)))


def test_hash_is_64_hex_digits() -> None:
    digest = content_hash(PageImage(raster(1, 1)))
    assert len(digest) == 64
    assert int(digest, 16) >= 0
