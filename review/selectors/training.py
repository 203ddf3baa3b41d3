"""What a training learns from: documents that people settled, with what was read on them; none that is held out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Q, QuerySet

from inference.types import PageReading
from review.exceptions import NotFoundError
from review.models import (
    UNFINISHED_WORK,
    DocumentType,
    EngineVersion,
    ExtractionRun,
    FieldReview,
    ModelKind,
    PageRead,
    Project,
    Record,
    TrainedModel,
    TrainingRun,
    Verdict,
)
from review.selectors.engines import base_of
from review.selectors.held_out import shut_out_ids

NEWEST = 2000
"""So many of the newest reviewed documents of a type are learned from: a training ends in minutes."""
LEAST_OF_A_TYPE = 10
"""So many reviewed documents a type needs for a classifier to learn it: its `LEAST_DOCUMENTS`."""
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class TaughtDocument:
    """A document as a training sees it; the three ids say exactly which rows. `document_type_id` is what it is."""

    document_id: int
    run_id: int
    record_id: int
    document_type_id: int

    def as_json(self) -> list[int]:
        """Return plain data for a snapshot."""
        return [self.document_id, self.run_id, self.record_id, self.document_type_id]


@dataclass(frozen=True, slots=True)
class Taught:
    """The documents to learn from, oldest first, and how many reviewed ones were left out, by reason."""

    documents: tuple[TaughtDocument, ...]
    left_out: Mapping[str, int]


def access_training_run(project: Project, run_id: int) -> TrainingRun:
    """Return a training run of an accessed project; raise NotFoundError."""
    found = training_runs_for(project).filter(pk=run_id).first()
    if found is None:
        raise NotFoundError
    return found


def training_runs_for(project: Project) -> QuerySet[TrainingRun]:
    """Return the training runs of a project, newest first, without the bytes of what they made."""
    runs = TrainingRun.objects.filter(project=project).select_related("document_type", "base", "trained_model")
    return runs.defer("trained_model__payload", "snapshot").order_by("-pk")


def composed_with(model: TrainedModel) -> EngineVersion | None:
    """Return the version that reads with a trained model, on what it learned on; a locator without a calibrator."""
    made = Q(locator=model, calibrator=None) | Q(calibrator=model)
    return EngineVersion.objects.filter(made).select_related("base").order_by("pk").first()


def base_to_learn_on(document_type: DocumentType) -> EngineVersion | None:
    """Return the version that has read the type's pages last, None where none has: a locator learns on its words."""
    runs = ExtractionRun.objects.filter(document__document_type=document_type, candidate_set__isnull=False)
    newest = runs.select_related("engine_version__base").order_by("-pk").first()
    return base_of(newest.engine_version) if newest is not None else None


def newest_label_id(project: Project, document_type: DocumentType | None) -> int:
    """Return the id of the newest verdict on a type, or in the project for None; 0 where there is none."""
    labels = FieldReview.objects.filter(project=project)
    if document_type is not None:
        labels = labels.filter(document_type=document_type)
    return labels.aggregate(newest=Max("pk"))["newest"] or 0


def types_with_new_labels(at_least: int) -> Iterator[DocumentType]:
    """Yield the types on which so many verdicts have come since a locator of theirs was last trained, or ever."""
    newest: dict[int, int] = {}
    runs = TrainingRun.objects.filter(kind=ModelKind.LOCATOR, document_type__isnull=False)
    for type_id, snapshot in runs.order_by("pk").values_list("document_type", "snapshot__labels_up_to"):
        newest[type_id] = snapshot or 0
    for document_type in DocumentType.objects.filter(active_version__isnull=False).select_related("project"):
        labels = FieldReview.objects.filter(document_type=document_type, pk__gt=newest.get(document_type.pk, 0))
        # No more rows are looked at than decide it.
        if labels.exclude(verdict=Verdict.ILLEGIBLE)[:at_least].count() >= at_least:
            yield document_type


def is_training(document_type: DocumentType) -> bool:
    """Whether something of the type is being trained, or waits to be: its locator or its calibrator."""
    return TrainingRun.objects.filter(document_type=document_type, state__in=UNFINISHED_WORK).exists()


