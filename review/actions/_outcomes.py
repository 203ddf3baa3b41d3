"""What follows from a submitted task: the labels, and the values of the record with where each came from."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._verdicts import FieldVerdict, Settled, settle, withdraws
from review.exceptions import InvalidInputError
from review.models import Document, FieldReview, Record, TaskKind, User, Verdict
from review.routing.bands import Band
from review.selectors.review_tasks import TaskDetail, TaskField


@dataclass(frozen=True, slots=True)
class Outcome:
    """A task that `reviewer` finished: `examined` holds each field that a person looked at, with the verdict."""

    detail: TaskDetail
    document: Document
    reviewer: User
    examined: Mapping[str, tuple[TaskField, Settled]]

    @property
    def is_adjudicated(self) -> bool:
        """Whether the verdicts decide between two people."""
        return self.detail.task.kind == TaskKind.ADJUDICATION

    @property
    def counted(self) -> set[str]:
        """The paths of the examined fields from which accuracy is estimated: those that the router asked for.

        Where two readers differ errors are likelier than elsewhere: what was asked for that is no part of a sample.
        """
        if self.detail.task.kind == TaskKind.DISAGREEMENT:
            return set()
        return {path for path, (field, _) in self.examined.items() if field.is_to_examine}


def examined_fields(detail: TaskDetail, verdicts: Sequence[FieldVerdict]) -> dict[str, tuple[TaskField, Settled]]:
    """Return the decided fields with `verdicts` laid over them, by field path; a withdrawn one is left out.

    Raise InvalidInputError with every problem, each at its field path: unknown fields, a field given twice, verdicts
    that say nothing, and the fields that must be examined and were not.
    """
    examined = {
        field.path: (field, Settled(Verdict(saved.verdict), saved.value))
        for field in detail.fields
        if (saved := field.decided) is not None
    }
    problems: list[dict[str, Any]] = []
    given: set[str] = set()
    for answer in verdicts:
        try:
            field = _field_once(detail, answer, given)
            if withdraws(answer):
                examined.pop(field.path, None)
            else:
                examined[field.path] = (field, settle(field, answer))
        except InvalidInputError as error:
            problems += error.details["problems"]
        given.add(answer.field_path)
    refused = {problem["pointer"] for problem in problems}
    problems += [
        {"pointer": field.path, "message": _("This field has no verdict yet.")}
        for field in detail.fields
        if field.is_to_examine and field.path not in examined and field.path not in refused
    ]
    if problems:
        raise InvalidInputError(details={"problems": problems})
    return examined


def _field_once(detail: TaskDetail, answer: FieldVerdict, given: set[str]) -> TaskField:
    if answer.field_path in given:
        raise InvalidInputError.at(answer.field_path, _("This field is given twice."))
    field = detail.field_at(answer.field_path)
    if field is None:
        raise InvalidInputError.at(answer.field_path, _("The document type has no such field."))
    return field


def field_reviews(outcome: Outcome, counted: Collection[str]) -> Iterator[FieldReview]:
    """Yield one label for each examined field, unsaved; a field nobody looked at gets none.

    `counted` are the paths of those that are part of the sample from which accuracy is estimated.
    """
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
            is_in_sample=path in counted,
            inclusion_probability=field.decision.inclusion_probability if field.decision else 1.0,
            project_id=task.project_id,
            document_type_id=task.document_type_id,
            engine_version_id=run.engine_version_id,
            confidence=field.prediction.confidence if field.prediction else None,
            band=field.decision.band if field.decision else fallback,
        )


def record_content(outcome: Outcome, *, is_blind: bool = False) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return values and provenance by field path: the model's, over them what people said before, and now.

    `is_blind` leaves out what people said before.
    """
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
    for path, value, source in () if is_blind else _said_before(outcome.document):
        values[path], provenance[path] = value, source
    for path, (_field, settled) in outcome.examined.items():
        values[path] = settled.value
        provenance[path] = {
            "source": "person",
            "reviewer": outcome.reviewer.get_username(),
            "verdict": settled.verdict.value,
            "task": detail.task.pk,
        }
        if outcome.is_adjudicated:
            provenance[path]["adjudicated"] = True
    return values, provenance


def blind_record(outcome: Outcome) -> Record:
    """Return, unsaved, the record as the reviewer of a second or seeded task would have made it.

    It is what the reviewer is answered: the record that counts would show another one's answers.
    """
    values, provenance = record_content(outcome, is_blind=True)
    standing = Record.objects.filter(document=outcome.document, is_current=True).only("pk", "revision").first()
    return Record(
        pk=standing.pk if standing is not None else None,
        project_id=outcome.document.project_id,
        document=outcome.document,
        revision=standing.revision if standing is not None else 1,
        run=outcome.detail.run,
        reviewer=outcome.reviewer,
        values=values,
        provenance=provenance,
        created_at=outcome.detail.task.finished_at or timezone.now(),
    )


def _said_before(document: Document) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what people settled in an earlier task; no later reading of the document touches it."""
    record = Record.objects.filter(document=document, is_current=True).first()
    if record is not None:
        for path, source in record.provenance.items():
            if source.get("source") == "person":
                yield path, record.values.get(path), source
