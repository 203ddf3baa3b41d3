"""What was learned in a project: the runs, what each made, and whether what reads now is calibrated."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Q

from review.models import DocumentType, EngineVersion, ModelKind, Project, TrainedModel, TrainingRun, WorkState
from review.selectors.calibration import calibrated_paths
from review.selectors.rollouts import champion_of
from review.selectors.training import training_runs_for


@dataclass(frozen=True, slots=True)
class Reads:
    """Which version reads a document type now, None where nothing was read; `calibrated`: for which of its fields."""

    document_type: DocumentType
    version: EngineVersion | None
    calibrated: frozenset[str]


def reads_now(document_type: DocumentType) -> Reads:
    """Return what reads a document type, and of which fields, rows as `*`, its confidence is calibrated."""
    version = champion_of(document_type)
    return Reads(document_type, version, frozenset(calibrated_paths(version)))


def newest_learned(project: Project) -> list[TrainingRun]:
    """Return the newest training that came to something of each document type and kind, newest first."""
    found: dict[tuple[int | None, str], TrainingRun] = {}
    done = training_runs_for(project).filter(state=WorkState.DONE, trained_model__isnull=False)
    newest: dict[tuple[int | None, str], int] = {}
    for pk, document_type_id, kind in done.values_list("pk", "document_type", "kind").order_by("pk"):
        newest[document_type_id, kind] = pk
    for run in done.filter(pk__in=newest.values()):
        found[run.document_type_id, run.kind] = run
    return sorted(found.values(), key=lambda run: -run.pk)


def versions_made(models: Collection[TrainedModel]) -> Mapping[int, EngineVersion]:
    """Return the version that reads with each model, by the model's id: a locator's without a calibrator."""
    made = Q(locator__in=models, calibrator=None) | Q(calibrator__in=models)
    versions = EngineVersion.objects.filter(made).order_by("-pk")
    return {version.calibrator_id or version.locator_id or 0: version for version in versions}


def n_learned_from(run: TrainingRun) -> int | None:
    """Return how many labels or documents a training learned from, None where it does not say yet."""
    if run.kind == ModelKind.LOCATOR:
        fields = run.metrics.get("fields", {}).values()
        return max((field["n_documents"] for field in fields), default=None)
    found = run.metrics.get("n_labels" if run.kind == ModelKind.CALIBRATOR else "n_documents")
    return int(found) if found is not None else None
