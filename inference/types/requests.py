"""What a language model is asked for one page."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.types.document_types import DocumentTypeSpec
from inference.types.pages import PageImage, Word


@dataclass(frozen=True, slots=True)
class Example:
    """A reviewed page shown to the model before the page to read: its raster and the values that a person confirmed."""

    page: PageImage
    values: Mapping[str, Any]
    content_hash: str


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What to read on one page: the document type as spec and as JSON Schema, and up to two examples.

    `words` are what the OCR reader found on the same page; they go along into the reading (R5). `seconds` is the time
    that is left for the page, all questions together; None is as much as the engine gives.
    """

    spec: DocumentTypeSpec
    schema: Mapping[str, Any]
    examples: tuple[Example, ...] = ()
    words: tuple[Word, ...] = ()
    seconds: float | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of everything here that may change an answer; the words do not."""
        asked = {"schema": self.schema, "examples": [[one.content_hash, one.values] for one in self.examples]}
        return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
