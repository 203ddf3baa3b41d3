"""The frozen values that cross the border of `inference`; the one part of it that `review.actions` may import."""

from inference.types.answers import PageAnswer, RawAnswer, Token
from inference.types.constrainable import unsupported
from inference.types.cross_rules import CrossRule, RuleKind
from inference.types.document_types import (
    DocumentTypeSpec,
    SchemaProblem,
    parse_document_type,
    validate_document_type,
    validate_values,
)
from inference.types.fields import Candidate, FieldReading, FieldSpec, GroupSpec, ValueType
from inference.types.geometry import BBox
from inference.types.looks import MAX_DISTANCE, hamming_distance
from inference.types.ocr import OcrProfile, OcrProfileError
from inference.types.pages import PageImage, PageReading, Word
from inference.types.requests import Example, PageRequest, page_digest, request_digest
from inference.types.vlm import Decoding, ImagingProfile, VlmSpec, VlmSpecError

__all__ = [
    "MAX_DISTANCE",
    "BBox",
    "Candidate",
    "CrossRule",
    "Decoding",
    "DocumentTypeSpec",
    "Example",
    "FieldReading",
    "FieldSpec",
    "GroupSpec",
    "ImagingProfile",
    "OcrProfile",
    "OcrProfileError",
    "PageAnswer",
    "PageImage",
    "PageReading",
    "PageRequest",
    "RawAnswer",
    "RuleKind",
    "SchemaProblem",
    "Token",
    "ValueType",
    "VlmSpec",
    "VlmSpecError",
    "Word",
    "hamming_distance",
    "page_digest",
    "parse_document_type",
    "request_digest",
    "unsupported",
    "validate_document_type",
    "validate_values",
]
