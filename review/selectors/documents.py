"""Documents as people see them: lists, shown status, and one document with everything that is known of it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from inference.types import DocumentTypeSpec, FieldSpec, parse_document_type
from review.models import (
    UNFINISHED_STATUSES,
    AuditEntry,
    Document,
    DocumentStatus,
    ExtractionRun,
    FieldDecision,
    FieldPrediction,
    Page,
    Project,
    Record,
    ReviewTask,
    RoutingDecision,
    TaskKind,
    TaskState,
    User,
)
from review.selectors.blindness import is_withheld
from review.selectors.records import record_history
from review.selectors.workers import WorkerSummary, worker_summary

HISTORY_LENGTH = 100
IDS_AT_ONCE = 500
ANOTHER_TYPE = "*"
"""No slug is written so: any type but the document's own."""


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field of a document: what was read, how sure the reading is, and what is accepted.

    `accepted` is the record's value where there is a record, with its `provenance`; `value` is the prediction.
    `rule_messages` are the words for findings such as "rule:rows_add_up", by language.
    """

    path: str
    labels: Mapping[str, str]
    value_type: str
    is_required: bool
    value: Any
    raw_text: str | None
    confidence: float | None
    evidence: Mapping[str, float]
    findings: tuple[str, ...]
    band: str
    reasons: tuple[str, ...]
    is_to_examine: bool
    page_number: int | None
    bbox: tuple[float, float, float, float] | None
    accepted: Any
    provenance: Mapping[str, Any] | None
    rule_messages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One act on a document: when, by whom, which (the audit's action name)."""

    at: datetime
    actor_label: str
    action: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A document with its pages, fields, current record and history (newest first).

    Of a duplicate, pages, fields, tasks and records are those of the document it repeats. `records` are all revisions,
    newest first, `record` the current one; `tasks` are the review tasks, oldest first, whatever became of them. `run`
    is None until it is opened, `decision` until it is routed. With `is_withheld` there are no records whatever people
    said: see `review.selectors.blindness`.
    """

    document: Document
    status: str
    pages: tuple[Page, ...]
    run: ExtractionRun | None
    decision: RoutingDecision | None
    fields: tuple[FieldView, ...]
    record: Record | None
    history: tuple[HistoryEntry, ...] = field(default=())
    tasks: tuple[ReviewTask, ...] = field(default=())
    records: tuple[Record, ...] = field(default=())
    is_withheld: bool = False

    @property
    def unusable_reason(self) -> str | None:
        """What the reviewer wrote who marked the document as unusable, None for any other document."""
        if self.document.reasons != ["unusable"]:
            return None
        return next((str(one.detail["reason"]) for one in self.history if one.action == "review_task.unusable"), None)


def documents_for(project: Project) -> QuerySet[Document]:
    """Return the documents of a project, newest first, with their types and uploader."""
    documents = Document.objects.filter(project=project)
    return documents.select_related("document_type", "suggested_type", "uploaded_by").order_by("-pk")


def filter_by_look(documents: QuerySet[Document], look: str) -> QuerySet[Document]:
    """Keep the documents that look like the type of this slug and are not of it; `ANOTHER_TYPE`: like any."""
    doubtful = documents.filter(suggested_type__isnull=False)
    return doubtful if look == ANOTHER_TYPE else doubtful.filter(suggested_type__slug=look)


def filter_by_status(documents: QuerySet[Document], status: str) -> QuerySet[Document]:
    """Keep the documents shown with this status; raise ValueError for a status that does not exist."""
    wanted = DocumentStatus(status)
    if wanted != DocumentStatus.WAITING and wanted not in UNFINISHED_STATUSES:
        return documents.filter(status=wanted)
    # All that is unfinished waits while there is no worker; while there is one, what no language model can be asked.
    workers = worker_summary()
    silent = Q(document_type__in=workers.silent_types)
    if wanted == DocumentStatus.WAITING:
        unfinished = documents.filter(status__in=UNFINISHED_STATUSES)
        return unfinished.filter(silent) if workers.is_alive else unfinished
    if not workers.is_alive:
        return documents.none()
    found = documents.filter(status=wanted)
    return found.exclude(silent) if workers.silent_types else found


def shown_status(document: Document, *, workers: WorkerSummary | None = None) -> str:
    """Return the status to show: of an unfinished document, what it waits for while nothing can go on with it.

    That is `workers.NO_WORKER` or `workers.NO_MODEL`. Who shows many documents passes `workers` (`worker_summary()`),
    or each unfinished one costs a query.
    """
    if document.status not in UNFINISHED_STATUSES:
        return document.status
    workers = worker_summary() if workers is None else workers
    return workers.standstill(document.document_type_id) or document.status


@dataclass(frozen=True, slots=True)
class Tally:
    """How a batch of documents ended: `stored` (band auto), `sampled`, `review`, `failed`, and what is unfinished."""

    n_pages: int
    stored: int
    sampled: int
    review: int
    failed: int
    unfinished: int


def unfinished_among(document_ids: Sequence[int]) -> set[int]:
    """Return those of the documents that are still to be read; ask for some hundreds at a time."""
    unfinished = Document.objects.filter(pk__in=document_ids, status__in=UNFINISHED_STATUSES)
    return set(unfinished.values_list("pk", flat=True))


def unreadable_among(document_ids: Sequence[int]) -> Iterator[Document]:
    """Yield those of the documents that cannot be read, with their reasons."""
    for start in range(0, len(document_ids), IDS_AT_ONCE):
        batch = Document.objects.filter(pk__in=document_ids[start : start + IDS_AT_ONCE])
        yield from batch.filter(status=DocumentStatus.UNREADABLE).order_by("pk")


def tally(document_ids: Sequence[int]) -> Tally:
    """Count how documents ended, by band."""
    counts: Counter[str] = Counter()
    for start in range(0, len(document_ids), IDS_AT_ONCE):
        batch = Document.objects.filter(pk__in=document_ids[start : start + IDS_AT_ONCE])
        for status, band, n_pages in batch.values_list("status", "band", "n_pages"):
            is_unfinished = status in UNFINISHED_STATUSES
            ending = "unfinished" if is_unfinished else "failed" if status == DocumentStatus.UNREADABLE else band
            counts.update({ending: 1, "n_pages": n_pages})
    return Tally(
        n_pages=counts["n_pages"],
        stored=counts["auto"],
        sampled=counts["sampled"],
        review=counts["review"],
        failed=counts["failed"],
        unfinished=counts["unfinished"],
    )


def copies_of(project: Project, sha256: str) -> QuerySet[Document]:
    """Return the documents of these bytes that were, or are to be, read: no duplicates, none that was unreadable."""
    originals = Document.objects.filter(project=project, sha256=sha256, duplicate_of=None)
    return originals.exclude(status=DocumentStatus.UNREADABLE)


def has_content(project: Project, sha256: str) -> bool:
    """Whether the project has a document with these bytes."""
    return Document.objects.filter(project=project, sha256=sha256).exists()


def document_detail(document: Document, viewer: User | None = None) -> DocumentDetail:
    """Return everything that a document's page shows to `viewer`, in a constant number of queries."""
    read_as = document.duplicate_of if document.duplicate_of is not None else document
    runs = ExtractionRun.objects.select_related("engine_version__base", "schema_version", "decision__policy")
    run = runs.filter(document=read_as, is_current=True).first()
    decision = getattr(run, "decision", None) if run is not None else None
    tasks = tuple(ReviewTask.objects.select_related("lease_holder").filter(document=read_as).order_by("pk"))
    # Only a second look that is still open keeps anything from anybody.
    is_asked_again = any(task.state == TaskState.OPEN and task.kind != TaskKind.REVIEW for task in tasks)
    withheld = is_asked_again and is_withheld(document, viewer)
    records = () if withheld else tuple(record_history(read_as))
    record = next((one for one in records if one.is_current), None)
    return DocumentDetail(
        document=document,
        status=shown_status(document),
        pages=tuple(Page.objects.filter(document=read_as)),
        run=run,
        decision=decision,
        fields=tuple(_fields(run, decision, record)) if run is not None else (),
        record=record,
        history=_history(document, tasks if read_as is document else ()),
        tasks=tasks,
        records=records,
        is_withheld=withheld,
    )


