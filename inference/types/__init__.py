"""The frozen values that cross the border of `inference`; the one part of it that `review.actions` may import."""

from inference.types.fields import Candidate, FieldReading, FieldSpec, GroupSpec, ValueType
from inference.types.geometry import BBox
from inference.types.pages import PageImage, PageReading, Word

__all__ = [
    "BBox",
    "Candidate",
    "FieldReading",
    "FieldSpec",
    "GroupSpec",
    "PageImage",
    "PageReading",
    "ValueType",
    "Word",
]
