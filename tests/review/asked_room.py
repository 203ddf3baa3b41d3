"""Documents sent to a project that reads with a language model."""

from django.core.files.base import ContentFile

from review.actions.intake import receive_document
from review.models import (
    Document,
    EngineVersion,
    Reading,
)
from review.selectors.access import SYSTEM
from tests.conftest import Cast


def send(cast: Cast, data: bytes) -> Document:
    return receive_document(
        actor=SYSTEM, project=cast.project, document_type=cast.document_type, file=ContentFile(data), filename="scan"
    ).document


def finished(document: Document) -> Document:
    document.refresh_from_db()
    return document


def kept(version: EngineVersion) -> Reading:
    return Reading.objects.get(engine_version=version)
