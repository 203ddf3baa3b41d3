"""What a language model is asked for one page."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inference.types.document_types import DocumentTypeSpec
from inference.types.pages import PageImage, Word

QUESTION_VERSION = 1
"""Counted up with every change to the code that makes questions and page images of a page (`inference.serving`:
page_images, prompts, dialogue), so that no reading from before passes for one of now. A test holds the two together.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A reviewed page shown to the model before the page to read: its raster and the values that a person confirmed."""

    page: PageImage
    values: Mapping[str, Any]
    content_hash: str


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What to read on one page: the document type as spec and as JSON Schema, and up to two examples.

    `words` are what the OCR reader found on the same page; they go along into the reading (R5). `words_version` is the
    digest of that reader's engine version. `seconds` is the time that is left for the page, all questions together;
    None is as much as the engine gives.
    """

    spec: DocumentTypeSpec
    schema: Mapping[str, Any]
    examples: tuple[Example, ...] = ()
    words: tuple[Word, ...] = ()
    words_version: str = ""
    seconds: float | None = None

    @property
    def digest(self) -> str:
        """What `request_digest` makes of it."""
        shown = [(one.content_hash, one.values) for one in self.examples]
        return request_digest(self.schema, shown, self.words_version)


def request_digest(
    schema: Mapping[str, Any], examples: Sequence[tuple[str, Mapping[str, Any]]], words_version: str
) -> str:
    """Return the SHA-256 of everything about a request that may change a reading; `examples` are (hash, values).

    The words themselves follow from the page and from who reads them, so the latter's version stands for them.
    """
    asked = {
        "schema": schema,
        "examples": [[content_hash, values] for content_hash, values in examples],
        "words": words_version,
        "questions": QUESTION_VERSION,
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def page_digest(digest: str, page_number: int) -> str:
    """Return what a page (from 1) of a request with this digest is kept under; "" stays "": nothing was asked.

    A later page may hold none of the fields and the first may not, so that the same pixels can be a reading there and
    a failure here.
    """
    if not digest or page_number == 1:
        return digest
    return hashlib.sha256(f"{digest} later page".encode()).hexdigest()
