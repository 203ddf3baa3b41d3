"""Documents sent, and all work done that they make."""

from collections.abc import Iterator
from pathlib import Path

from django.core.files.base import ContentFile

from inference.imaging.hashing import content_hash
from inference.imaging.pages import OpenedPage, open_pages
from review.actions.intake import file_limits, receive_document
from review.models import (
    Document,
)
from review.selectors.access import SYSTEM
from tests.conftest import Cast


def send(cast: Cast, data: bytes) -> Document:
    return receive_document(
        actor=SYSTEM,
        project=cast.project,
        document_type=cast.document_type,
        file=ContentFile(data),
        filename="scan",
    ).document


def pages_of(data: bytes, tmp_path: Path) -> list[str]:
    """The content hashes of the pages of a file, as they were opened."""
    return [content_hash(opened.image) for opened in opened_pages(data, tmp_path)]


def opened_pages(data: bytes, tmp_path: Path) -> Iterator[OpenedPage]:
    path = tmp_path / "pages"
    path.write_bytes(data)
    return open_pages(path, file_limits())


def finished(document: Document) -> Document:
    document.refresh_from_db()
    return document
