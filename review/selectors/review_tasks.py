"""Work for people: the queue, and all that one task shows.

No query here grows with the number of waiting tasks, but for the count in `queue_summary`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone

from inference.types import DocumentTypeSpec, FieldSpec, GroupSpec
from review.models import (
    DocumentType,
    ExtractionRun,
    FieldDecision,
    FieldEdit,
    FieldPrediction,
    Page,
    Project,
    ReviewTask,
    RoutingDecision,
    TaskKind,
    TaskSkip,
    TaskState,
    User,
)
from review.selectors.schemas import field_spec_at, spec_of
from review.selectors.second_looks import (
    GivenAnswer,
    answers_to_adjudicate,
    hidden_from,
    may_be_given_to,
    n_hidden_from,
)


@dataclass(frozen=True, slots=True)
class TaskField:
    """One field of a task: what is asked (`spec`), what the reader claims, how that was routed, what a person saved.

    `path` is the full field path; `spec.path` is relative to the row for a cell of a group. In an adjudication
    `is_disputed` says whether two people differed on the field, and `answers` what they said; elsewhere it is None.
    Where two readers differ, `is_asked` says whether they do so on this field, which nobody is told; elsewhere None.
    """

    path: str
    spec: FieldSpec
    prediction: FieldPrediction | None
    decision: FieldDecision | None
    edit: FieldEdit | None
    is_disputed: bool | None = None
    answers: tuple[GivenAnswer, ...] = ()
    is_asked: bool | None = None

    @property
    def decided(self) -> FieldEdit | None:
        """What a person decided here; None where nobody did, or the decision was taken back."""
        return self.edit if self.edit is not None and self.edit.is_decision else None

    @property
    def is_to_examine(self) -> bool:
        """Whether the task cannot be submitted without a verdict on this field: all disputed ones, or as routed."""
        for is_needed in (self.is_disputed, self.is_asked):
            if is_needed is not None:
                return is_needed
        return self.decision is not None and self.decision.is_to_examine


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """All that one task shows: `fields` in the schema's order, rows of groups in theirs; `groups` take new rows."""

    task: ReviewTask
    run: ExtractionRun
    spec: DocumentTypeSpec
    decision: RoutingDecision | None
    fields: tuple[TaskField, ...]
    pages: tuple[Page, ...]

    @property
    def groups(self) -> tuple[GroupSpec, ...]:
        """The repeated groups, to which a person may add rows."""
        return self.spec.groups

    def field_at(self, field_path: str) -> TaskField | None:
        """Return a field of the task, an empty one for a cell that nobody filled yet, None outside the schema."""
        known = next((field for field in self.fields if field.path == field_path), None)
        spec = None if known else field_spec_at(self.spec, field_path)
        return TaskField(field_path, spec, None, None, None) if spec else known


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """How much work waits. An empty page can say why: `n_leased` by others, `n_skipped` by the reviewer who asks.

    `n_open` includes both. `oldest_age_seconds` is the age of the oldest open task; `next_free_in_seconds` how long
    until the first of the live leases ends. Both are None where there is no such task.
    """

    n_open: int
    n_leased: int
    n_skipped: int
    oldest_age_seconds: float | None
    next_free_in_seconds: float | None


def is_free(now: datetime) -> Q:
    """Return the condition on tasks that nobody holds at `now`: a lease ends by time alone, without a job."""
    return Q(lease_expires_at=None) | Q(lease_expires_at__lte=now)


def holder_at(task: ReviewTask, now: datetime) -> User | None:
    """Return who holds the task at this moment; a lease that has run out is nobody's."""
    is_live = task.lease_expires_at is not None and task.lease_expires_at > now
    return task.lease_holder if is_live else None


