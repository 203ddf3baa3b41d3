"""Who reads the documents of a type."""

from collections.abc import Collection, Mapping

from django.db.models import OuterRef, Q, QuerySet, Subquery

from review.exceptions import NotFoundError
from review.models import (
    Document,
    DocumentType,
    EngineVersion,
    ExtractionRun,
    FieldMonitor,
    Project,
    Rollout,
    RolloutStage,
    RunRole,
)
from review.routing.sampling import Purpose, draw
from review.selectors.engines import base_id_of, base_of, is_declared

VERSIONS_OFFERED = 50
_READING = (RolloutStage.CANARY, RolloutStage.LIVE)


def version_for(document: Document) -> EngineVersion | None:
    """Return the engine version that shall read a document; None where its project names an OCR engine, or none.

    It is the canary of the document's type where its hash says so, else the one that is live, else the declared version
    of its project. The same document always gets the same answer while no roll-out moves.
    """
    found = Rollout.objects.filter(document_type=document.document_type_id, stage__in=_READING)
    by_stage = {rollout.stage: rollout for rollout in found.select_related("engine_version__base")}
    canary, live = by_stage.get(RolloutStage.CANARY), by_stage.get(RolloutStage.LIVE)
    if canary is not None and _is_for(canary, document):
        return canary.engine_version
    return live.engine_version if live is not None else document.project.engine_version


def _is_for(canary: Rollout, document: Document) -> bool:
    return draw(document.sha256, str(canary.pk), canary.salt, Purpose.CANARY) < canary.canary_share


def versions_reading(project: Project, document_type: DocumentType | None = None) -> list[EngineVersion | None]:
    """Return which versions read a project's documents, or those of one type; None stands for its OCR engine."""
    types = [document_type] if document_type is not None else list(DocumentType.objects.filter(project=project))
    reading = Rollout.objects.filter(document_type__in=types, stage__in=_READING).select_related("engine_version__base")
    rollouts = list(reading)
    live = {one.document_type_id: one.engine_version for one in rollouts if one.stage == RolloutStage.LIVE}
    found = {live.get(one.pk, project.engine_version) for one in types} | {one.engine_version for one in rollouts}
    return sorted(found, key=lambda version: version.pk if version is not None else 0)


def declared_versions_in_use() -> list[EngineVersion]:
    """Return the declared versions (language models) that read for a project or in a roll-out, alone or as a base."""
    reading = EngineVersion.objects.filter(
        Q(pk__in=Project.objects.exclude(engine_version=None).values("engine_version"))
        | Q(pk__in=Rollout.objects.exclude(stage=RolloutStage.RETIRED).values("engine_version"))
    )
    bases = {base_of(version) for version in reading.select_related("base")}
    return sorted((base for base in bases if is_declared(base)), key=lambda base: base.pk)


def types_read_by(base_ids: Collection[int]) -> frozenset[int]:
    """Return the ids of the document types whose pages are read by these versions: their live one, or their project's.

    Costs nothing for no versions.
    """
    if not base_ids:
        return frozenset()
    live = Rollout.objects.filter(stage=RolloutStage.LIVE).select_related("engine_version")
    by_type = {rollout.document_type_id: base_id_of(rollout.engine_version) for rollout in live}
    of_project = Q(project__engine_version__in=base_ids) | Q(project__engine_version__base__in=base_ids)
    others = DocumentType.objects.filter(of_project).exclude(pk__in=by_type).values_list("pk", flat=True)
    return frozenset([*others, *(type_id for type_id, base_id in by_type.items() if base_id in base_ids)])


def stand_in_of(document_type: DocumentType, live: Rollout | None = None) -> EngineVersion | None:
    """Return the version that has read lately in place of the live one, None while the live one reads.

    An OCR engine is what is installed: a version that was learned on top of another one cannot be had after an
    upgrade, and the installed engine reads alone. `live` spares a query where it is at hand.
    """
    rollouts = Rollout.objects.filter(document_type=document_type)
    live = rollouts.filter(stage=RolloutStage.LIVE).first() if live is None else live
    if live is None:
        return None
    known = rollouts.exclude(stage=RolloutStage.RETIRED).values("engine_version")
    runs = ExtractionRun.objects.filter(
        document__document_type=document_type, started_at__gte=live.stage_since, role=RunRole.MAIN
    )
    newest = runs.select_related("engine_version").exclude(engine_version__in=known.exclude(pk=live.pk))
    run = newest.order_by("-pk").first()
    return None if run is None or run.engine_version_id == live.engine_version_id else run.engine_version


def champion_of(document_type: DocumentType) -> EngineVersion | None:
    """Return the version that reads a type while nothing is on its way, None where nothing of it was read yet.

    It is the one that is live, else what its project declared, else the OCR engine as it read last.
    """
    live = _in_stage(document_type, RolloutStage.LIVE)
    return live.engine_version if live is not None else reads_without_rollout(document_type)


def reads_without_rollout(document_type: DocumentType) -> EngineVersion | None:
    """Return the version that reads a type where none is live."""
    return read_without_rollouts([document_type]).get(document_type.pk)