def projects_with_new_labels(at_least: int) -> Iterator[Project]:
    """Yield the projects with so many verdicts since their classifier was last trained, or ever, and none in training.

    Only those that have two types to tell apart: with enough reviewed documents each.
    """
    newest: dict[int, int] = {}
    unfinished = set[int]()
    runs = TrainingRun.objects.filter(kind=ModelKind.CLASSIFIER)
    for project_id, state, snapshot in runs.order_by("pk").values_list("project", "state", "snapshot__labels_up_to"):
        newest[project_id] = snapshot or 0
        if state in UNFINISHED_WORK:
            unfinished.add(project_id)
    types: dict[Project, list[DocumentType]] = {}
    for one in DocumentType.objects.filter(active_version__isnull=False).select_related("project").order_by("pk"):
        types.setdefault(one.project, []).append(one)
    for project, its_types in types.items():
        if len(its_types) < 2 or project.pk in unfinished:
            continue
        labels = FieldReview.objects.filter(project=project, pk__gt=newest.get(project.pk, 0))
        # No more rows are looked at than decide it.
        if labels.exclude(verdict=Verdict.ILLEGIBLE)[:at_least].count() < at_least:
            continue
        reviewed = Record.objects.filter(is_current=True, reviewer__isnull=False)
        counts = (reviewed.filter(document__document_type=one)[:LEAST_OF_A_TYPE].count() for one in its_types)
        if sum(n >= LEAST_OF_A_TYPE for n in counts) >= 2:
            yield project


def documents_to_learn_from(document_type: DocumentType, base: EngineVersion) -> Taught:
    """Return the newest reviewed documents of a type whose candidates were found on the words of `base`."""
    records = Record.objects.filter(document__document_type=document_type)
    runs = ExtractionRun.objects.filter(Q(engine_version=base) | Q(engine_version__base=base))
    return _taught(document_type.project, records, runs.filter(candidate_set__isnull=False))


def documents_of_all_types(project: Project) -> Taught:
    """Return the newest reviewed documents of a project with a reading of their first page."""
    records = Record.objects.filter(project=project)
    return _taught(project, records, ExtractionRun.objects.filter(page_reads__reading__isnull=False).distinct())


def _taught(project: Project, records: QuerySet[Record], runs: QuerySet[ExtractionRun]) -> Taught:
    reviewed = records.filter(is_current=True, reviewer__isnull=False).order_by("-pk")
    rows = list(reviewed.values_list("document_id", "pk", "document__document_type_id")[:NEWEST])
    ids = [document_id for document_id, _, _ in rows]
    read = dict(runs.filter(document__in=ids).order_by("pk").values_list("document_id", "pk"))
    shut_out = shut_out_ids(project, ids)
    kept = [
        TaughtDocument(document_id, read[document_id], record_id, type_id)
        for document_id, record_id, type_id in rows
        if document_id in read and document_id not in shut_out
    ]
    left_out = {"held_out": len(shut_out), "not_read_by_base": len(set(ids) - read.keys() - shut_out)}
    return Taught(tuple(sorted(kept, key=lambda one: one.document_id)), left_out)


def taught_from(snapshot: Mapping[str, Any]) -> list[TaughtDocument]:
    """Return the documents of a settled snapshot."""
    return [TaughtDocument(*one) for one in snapshot["documents"]]


@dataclass(frozen=True, slots=True)
class TaughtFields:
    """What people settled on a document, field by field (None: the page shows none), and the stored candidates."""

    document_id: int
    values: Mapping[str, str | None]
    candidates: Mapping[str, Sequence[Mapping[str, Any]]]


def taught_fields(documents: Sequence[TaughtDocument]) -> Iterator[TaughtFields]:
    """Yield what is learned from each document; one whose rows are gone is left out."""
    for start in range(0, len(documents), _AT_ONCE):
        batch = documents[start : start + _AT_ONCE]
        records = Record.objects.in_bulk([one.record_id for one in batch])
        runs = ExtractionRun.objects.select_related("candidate_set").in_bulk([one.run_id for one in batch])
        for one in batch:
            record, run = records.get(one.record_id), runs.get(one.run_id)
            if record is not None and run is not None:
                yield TaughtFields(one.document_id, settled_values(record), run.candidate_set.payload)


def settled_values(record: Record) -> dict[str, str | None]:
    """Return the values that a person stands behind, by field path: what nobody could read is none of them."""
    return {
        path: None if record.values.get(path) in (None, "") else str(record.values[path])
        for path, source in record.provenance.items()
        if source.get("source") == "person" and source.get("verdict") != Verdict.ILLEGIBLE
    }


def first_readings(documents: Sequence[TaughtDocument]) -> Iterator[tuple[TaughtDocument, PageReading]]:
    """Yield each document with what was read on its first page; one without is left out."""
    for start in range(0, len(documents), _AT_ONCE):
        batch = documents[start : start + _AT_ONCE]
        reads = PageRead.objects.filter(run__in=[one.run_id for one in batch], page__page_number=1)
        found = {read.run_id: read.reading for read in reads.select_related("reading")}
        for one in batch:
            reading = found.get(one.run_id)
            if reading is not None:
                yield one, PageReading.from_json(reading.payload)
