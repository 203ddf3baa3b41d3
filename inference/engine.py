"""What every reading program must offer (R1)."""

from collections.abc import Mapping
from typing import Any, Protocol

from inference.types import PageImage, PageReading, PageRequest


class Engine(Protocol):
    """A program that reads one page at a time. Built once a process, used by one thread."""

    name: str

    @property
    def version(self) -> Mapping[str, Any]:
        """Everything that may change an answer (weights checksum, sizes, library versions) as plain JSON data."""

    def read_page(self, page: PageImage, request: PageRequest | None = None) -> PageReading:
        """Read one page; raise EngineError when it never will, EngineUnavailableError when it may later.

        An OCR reader gives words and ignores the request. A language model needs one, and gives the request's words
        and an answer.
        """
