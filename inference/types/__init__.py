"""The frozen values that cross the border of `inference`; the one part of it that `review.actions` may import."""

from inference.types.document_types import (
    DocumentTypeSpec,
    SchemaProblem,
    parse_document_type,
    validate_document_type,
    validate_values,
)
from inference.types.fields import Candidate, FieldReading, FieldSpec, GroupSpec, ValueType
from inference.types.geometry import BBox
from inference.types.pages import PageImage, PageReading, Word

__all__ = [
    "BBox",
    "Candidate",
    "DocumentTypeSpec",
    "FieldReading",
    "FieldSpec",
    "GroupSpec",
    "PageImage",
    "PageReading",
    "SchemaProblem",
    "ValueType",
    "Word",
    "parse_document_type",
    "validate_document_type",
    "validate_values",
]
