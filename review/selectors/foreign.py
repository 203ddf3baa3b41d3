"""Readings that came with documents from other programs."""

from typing import Any

from review.models import Document, EngineVersion, ExtractionRun, ForeignReading


def foreign_version_of(document: Document) -> EngineVersion | None:
    """Return the engine version under which a document's own predictions count, None where it has none."""
    found = ForeignReading.objects.select_related("engine_version").filter(document=document, is_current=True).first()
    return found.engine_version if found is not None else None


def foreign_fields_of(run: ExtractionRun) -> list[dict[str, Any]] | None:
    """Return what came with the document of a run that counts as that engine's, None for any other run."""
    found = ForeignReading.objects.filter(
        document=run.document_id, engine_version=run.engine_version_id, is_current=True
    ).first()
    return list(found.fields) if found is not None else None
