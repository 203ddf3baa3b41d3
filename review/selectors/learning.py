"""What was learned in a project: the runs, what each made, where it may go, and whether what reads is calibrated."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from review.models import (
    DocumentType,
    EngineVersion,
    ModelKind,
    Project,
    Rollout,
    RolloutStage,
    TrainedModel,
    TrainingRun,
    WorkState,
)
from review.selectors.calibration import calibrated_paths
from review.selectors.engines import base_of, evidence_versions
from review.selectors.evaluation import comparisons_with, newest_sets_of
from review.selectors.gate import Gate, gate_for, n_that_taught_each
from review.selectors.rollouts import read_without_rollouts, rollouts_among
from review.selectors.schemas import column_paths, spec_of
from review.selectors.training import training_runs_for

TOLD_DAYS = 7
"""For so long managers are told of what was learned by itself, unless it was rolled out, or learned anew, before."""
_ON_ITS_WAY = (RolloutStage.SHADOW, RolloutStage.CANARY)


@dataclass(frozen=True, slots=True)
class Reads:
    """Which version reads a document type now, None where nothing was read.

    `evidence` is the version without its calibrator; `calibrated` are the fields, rows as `*`, of which its confidence
    is calibrated.
    """

    document_type: DocumentType
    version: EngineVersion | None
    evidence: EngineVersion | None
    calibrated: frozenset[str]

    @property
    def is_uncalibrated(self) -> bool:
        """Whether something reads whose confidence is, at least for some fields, the reader's own word."""
        version = self.document_type.active_version
        paths = column_paths(spec_of(version)) if version is not None else []
        return self.version is not None and not (self.calibrated and self.calibrated.issuperset(paths))


def reads_of(versions: Collection[tuple[DocumentType, EngineVersion | None]]) -> list[Reads]:
    """Return what is to be known of the version that reads each type; one query where a calibrator has a locator."""
    evidence = evidence_versions([version for _type, version in versions if version is not None])
    found = [(one, version, evidence[version.pk] if version is not None else None) for one, version in versions]
    return [Reads(one, version, seen, frozenset(calibrated_paths(version, seen))) for one, version, seen in found]


def reads_among(types: Collection[DocumentType], rollouts: Collection[Rollout]) -> list[Reads]:
    """Return what reads each of several types, whose roll-outs that have not ended are at hand; two queries at most."""
    live = {one.document_type_id: one.engine_version for one in rollouts if one.stage == RolloutStage.LIVE}
    others = read_without_rollouts([one for one in types if one.pk not in live])
    return reads_of([(one, live.get(one.pk) or others.get(one.pk)) for one in types])


def read_uncalibrated(types: Collection[DocumentType]) -> list[Reads]:
    """Return, of several types, what reads them where its confidence is not calibrated for all of their fields."""
    return [one for one in reads_among(types, rollouts_among(types, ())) if one.is_uncalibrated]


def newest_learned(project: Project) -> list[TrainingRun]:
    """Return the newest training that came to something of each document type and kind, newest first."""
    done = training_runs_for(project).filter(state=WorkState.DONE, trained_model__isnull=False)
    of_type = Q(document_type=OuterRef("document_type")) | Q(document_type=None, kind=ModelKind.CLASSIFIER)
    newer = TrainingRun.objects.filter(
        of_type,
        project=OuterRef("project"),
        kind=OuterRef("kind"),
        state=WorkState.DONE,
        trained_model__isnull=False,
        pk__gt=OuterRef("pk"),
    )
    return list(done.exclude(Exists(newer)))


def versions_made(trained: Collection[TrainedModel]) -> Mapping[int, EngineVersion]:
    """Return the version that reads with each model, by the model's id: a locator's without a calibrator."""
    made = Q(locator__in=trained, calibrator=None) | Q(calibrator__in=trained)
    # Whoever asks what may have taught them asks when they were trained; nobody asks for their bytes.
    models = ("locator", "calibrator")
    of = [f"{name}__training_run" for name in models]
    bytes_of = [f"{name}__payload" for name in models] + [f"{name}__snapshot" for name in of]
    versions = EngineVersion.objects.filter(made).select_related("base", *of).defer(*bytes_of).order_by("-pk")
    return {version.calibrator_id or version.locator_id or 0: version for version in versions}


