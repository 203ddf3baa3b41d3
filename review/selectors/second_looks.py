"""Second reviews, adjudications and seeded tasks: who may be given them, and what is known of a task's answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from review.models import (
    Document,
    DocumentStatus,
    DocumentType,
    FieldEdit,
    FieldReview,
    GroundTruth,
    Membership,
    Project,
    RegressionItem,
    ReviewTask,
    Role,
    TaskKind,
    TaskState,
    User,
    Verdict,
)
from review.routing.sampling import Purpose, draw

BLIND_KINDS = (TaskKind.SECOND_REVIEW, TaskKind.SEEDED)
"""The kinds that look like a plain review to whoever works on them, and change nothing but what is known."""

N_SEEDS = 200
_REVIEWING = [role for role in Role if role.includes(Role.REVIEWER)]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One of two answers that differ, without a name: `label` is "one" or "other", in an order drawn by hash."""

    label: str
    verdict: Verdict
    value: Any


def may_be_given_to(reviewer: User) -> Q:
    """Return the condition on tasks that `reviewer` may be given: reviews, and second looks at others' work only.

    Whoever finished another task of the document, or saved a field in one, has seen it before.
    """
    return Q(kind=TaskKind.REVIEW) | Q(~Exists(_taken_part(reviewer).filter(document=OuterRef("document"))))


def _taken_part(reviewer: User) -> Any:  # noqa: ANN401 - a queryset with a reference to an outer one
    saved = FieldEdit.objects.filter(task=OuterRef("pk"), author=reviewer)
    others = ReviewTask.objects.filter(~Q(pk=OuterRef("pk")))
    return others.filter(Q(finished_by=reviewer) | Exists(saved))


def has_seen_before(task: ReviewTask, reviewer: User) -> bool:
    """Whether a task is a second look at a document that `reviewer` worked on in another task."""
    if task.kind == TaskKind.REVIEW:
        return False
    return not ReviewTask.objects.filter(may_be_given_to(reviewer), pk=task.pk).exists()


def hidden_from(reviewer: User) -> Q:
    """Return the condition on tasks that `reviewer` is not told of: second looks at their own work, others' seeds."""
    seeded_for_others = Q(kind=TaskKind.SEEDED, assignee__isnull=False) & ~Q(assignee=reviewer)
    return ~may_be_given_to(reviewer) | seeded_for_others


def is_hidden_from(task: ReviewTask, reviewer: User) -> bool:
    """Whether `reviewer` is not told of this task."""
    return task.kind != TaskKind.REVIEW and ReviewTask.objects.filter(hidden_from(reviewer), pk=task.pk).exists()


def n_hidden_from(project: Project, reviewer: User, document_type: DocumentType | None = None) -> int:
    """Return how many open tasks `reviewer` is not told of."""
    looks = ReviewTask.objects.filter(~Q(kind=TaskKind.REVIEW), project=project, state=TaskState.OPEN)
    if document_type is not None:
        looks = looks.filter(document_type=document_type)
    return looks.filter(hidden_from(reviewer)).count()


def has_other_reviewer(project: Project, first: User) -> bool:
    """Whether anybody but `first` may review in the project."""
    members = Membership.objects.filter(project=project, role__in=_REVIEWING, user__is_active=True)
    return members.exclude(user=first).exists()


def shown_kind(task: ReviewTask, *, viewer: User | None, is_manager: bool) -> TaskKind:
    """Return the kind that `viewer` may be told: the true one to managers, once nobody is blinded by it any more.

    An adjudication says what it is, since it shows two answers. The others look like a review to reviewers, and to
    managers as long as they might be given the task or work on it themselves.
    """
    if task.kind == TaskKind.ADJUDICATION:
        return TaskKind.ADJUDICATION
    is_held_by_other = task.lease_holder_id is not None and (viewer is None or task.lease_holder_id != viewer.pk)
    if is_manager and (task.state != TaskState.OPEN or is_held_by_other):
        return TaskKind(task.kind)
    return TaskKind.REVIEW


def labels_of(task_id: int) -> dict[str, FieldReview]:
    """Return the verdicts that were submitted with a task, by field path."""
    return {label.field_path: label for label in FieldReview.objects.filter(task_id=task_id).order_by("id")}


def second_review_of(first_task_id: int) -> ReviewTask | None:
    """Return the second review of a first task, if it got one."""
    return ReviewTask.objects.filter(first_task_id=first_task_id, kind=TaskKind.SECOND_REVIEW).first()