def _fields(run: ExtractionRun, decision: RoutingDecision | None, record: Record | None) -> list[FieldView]:
    spec = parse_document_type(run.schema_version.schema)
    decided = {made.field_path: made for made in FieldDecision.objects.filter(decision=decision)} if decision else {}
    predictions = FieldPrediction.objects.filter(run=run).order_by("pk")
    return [_field(spec, prediction, decided.get(prediction.field_path), record) for prediction in predictions]


def _field(
    spec: DocumentTypeSpec, prediction: FieldPrediction, decision: FieldDecision | None, record: Record | None
) -> FieldView:
    path = prediction.field_path
    known: FieldSpec | None = spec.spec_of(path)
    return FieldView(
        path=path,
        labels=known.labels if known is not None else {"en": path},
        value_type=str(known.value_type) if known is not None else "text",
        is_required=known is not None and known.is_required,
        value=prediction.value,
        raw_text=prediction.raw_text,
        confidence=prediction.confidence,
        evidence=prediction.evidence,
        findings=tuple(prediction.findings),
        band=decision.band if decision is not None else "",
        reasons=tuple(decision.reasons) if decision is not None else (),
        is_to_examine=decision is not None and decision.is_to_examine,
        page_number=prediction.page_number,
        bbox=tuple(prediction.bbox) if prediction.bbox else None,
        accepted=record.values.get(path) if record is not None else None,
        provenance=record.provenance.get(path) if record is not None else None,
        rule_messages=known.rule_messages if known is not None else {},
    )


def _history(document: Document, tasks: Sequence[ReviewTask]) -> tuple[HistoryEntry, ...]:
    """Return what was done to the document and in its review tasks, newest first."""
    ids = [str(task.pk) for task in tasks]
    about = Q(object_type="document", object_id=str(document.pk)) | Q(object_type="reviewtask", object_id__in=ids)
    entries = AuditEntry.objects.filter(about).order_by("-pk")[:HISTORY_LENGTH]
    return tuple(HistoryEntry(entry.created_at, entry.actor_label, entry.action, entry.detail) for entry in entries)