@dataclass(frozen=True, slots=True)
class Offer:
    """Where a learned version may go. `gate` is what it would meet; None where it cannot be rolled out now.

    `is_reading`: it reads its type already. `rollout` is its newest roll-out, None where it had none; `is_behind`
    says that another version is on its way for the type, `is_outdated` that it was learned on what reads no more.
    """

    version: EngineVersion
    is_reading: bool = False
    rollout: Rollout | None = None
    is_behind: bool = False
    is_outdated: bool = False
    gate: Gate | None = None

    @property
    def is_possible(self) -> bool:
        """Whether it can be rolled out now."""
        return not (self.is_reading or self.is_on_its_way or self.is_behind or self.is_outdated)

    @property
    def is_on_its_way(self) -> bool:
        """Whether it is being rolled out now."""
        return self.rollout is not None and self.rollout.stage in _ON_ITS_WAY


def offers_of(
    made: Iterable[tuple[TrainingRun, EngineVersion]], reads: Collection[Reads], rollouts: Collection[Rollout]
) -> Mapping[int, Offer]:
    """Return, by the id of the training, where the version that came of it may go; three queries at most.

    `reads`: who reads each type; `rollouts` are `rollouts_among` the types and these versions.
    """
    by_type = {one.document_type.pk: one for one in reads}
    pairs = {run.pk: (run, version, by_type[run.document_type_id]) for run, version in made if run.document_type_id}
    offers = {pk: _offer(*pair, rollouts) for pk, pair in pairs.items()}
    wanted = [pk for pk, offer in offers.items() if offer.is_possible]
    if not wanted:
        return offers
    sets = newest_sets_of([pairs[pk][2].document_type for pk in wanted])
    compared = comparisons_with(list(sets.values()), [pairs[pk][1] for pk in wanted]) if sets else {}
    judged = {pk: sets[type_id] for pk in wanted if (type_id := pairs[pk][2].document_type.pk) in sets}
    n_taught = dict(zip(judged, n_that_taught_each([(judged[pk], pairs[pk][1]) for pk in judged]), strict=True))
    for pk in wanted:
        _run, version, of_type = pairs[pk]
        champion, kept = of_type.version, judged.get(pk)
        comparison = compared.get((kept.pk, champion.pk, version.pk)) if kept and champion else None
        offers[pk] = replace(offers[pk], gate=gate_for(champion, kept, comparison, n_taught.get(pk, 0)))
    return offers


def _offer(run: TrainingRun, version: EngineVersion, reads: Reads, rollouts: Iterable[Rollout]) -> Offer:
    champion = reads.version
    of_type = [one for one in rollouts if one.document_type_id == run.document_type_id]
    own = next((one for one in reversed(of_type) if one.engine_version_id == version.pk), None)
    return Offer(
        version,
        is_reading=champion is not None and champion.pk == version.pk,
        rollout=own,
        is_behind=any(one.stage in _ON_ITS_WAY and one.engine_version_id != version.pk for one in of_type),
        is_outdated=champion is not None and run.base_id != _learned_on(run, champion, reads.evidence).pk,
    )


def _learned_on(run: TrainingRun, champion: EngineVersion, evidence: EngineVersion | None) -> EngineVersion:
    return evidence if run.kind == ModelKind.CALIBRATOR and evidence is not None else base_of(champion)


def learned_by_itself() -> QuerySet[TrainingRun]:
    """Return the trainings of late that nobody asked for and that came to something which was never rolled out.

    In whatever project; only the newest of its type and kind.
    """
    of_model = Q(engine_version__locator=OuterRef("trained_model"))
    of_model |= Q(engine_version__calibrator=OuterRef("trained_model"))
    same = {"document_type": OuterRef("document_type"), "kind": OuterRef("kind"), "state": WorkState.DONE}
    newer = TrainingRun.objects.filter(**same, pk__gt=OuterRef("pk"))
    done = TrainingRun.objects.filter(
        state=WorkState.DONE,
        requested_by=None,
        kind__in=(ModelKind.LOCATOR, ModelKind.CALIBRATOR),
        trained_model__isnull=False,
        finished_at__gte=timezone.now() - timedelta(days=TOLD_DAYS),
    )
    return done.exclude(Exists(Rollout.objects.filter(of_model))).exclude(Exists(newer))


def learned_in(project: Project) -> QuerySet[TrainingRun]:
    """Return those of a project, with their types."""
    return learned_by_itself().filter(project=project).select_related("document_type").defer("snapshot").order_by("pk")


def n_learned_from(run: TrainingRun) -> int | None:
    """Return how many labels or documents a training learned from, None where it does not say yet."""
    if run.kind == ModelKind.LOCATOR:
        fields = run.metrics.get("fields", {}).values()
        return max((field["n_documents"] for field in fields), default=None)
    found = run.metrics.get("n_labels" if run.kind == ModelKind.CALIBRATOR else "n_documents")
    return int(found) if found is not None else None