def answers_to_adjudicate(task: ReviewTask) -> dict[str, tuple[GivenAnswer, ...]]:
    """Return both answers of each disputed field of an adjudication; nothing for a task of another kind.

    Which of the two comes first is drawn anew for each field, so that neither place nor label stands for a person.
    """
    if task.kind != TaskKind.ADJUDICATION or task.first_task_id is None:
        return {}
    second_task = second_review_of(task.first_task_id)
    first = labels_of(task.first_task_id)
    second = labels_of(second_task.pk) if second_task is not None else {}
    standing = standing_values(task)
    answers = {}
    for path in task.disputed_paths:
        pair = [
            _given(first.get(path), Verdict.CONFIRMED, standing.get(path)),
            # Who marked the document unusable could read nothing on it.
            _given(second.get(path), Verdict.ILLEGIBLE, None),
        ]
        if draw(str(task.pk), path, "", Purpose.ADJUDICATION_ORDER) < 0.5:
            pair.reverse()
        answers[path] = tuple(GivenAnswer(label, *answer) for label, answer in zip(("one", "other"), pair, strict=True))
    return answers


def standing_values(task: ReviewTask) -> dict[str, Any]:
    """Return the values of the record that counts for the task's document, by field path; empty without a record."""
    values = task.document.records.filter(is_current=True).values_list("values", flat=True).first()
    return dict(values or {})


def _given(label: FieldReview | None, verdict: Verdict, value: object) -> tuple[Verdict, Any]:
    return (Verdict(label.verdict), label.value) if label is not None else (verdict, value)


def known_values(document: Document) -> dict[str, Any]:
    """Return what is known of a document, by field path: as labelled in a regression set, over it what is agreed."""
    labelled = _items_of(document.project_id, document.document_type_id).filter(sha256=document.sha256)
    known: dict[str, Any] = dict(labelled.order_by("-id").values_list("truth", flat=True).first() or {})
    agreed = GroundTruth.objects.filter(document=document)
    return known | dict(agreed.values_list("field_path", "value"))


def seeds_for(reviewer: User, task: ReviewTask) -> Sequence[ReviewTask]:
    """Return first reviews whose values are known and whose document `reviewer` never worked on; newest first.

    Of the type of `task`, in whose place one of them would be given. Known are the values that two people agreed on
    or a third decided, and those of files that a regression set has labels of; the newest N_SEEDS of either are
    looked at.
    """
    done = ReviewTask.objects.filter(
        project_id=task.project_id, document_type_id=task.document_type_id, state=TaskState.DONE
    )
    agreed = _usable(done.filter(kind=TaskKind.SECOND_REVIEW), reviewer).select_related("first_task")
    agreed = agreed.filter(Exists(GroundTruth.objects.filter(document=OuterRef("document"))))
    items = _items_of(task.project_id, task.document_type_id)
    labelled = done.filter(kind=TaskKind.REVIEW, document__sha256__in=items.values("sha256"))
    seeds = {look.document_id: look.first_task for look in agreed if look.first_task is not None}
    seeds |= {review.document_id: review for review in _usable(labelled, reviewer)}
    return sorted(seeds.values(), key=lambda seed: -seed.pk)


def _items_of(project_id: int, document_type_id: int) -> QuerySet[RegressionItem]:
    """Return the labelled files of a type."""
    sets = {"regression_set__project_id": project_id, "regression_set__document_type_id": document_type_id}
    return RegressionItem.objects.filter(**sets)


def _usable(tasks: QuerySet[ReviewTask], reviewer: User) -> QuerySet[ReviewTask]:
    """Narrow the newest tasks to stored documents with which nobody is busy and `reviewer` never was."""
    busy = ReviewTask.objects.filter(document=OuterRef("document"), state=TaskState.OPEN)
    saved = FieldEdit.objects.filter(task__document=OuterRef("document"), author=reviewer)
    finished = ReviewTask.objects.filter(document=OuterRef("document"), finished_by=reviewer)
    newest = list(tasks.order_by("-id").values_list("pk", flat=True)[:N_SEEDS])
    usable = ReviewTask.objects.filter(~Exists(busy), ~Exists(saved), ~Exists(finished), pk__in=newest)
    return usable.filter(document__status=DocumentStatus.STORED)


def was_preceded(task_id: int, reviewer: User) -> bool:
    """Whether `reviewer` was given a seeded task in the place of this one before."""
    return ReviewTask.objects.filter(before_task_id=task_id, kind=TaskKind.SEEDED, assignee=reviewer).exists()
