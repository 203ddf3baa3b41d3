"""The one box convention outside `inference.imaging`: fractions of the upright page, origin at the top left."""

from collections.abc import Iterable
from typing import NamedTuple


class BBox(NamedTuple):
    """A rectangle (x0, y0, x1, y1), each in 0-1, with x0 <= x1 and y0 <= y1."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Horizontal extent as a share of the page's width."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Vertical extent as a share of the page's height."""
        return self.y1 - self.y0

    @property
    def center(self) -> tuple[float, float]:
        """The middle point (x, y)."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    @classmethod
    def around(cls, boxes: "Iterable[BBox]") -> "BBox":
        """Return the smallest box that holds all `boxes`; raise ValueError when there are none."""
        boxes = list(boxes)
        if not boxes:
            raise ValueError("a box around nothing was asked for")
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return cls(min(lefts), min(tops), max(rights), max(bottoms))
