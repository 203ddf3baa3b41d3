"""Who reads the documents of a type."""

from review.models import Document, DocumentType, EngineVersion, ExtractionRun, Project, Rollout, RolloutStage


def version_for(document: Document) -> EngineVersion | None:
    """Return the engine version that shall read a document; None where its project names an OCR engine, or none.

    It is the one that is live for the document's type, else the declared version of its project.
    """
    live = (
        Rollout.objects.filter(document_type=document.document_type_id, stage=RolloutStage.LIVE)
        .select_related("engine_version__base")
        .first()
    )
    return live.engine_version if live is not None else document.project.engine_version


def versions_reading(project: Project, document_type: DocumentType | None = None) -> list[EngineVersion | None]:
    """Return which versions read a project's documents, or those of one type; None stands for its OCR engine."""
    types = [document_type] if document_type is not None else list(DocumentType.objects.filter(project=project))
    live = Rollout.objects.filter(document_type__in=types, stage=RolloutStage.LIVE).select_related(
        "engine_version__base"
    )
    by_type = {rollout.document_type_id: rollout.engine_version for rollout in live}
    found = {by_type.get(one.pk, project.engine_version) for one in types}
    return sorted(found, key=lambda version: version.pk if version is not None else 0)


def stand_in_of(document_type: DocumentType) -> EngineVersion | None:
    """Return the version that has read lately in place of the live one, None while the live one reads.

    An OCR engine is what is installed: a version that was learned on top of another one cannot be had after an
    upgrade, and the installed engine reads alone.
    """
    rollouts = Rollout.objects.filter(document_type=document_type)
    live = rollouts.filter(stage=RolloutStage.LIVE).first()
    if live is None:
        return None
    known = rollouts.exclude(stage=RolloutStage.RETIRED).values("engine_version")
    runs = ExtractionRun.objects.filter(document__document_type=document_type, started_at__gte=live.stage_since)
    newest = runs.select_related("engine_version").exclude(engine_version__in=known.exclude(pk=live.pk))
    run = newest.order_by("-pk").first()
    return None if run is None or run.engine_version_id == live.engine_version_id else run.engine_version
