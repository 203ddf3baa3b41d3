"""How much of a file we are willing to open."""

from dataclasses import dataclass

PIXEL_CEILING = 178_956_970
"""Above this Pillow itself refuses to open an image, whatever our own limit says."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what is opened; every one is checked before the costly step it guards.

    `max_bytes` of the file, `max_pixels` of one page as stored (A3 at 600 dpi has 70 million), `max_pages` of the
    document, `pdf_memory_bytes` that a PDF may take on top of what an idle PDF process takes, `pdf_seconds` to open
    a PDF and again for each of its pages, `long_side` in pixels of the pages delivered (never enlarged, except
    that a PDF, which has no pixels, is always drawn at this size), `min_side` in pixels of a usable raster.
    """

    max_bytes: int = 50 * 1024 * 1024
    max_pixels: int = 80_000_000
    max_pages: int = 200
    pdf_memory_bytes: int = 1024 * 1024 * 1024
    pdf_seconds: float = 20.0
    long_side: int = 1600
    min_side: int = 1

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above zero")
        if self.max_pixels > PIXEL_CEILING:
            raise ValueError(f"max_pixels must be at most {PIXEL_CEILING}")
