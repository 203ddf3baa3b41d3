"""What follows from a submitted task: the labels, and the values of the record with where each came from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from review.actions._verdicts import FieldVerdict, Settled, settle
from review.exceptions import InvalidInputError
from review.models import Document, FieldReview, Record, User, Verdict
from review.routing.bands import Band
from review.selectors.review_tasks import TaskDetail, TaskField


@dataclass(frozen=True, slots=True)
class Outcome:
    """A task that `reviewer` finished: `examined` holds each field that a person looked at, with the verdict."""

    detail: TaskDetail
    document: Document
    reviewer: User
    examined: Mapping[str, tuple[TaskField, Settled]]


def examined_fields(detail: TaskDetail, verdicts: Sequence[FieldVerdict]) -> dict[str, tuple[TaskField, Settled]]:
    """Return the saved fields with `verdicts` laid over them, by field path.

    Raise InvalidInputError with every problem, each at its field path: unknown fields, a field given twice, verdicts
    that say nothing, and the fields that must be examined and were not.
    """
    examined = {
        field.path: (field, Settled(Verdict(field.edit.verdict), field.edit.value))
        for field in detail.fields
        if field.edit is not None
    }
    problems: list[dict[str, Any]] = []
    given: set[str] = set()
    for answer in verdicts:
        try:
            examined[answer.field_path] = _answered(detail, answer, given)
        except InvalidInputError as error:
            problems += error.details["problems"]
        given.add(answer.field_path)
    problems += [
        {"pointer": field.path, "message": _("This field has no verdict yet.")}
        for field in detail.fields
        if field.is_to_examine and field.path not in examined and field.path not in given
    ]
    if problems:
        raise InvalidInputError(details={"problems": problems})
    return examined


def _answered(detail: TaskDetail, answer: FieldVerdict, given: set[str]) -> tuple[TaskField, Settled]:
    if answer.field_path in given:
        raise InvalidInputError.at(answer.field_path, _("This field is given twice."))
    field = detail.field_at(answer.field_path)
    if field is None:
        raise InvalidInputError.at(answer.field_path, _("The document type has no such field."))
    return field, settle(field, answer)


def field_reviews(outcome: Outcome) -> Iterator[FieldReview]:
    """Yield one label for each examined field, unsaved; a field nobody looked at gets none."""
    task, run = outcome.detail.task, outcome.detail.run
    fallback = outcome.detail.decision.band if outcome.detail.decision else outcome.document.band or Band.REVIEW
    for path, (field, settled) in outcome.examined.items():
        yield FieldReview(
            task=task,
            document=outcome.document,
            field_path=path,
            verdict=settled.verdict,
            value=settled.value,
            predicted_value=field.prediction.value if field.prediction else None,
            reviewer=outcome.reviewer,
            is_correct=settled.is_correct,
            is_in_sample=field.is_to_examine,
            inclusion_probability=field.decision.inclusion_probability if field.decision else 1.0,
            project_id=task.project_id,
            document_type_id=task.document_type_id,
            engine_version_id=run.engine_version_id,
            confidence=field.prediction.confidence if field.prediction else None,
            band=field.decision.band if field.decision else fallback,
        )


def record_content(outcome: Outcome) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return values and provenance by field path: the model's, over them what people said before, and now."""
    detail = outcome.detail
    values: dict[str, Any] = {}
    provenance: dict[str, dict[str, Any]] = {}
    for field in detail.fields:
        if field.prediction is not None:
            values[field.path] = field.prediction.value
            provenance[field.path] = {
                "source": "model",
                "engine_version": detail.run.engine_version.digest,
                "policy": detail.decision.policy.number if detail.decision else None,
                "confidence": field.prediction.confidence,
                "band": field.decision.band if field.decision else None,
            }
    for path, value, source in _said_before(outcome.document):
        values[path], provenance[path] = value, source
    for path, (_field, settled) in outcome.examined.items():
        values[path] = settled.value
        provenance[path] = {
            "source": "person",
            "reviewer": outcome.reviewer.get_username(),
            "verdict": settled.verdict.value,
            "task": detail.task.pk,
        }
    return values, provenance


def _said_before(document: Document) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what people settled in an earlier task; no later reading of the document touches it."""
    record = Record.objects.filter(document=document, is_current=True).first()
    if record is not None:
        for path, source in record.provenance.items():
            if source.get("source") == "person":
                yield path, record.values.get(path), source