def tasks_for(
    project: Project,
    *,
    document_type: DocumentType | None = None,
    state: TaskState = TaskState.OPEN,
    reviewer: User | None = None,
) -> QuerySet[ReviewTask]:
    """Return the tasks of a project in one state, most important and then oldest first.

    With `reviewer` those are left out that this person is not told of.
    """
    tasks = ReviewTask.objects.select_related("document", "document_type", "lease_holder")
    if reviewer is not None:
        tasks = tasks.filter(~hidden_from(reviewer))
    tasks = tasks.filter(project=project, state=state).order_by("-priority", "id")
    return tasks.filter(document_type=document_type) if document_type is not None else tasks


def waiting_tasks(
    project: Project, reviewer: User, *, document_type: DocumentType | None = None, now: datetime | None = None
) -> QuerySet[ReviewTask]:
    """Return what `reviewer` may be given next, best first: open, free, kept for nobody else, not skipped.

    Nor is a second look given to anybody who worked on the document before.

    Read in index order, so that the first rows cost the same with 1,000 and with 100,000 waiting.
    """
    tasks = ReviewTask.objects.filter(is_free(now or timezone.now()), project=project, state=TaskState.OPEN)
    if document_type is not None:
        tasks = tasks.filter(document_type=document_type)
    skips = TaskSkip.objects.filter(task=OuterRef("pk"), reviewer=reviewer)
    is_for_me = Q(assignee=None) | Q(assignee=reviewer)
    return tasks.filter(is_for_me, may_be_given_to(reviewer), ~Exists(skips)).order_by("-priority", "id")


def tasks_held_by(project: Project, holder: User, *, document_type: DocumentType | None = None) -> QuerySet[ReviewTask]:
    """Return the open tasks that `holder` took and nobody took over since, lapsed or not, latest lease first."""
    tasks = ReviewTask.objects.filter(project=project, lease_holder=holder, state=TaskState.OPEN)
    if document_type is not None:
        tasks = tasks.filter(document_type=document_type)
    return tasks.order_by("-lease_expires_at", "id")


def queue_summary(
    project: Project, *, document_type: DocumentType | None = None, reviewer: User | None = None
) -> QueueSummary:
    """Return the queue of a project, or of one type, as `reviewer` finds it: without what is hidden from them."""
    now = timezone.now()
    tasks = ReviewTask.objects.filter(project=project, state=TaskState.OPEN)
    if document_type is not None:
        tasks = tasks.filter(document_type=document_type)
    # Ids grow with time, so the smallest is the oldest: both figures come from one walk along the queue's index.
    totals = tasks.aggregate(n_open=Count("id"), oldest=Min("id"))
    # A lower bound, not "is not null": only a range lets both databases seek in the index of held tasks.
    live = tasks.filter(lease_holder__gt=0, lease_expires_at__gt=now)
    leases = live.aggregate(n_leased=Count("id"), next_end=Min("lease_expires_at"))
    oldest = ReviewTask.objects.filter(pk=totals["oldest"]).values_list("created_at", flat=True).first()
    skipped = TaskSkip.objects.filter(reviewer=reviewer, task__project=project, task__state=TaskState.OPEN)
    if document_type is not None:
        skipped = skipped.filter(task__document_type=document_type)
    n_hidden = n_hidden_from(project, reviewer, document_type) if reviewer is not None else 0
    n_open = totals["n_open"] - n_hidden
    return QueueSummary(
        n_open=n_open,
        n_leased=min(leases["n_leased"], n_open),
        n_skipped=skipped.count() if reviewer is not None else 0,
        oldest_age_seconds=(now - oldest).total_seconds() if oldest is not None and n_open else None,
        next_free_in_seconds=(leases["next_end"] - now).total_seconds() if leases["next_end"] is not None else None,
    )


