"""What follows from a look beyond the first: the second review, the adjudication, the seeded task.

The record that the first submit made stands until an adjudication is submitted. Everything here runs within the
transaction of the submit that it follows from.
"""

from collections.abc import Iterable, Mapping

from django.conf import settings

from review.accuracy.agreement import Answer, agree, disputed_fields, is_right
from review.actions._answers import answers_in, shown_value
from review.actions._leases import publish_task
from review.models import (
    CheckSource,
    FieldReview,
    GroundTruth,
    Project,
    ReviewerCheck,
    ReviewTask,
    TaskKind,
    TruthOrigin,
    User,
)
from review.routing.sampling import Purpose, draw
from review.selectors.review_tasks import TaskDetail
from review.selectors.second_looks import has_other_reviewer, known_values, labels_of, second_review_of, standing_values


def draw_second_review(detail: TaskDetail, reviewer: User) -> None:
    """Have a submitted review looked at a second time, if its hash says so and there is anybody else who may.

    The hash is of the document, the run and the installation's secret: no reviewer can work it out beforehand.
    """
    task = detail.task
    share = Project.objects.values_list("second_review_share", flat=True).get(pk=task.project_id)
    drawn = draw(str(task.document_id), str(task.run_id), settings.SECRET_KEY, Purpose.SECOND_REVIEW)
    has_questions = any(field.is_to_examine for field in detail.fields)
    if drawn < share and has_questions and has_other_reviewer(task.project, reviewer):
        _follow_up(task, TaskKind.SECOND_REVIEW, inclusion_probability=share)


def _follow_up(first: ReviewTask, kind: TaskKind, **values: object) -> ReviewTask:
    task = ReviewTask.objects.create(
        project_id=first.project_id,
        document_type_id=first.document_type_id,
        document_id=first.document_id,
        run_id=first.run_id,
        priority=first.priority,
        kind=kind,
        first_task=first,
        **values,
    )
    publish_task(task, "review_task.created")
    return task


def compare_second_review(detail: TaskDetail, reviewer: User, second: Mapping[str, Answer]) -> None:
    """Hold the answers of a second review against the first ones: what is agreed is true, the rest is adjudicated.

    A field that only the second one looked at, and found other than it stands in the record, is adjudicated as well;
    but it is no check of the first one, who was not asked.
    """
    task = detail.task
    assert task.first_task is not None  # noqa: S101 - a constraint of the table
    labels = labels_of(task.first_task.pk)
    first = answers_in(detail, labels)
    disputed = disputed_fields(first, second)
    unasked = {path: answer for path, answer in second.items() if path not in first}
    unasked_disputed = disputed_fields(_standing(detail, unasked), unasked)
    common = [path for path in first if path in second]
    for who, checked in ((task.first_task.finished_by, task.first_task), (reviewer, task)):
        ReviewerCheck.objects.bulk_create(
            ReviewerCheck(
                project_id=task.project_id,
                document_type_id=task.document_type_id,
                task=checked,
                field_path=path,
                reviewer=who,
                source=CheckSource.SECOND_REVIEW,
                is_agreed=path not in disputed,
                # Of a document with a dispute nothing counts before it is settled: else its agreed part would
                # count at once and its disputed part late, and reviewers would look better than they are.
                is_right=True if not disputed and first[path].is_legible else None,
                inclusion_probability=task.inclusion_probability or 1.0,
            )
            for path in common
        )
    agreed = [path for path in common if path not in disputed and first[path].is_legible]
    _keep_truth(task, {path: labels[path].value for path in agreed}, TruthOrigin.AGREED)
    if disputed or unasked_disputed:
        paths = [*disputed, *unasked_disputed]
        _follow_up(task.first_task, TaskKind.ADJUDICATION, disputed_paths=paths)


def _standing(detail: TaskDetail, paths: Iterable[str]) -> dict[str, Answer]:
    values = standing_values(detail.task)
    found = ((path, detail.field_at(path)) for path in paths)
    return {path: shown_value(values.get(path), field.spec) for path, field in found if field}


def settle_dispute(detail: TaskDetail, decided: Mapping[str, Answer], labels: Iterable[FieldReview]) -> None:
    """Judge both reviewers by what an adjudication decided, and keep that as true.

    The adjudicator's word counts on every field that it was given on, the rest of what they agreed on was right. A
    field that the adjudicator could not read either judges nobody.
    """
    task = detail.task
    first_id = task.first_task_id or 0
    second_task = second_review_of(first_id)
    tasks = [first_id] + ([second_task.pk] if second_task is not None else [])
    given = {pk: answers_in(detail, labels_of(pk)) for pk in tasks}
    checks = list(ReviewerCheck.objects.filter(task_id__in=tasks))
    for check in checks:
        answer = given[check.task_id].get(check.field_path, Answer(is_legible=False))
        if check.field_path in decided:
            check.is_right = is_right(answer, decided[check.field_path])
        else:
            check.is_right = True if answer.is_legible else None
    ReviewerCheck.objects.bulk_update(checks, ["is_right"])
    values = {label.field_path: label.value for label in labels if decided[label.field_path].is_legible}
    _keep_truth(task, values, TruthOrigin.ADJUDICATED)


def check_seeded(detail: TaskDetail, reviewer: User, answers: Mapping[str, Answer]) -> None:
    """Hold a reviewer's answers on a seeded task against the known values."""
    known = known_values(detail.task.document)
    ReviewerCheck.objects.bulk_create(
        ReviewerCheck(
            project_id=detail.task.project_id,
            document_type_id=detail.task.document_type_id,
            task=detail.task,
            field_path=field.path,
            reviewer=reviewer,
            source=CheckSource.SEEDED,
            is_right=agree(answers[field.path], shown_value(known[field.path], field.spec)),
            inclusion_probability=1.0,
        )
        for field in detail.fields
        if field.is_to_examine and field.path in known and field.path in answers
    )


def _keep_truth(task: ReviewTask, values: Mapping[str, object], origin: TruthOrigin) -> None:
    GroundTruth.objects.filter(document_id=task.document_id, field_path__in=list(values)).delete()
    GroundTruth.objects.bulk_create(
        GroundTruth(
            project_id=task.project_id,
            document_id=task.document_id,
            field_path=path,
            value=value,
            origin=origin,
            task=task,
        )
        for path, value in values.items()
    )
