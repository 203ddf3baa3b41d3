"""Exports: the list, the signed link, and what goes into one, batch by batch."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from review.exceptions import NotFoundError
from review.models import (
    UNFINISHED_STATUSES,
    DatasetExport,
    Document,
    DocumentStatus,
    ExtractionRun,
    FieldPrediction,
    FieldReview,
    Project,
    Record,
    ReviewTask,
    RoutingDecision,
    RunRole,
    TaskKind,
    TaskState,
    WorkState,
)
from review.selectors.held_out import held_out_digests

BATCH_SIZE = 200
_SALT = "review.export"


@dataclass(frozen=True, slots=True)
class ExportItem:
    """One record with all that an export says of it. `labels` are in the order in which they were given.

    `is_held_out`: the same bytes are part of a regression set of the project, so nothing may learn from them.
    """

    record: Record
    decision: RoutingDecision | None
    predictions: dict[str, FieldPrediction]
    labels: dict[str, list[FieldReview]]
    is_held_out: bool


@dataclass(frozen=True, slots=True)
class ExportCounts:
    """What an export asked for now would hold, and what it would leave out and why.

    `n_records` are written: `n_by_model` as the reader gave them, `n_by_people` with a person's decisions. Left out,
    whatever `since` is: documents in review, on their way or unreadable, and copies (their first stands for them).
    """

    n_records: int
    n_by_people: int
    n_in_review: int
    n_on_their_way: int
    n_unreadable: int
    n_copies: int

    @property
    def n_by_model(self) -> int:
        """Records in which no person decided anything."""
        return self.n_records - self.n_by_people

    @property
    def n_left_out(self) -> int:
        """Documents that have no record to write."""
        return self.n_in_review + self.n_on_their_way + self.n_unreadable + self.n_copies


def export_counts(project: Project, *, since: datetime | None = None) -> ExportCounts:
    """Count what an export asked for now would hold, in three queries."""
    records = records_to_export(project, snapshot_at=timezone.now(), since=since)
    held = records.aggregate(n=Count("id"), n_by_people=Count("reviewer"))
    statuses = Document.objects.filter(project=project, duplicate_of=None)
    counts = dict(statuses.values_list("status").annotate(Count("id")).order_by())
    return ExportCounts(
        n_records=held["n"],
        n_by_people=held["n_by_people"],
        n_in_review=counts.get(DocumentStatus.REVIEW, 0),
        n_on_their_way=sum(counts.get(status, 0) for status in UNFINISHED_STATUSES),
        n_unreadable=counts.get(DocumentStatus.UNREADABLE, 0),
        n_copies=Document.objects.filter(project=project, duplicate_of__gt=0).count(),
    )


def exports_for(project: Project) -> QuerySet[DatasetExport]:
    """Return the exports of a project's records as they stood, newest first; those of snapshots are theirs."""
    return DatasetExport.objects.select_related("requested_by").filter(project=project, snapshot=None).order_by("-id")


def sign_download(export: DatasetExport) -> str:
    """Return a token that opens this export, and nothing else, to whoever holds it, for STET_DOWNLOAD_SECONDS."""
    return TimestampSigner(salt=_SALT).sign(str(export.pk))


def export_for_download(token: str) -> DatasetExport:
    """Return the finished export that a token names; raise NotFoundError for a false, expired or premature one."""
    try:
        pk = TimestampSigner(salt=_SALT).unsign(token, max_age=settings.STET_DOWNLOAD_SECONDS)
    except BadSignature:
        raise NotFoundError from None
    export = DatasetExport.objects.select_related("project").filter(pk=pk, state=WorkState.DONE).first()
    if export is None:
        raise NotFoundError
    return export


def records_to_export(project: Project, *, snapshot_at: datetime, since: datetime | None = None) -> QuerySet[Record]:
    """Return the revisions that counted at `snapshot_at`, of those only the ones made since `since`.

    Rows are never changed, so this can be asked again later: of each document the last revision up to that moment,
    unless a person had declared the document unusable after it, or it was read again as one of another type by then.
    Duplicates have no record of their own.
    """
    later = Record.objects.filter(
        document=OuterRef("document"), revision__gt=OuterRef("revision"), created_at__lte=snapshot_at
    )
    given_up = ReviewTask.objects.filter(
        document=OuterRef("document"),
        state=TaskState.UNUSABLE,
        finished_at__gte=OuterRef("created_at"),
        finished_at__lte=snapshot_at,
    )
    moved = ExtractionRun.objects.filter(
        document=OuterRef("document"),
        role=RunRole.MAIN,
        started_at__gt=OuterRef("created_at"),
        started_at__lte=snapshot_at,
    ).exclude(schema_version__document_type=OuterRef("run__schema_version__document_type"))
    records = Record.objects.filter(project=project, created_at__lte=snapshot_at)
    if since is not None:
        records = records.filter(created_at__gte=since)
    return records.filter(~Exists(later), ~Exists(given_up), ~Exists(moved))


def items_to_export(
    project: Project, *, snapshot_at: datetime, since: datetime | None = None, batch_size: int = BATCH_SIZE
) -> Iterator[list[ExportItem]]:
    """Yield the records of an export in batches, oldest first; no more than one batch is in memory.

    Each batch is a query of its own from the last id on: nothing stays open in the database between two of them.
    """
    records = records_to_export(project, snapshot_at=snapshot_at, since=since).select_related(
        "document", "run__engine_version", "run__schema_version__document_type", "reviewer"
    )
    records = records.defer("run__schema_version__schema", "run__engine_version__spec").order_by("id")
    last_id = 0
    while batch := list(records.filter(id__gt=last_id)[:batch_size]):
        given = FieldReview.objects.filter(
            document__in=[record.document_id for record in batch], created_at__lte=snapshot_at
        )
        # Answers that tested a reviewer say nothing that was not known.
        yield export_items(project, batch, given.exclude(task__kind=TaskKind.SEEDED))
        last_id = batch[-1].pk


def export_items(project: Project, records: Sequence[Record], given: QuerySet[FieldReview]) -> list[ExportItem]:
    """Return records with all that is said of each; `given` are the labels that count, of whichever records."""
    runs = [record.run_id for record in records]
    decisions = {made.run_id: made for made in RoutingDecision.objects.select_related("policy").filter(run__in=runs)}
    predictions: dict[int, dict[str, FieldPrediction]] = defaultdict(dict)
    for prediction in FieldPrediction.objects.filter(run__in=runs).order_by("id"):
        predictions[prediction.run_id][prediction.field_path] = prediction
    labels: dict[int, dict[str, list[FieldReview]]] = defaultdict(lambda: defaultdict(list))
    given = given.select_related("reviewer", "engine_version").defer("engine_version__spec")
    for label in given.order_by("id"):
        labels[label.document_id][label.field_path].append(label)
    held_out = held_out_digests(project, [record.document.sha256 for record in records])
    return [
        ExportItem(
            record=record,
            decision=decisions.get(record.run_id),
            predictions=predictions[record.run_id],
            labels=labels[record.document_id],
            is_held_out=record.document.sha256 in held_out,
        )
        for record in records
    ]