def n_waiting_for(reviewer: User) -> Combinable:
    """Return, for a query of rows with a `project`, how many of its open tasks `reviewer` may be given, held or not.

    Left out are second looks that the person is not told of, and what a manager kept for somebody else. Three index
    walks a row.
    """
    is_others = Q(assignee__gt=0) & ~Q(assignee=reviewer)
    open_tasks = ReviewTask.objects.filter(project=OuterRef("project"), state=TaskState.OPEN)
    looks = open_tasks.filter(~Q(kind=TaskKind.REVIEW)).filter(hidden_from(reviewer) | is_others)
    parts = (open_tasks, looks, open_tasks.filter(is_others, kind=TaskKind.REVIEW))
    n_open, n_hidden, n_kept = (_count_of(part) for part in parts)
    return n_open - n_hidden - n_kept


def _count_of(tasks: QuerySet[ReviewTask]) -> Coalesce:
    """Return the number of tasks of the outer project."""
    return Coalesce(Subquery(tasks.order_by().values("project").annotate(n=Count("pk")).values("n")), 0)


def current_edits(task: ReviewTask) -> dict[str, FieldEdit]:
    """Return the highest version of each field that was saved in the task."""
    edits = FieldEdit.objects.select_related("author").filter(task=task).order_by("version")
    return {edit.field_path: edit for edit in edits}


def latest_edit(task: ReviewTask, field_path: str) -> FieldEdit | None:
    """Return the highest version of one field that was saved in the task."""
    edits = FieldEdit.objects.select_related("author").filter(task=task, field_path=field_path)
    return edits.order_by("-version").first()


def task_field(task: ReviewTask, field_path: str) -> TaskField | None:
    """Return one field of a task, an empty one for a cell that nobody filled yet, None outside the schema.

    Its `decision` is not read: for that and for all fields at once there is `task_detail`.
    """
    run = ExtractionRun.objects.select_related("schema_version").get(pk=task.run_id)
    spec = field_spec_at(spec_of(run.schema_version), field_path)
    if spec is None:
        return None
    prediction = FieldPrediction.objects.filter(run=run, field_path=field_path).first()
    return TaskField(field_path, spec, prediction, None, latest_edit(task, field_path))


def task_detail(task: ReviewTask) -> TaskDetail:
    """Return all that a task shows, in a number of queries that depends on nothing."""
    run = ExtractionRun.objects.select_related("schema_version", "engine_version").get(pk=task.run_id)
    decision = RoutingDecision.objects.select_related("policy").filter(run=run).first()
    predictions = {one.field_path: one for one in FieldPrediction.objects.filter(run=run).order_by("id")}
    decisions = {one.field_path: one for one in FieldDecision.objects.filter(decision__run=run)}
    edits = current_edits(task)
    answers = answers_to_adjudicate(task)
    spec = spec_of(run.schema_version)
    fields = [
        TaskField(
            path,
            field_spec,
            predictions.get(path),
            decisions.get(path),
            edits.get(path),
            is_disputed=path in answers if task.kind == TaskKind.ADJUDICATION else None,
            answers=answers.get(path, ()),
            is_asked=path in task.disputed_paths if task.kind == TaskKind.DISAGREEMENT else None,
        )
        for path in _paths_in_order(
            spec, {**predictions, **decisions, **edits, **answers, **dict.fromkeys(task.disputed_paths)}
        )
        if (field_spec := field_spec_at(spec, path)) is not None
    ]
    return TaskDetail(
        task=task,
        run=run,
        spec=spec,
        decision=decision,
        fields=tuple(fields),
        pages=tuple(Page.objects.filter(document_id=task.document_id).order_by("page_number")),
    )


def _paths_in_order(spec: DocumentTypeSpec, known: Mapping[str, object]) -> list[str]:
    """Return every single field of the schema, then the known cells of each group, row by row."""
    paths = [field.path for field in spec.fields]
    for group in spec.groups:
        position = {column.path: number for number, column in enumerate(group.columns)}
        cells = []
        for path in known:
            row, slash, column = path.removeprefix(f"{group.path}/").partition("/")
            if path.startswith(f"{group.path}/") and row.isdecimal() and slash + column in position:
                cells.append((int(row), position[slash + column], path))
        paths += [path for _, _, path in sorted(cells)]
    return paths
