"""Answers of people as they are compared: by the type of the field, as `manage.py evaluate` compares values."""

from collections.abc import Iterable, Mapping

from inference.fields.normalise.comparison import comparable
from inference.types import FieldSpec
from review.accuracy.agreement import ILLEGIBLE, Answer
from review.models import FieldReview, Verdict
from review.selectors.review_tasks import TaskDetail


def answer_of(verdict: str, value: object, spec: FieldSpec) -> Answer:
    """Return a verdict as an answer to the question what the page shows."""
    return ILLEGIBLE if verdict == Verdict.ILLEGIBLE else shown_value(value, spec)


def shown_value(value: object, spec: FieldSpec) -> Answer:
    """Return the answer that the page shows `value`, None for nothing."""
    return Answer(None if value is None else comparable(str(value), spec.value_type, spec.locale))


def answers_in(detail: TaskDetail, labels: Mapping[str, FieldReview]) -> dict[str, Answer]:
    """Return the submitted verdicts of a task, given as labels, as answers by field path."""
    found = ((path, label, detail.field_at(path)) for path, label in labels.items())
    return {path: answer_of(label.verdict, label.value, field.spec) for path, label, field in found if field}


def all_illegible(field_paths: Iterable[str]) -> dict[str, Answer]:
    """Return the answers of somebody who marked the document unusable."""
    return dict.fromkeys(field_paths, ILLEGIBLE)