def read_without_rollouts(types: Collection[DocumentType]) -> Mapping[int, EngineVersion]:
    """Return `reads_without_rollout` of several types, by the type's id; one query, none where all is declared."""
    declared = {one.pk: one.project.engine_version for one in types if one.project.engine_version is not None}
    others = [one.pk for one in types if one.pk not in declared]
    if not others:
        return declared
    tried = Rollout.objects.filter(document_type=OuterRef("document__document_type")).values("engine_version")
    runs = ExtractionRun.objects.filter(document__document_type=OuterRef("pk"), role=RunRole.MAIN)
    last = Subquery(runs.exclude(engine_version__in=tried).order_by("-pk").values("pk")[:1])
    newest = ExtractionRun.objects.filter(pk__in=DocumentType.objects.filter(pk__in=others).values(last=last))
    read = newest.select_related("document", "engine_version__base", "engine_version__calibrator")
    return declared | {run.document.document_type_id: run.engine_version for run in read}


def rollouts_among(types: Collection[DocumentType], versions: Collection[EngineVersion]) -> list[Rollout]:
    """Return the roll-outs of types that have not ended, and those of these versions that have, oldest first."""
    wanted = ~Q(stage=RolloutStage.RETIRED) | Q(engine_version__in=versions)
    found = Rollout.objects.filter(wanted, document_type__in=types)
    # What a calibrator was learned on is the evidence that it goes by.
    learned = "engine_version__calibrator__training_run"
    known = found.select_related("engine_version__base", f"{learned}__base").defer(f"{learned}__snapshot")
    return list(known.order_by("pk"))


def challenger_of(document_type: DocumentType) -> Rollout | None:
    """Return the roll-out that is on its way for a type, in shadow or as a canary."""
    return _in_stage(document_type, RolloutStage.SHADOW, RolloutStage.CANARY)


def rollouts_of(document_type: DocumentType) -> QuerySet[Rollout]:
    """Return the roll-outs of a type, newest first."""
    rollouts = Rollout.objects.filter(document_type=document_type).select_related(
        "document_type__project__engine_version",
        "engine_version__base",
        "engine_version__locator__training_run",
        "engine_version__calibrator__training_run",
        "champion",
        "started_by",
    )
    return rollouts.order_by("-pk")


def access_rollout(document_type: DocumentType, rollout_id: int) -> Rollout:
    """Return a roll-out of an accessed type; raise NotFoundError."""
    rollout = rollouts_of(document_type).filter(pk=rollout_id).first()
    if rollout is None:
        raise NotFoundError
    return rollout


def rollout_to_compare(rollout_id: int) -> Rollout | None:
    """Return a roll-out that is on its way, for the task that compares; None where it has ended."""
    on_its_way = Rollout.objects.filter(pk=rollout_id, stage__in=(RolloutStage.SHADOW, RolloutStage.CANARY))
    return on_its_way.select_related("document_type__project__engine_version", "engine_version__base").first()


def versions_to_roll_out(document_type: DocumentType, champion: EngineVersion | None) -> list[EngineVersion]:
    """Return the versions that could be tried on a type, newest first: declared ones, and what was learned for it.

    Not the `champion`, who reads it now.
    """
    learned = Q(locator__document_type=document_type, calibrator=None)
    learned |= Q(calibrator__document_type=document_type, locator=None)
    learned |= Q(locator__document_type=document_type, calibrator__document_type=document_type)
    found = EngineVersion.objects.filter(
        learned | Q(spec__has_key="kind", base=None) | Q(spec__has_key="profile", base=None)
    ).order_by("-pk")
    return [version for version in found[:VERSIONS_OFFERED] if champion is None or version.pk != champion.pk]


def _in_stage(document_type: DocumentType, *stages: RolloutStage) -> Rollout | None:
    return rollouts_of(document_type).filter(stage__in=stages).first()


def tripped_rollouts() -> list[tuple[Rollout, str]]:
    """Return the roll-outs that read for real and tripped a monitor themselves, each with the field.

    A monitor of the field, which is stopped then; or one of the canary's own.
    """
    monitors = FieldMonitor.objects.filter(ended_at=None, tripped_at__isnull=False, engine_version__isnull=False)
    fields = {
        (type_id, version_id): path
        for type_id, version_id, path in monitors.order_by("-pk").values_list(
            "document_type_id", "engine_version_id", "field_path"
        )
    }
    own = ~Q(monitors={}) & Q(stage=RolloutStage.CANARY)
    stopped = Q(stage__in=_READING, document_type__in={type_id for type_id, _ in fields})
    reading = Rollout.objects.filter(own | stopped).select_related("document_type", "engine_version")
    found = ((rollout, fields.get((rollout.document_type_id, rollout.engine_version_id))) for rollout in reading)
    return [(rollout, path) for rollout, known in found if (path := known or _tripped_by_itself(rollout)) is not None]


def _tripped_by_itself(canary: Rollout) -> str | None:
    """Return the field of a canary's own monitor that has tripped, None where none has."""
    if canary.stage != RolloutStage.CANARY:
        return None
    return next((path for path, state in canary.monitors.items() if state["tripped_at"] is not None), None)
