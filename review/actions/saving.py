"""Keeping every keystroke: one field at a time, append-only, versioned."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._leases import change_held, lease_end, lease_lost, person, publish_task
from review.actions._verdicts import FieldVerdict, settle, withdraws
from review.exceptions import ConflictError, InvalidInputError
from review.models import FieldEdit, ReviewTask
from review.selectors.access import Actor
from review.selectors.review_tasks import TaskField, latest_edit, task_field


def save_field(
    *,
    actor: Actor,
    task: ReviewTask,
    lease_token: str,
    field_path: str,
    verdict: str | None,
    value: object,
    base_version: int,
) -> FieldEdit:
    """Save a verdict and a value on top of `base_version` (0 where nothing was saved yet) and renew the lease.

    The verdict that is kept may differ from the one sent where that contradicts the prediction: see
    `review.actions._verdicts.settle`. None takes a decision back: a version like any other, after which the field is
    undecided. A lapsed lease counts as long as nobody took the task over. Saving the same
    once more adds nothing and returns what stands.

    Raise InvalidInputError at `field_path`; ConflictError when another version stands (`details`: current, yours);
    LeaseLostError when the task was taken over or finished (`details`: holder, state, current, yours). `yours` is
    what was typed: it is never kept as an edit of somebody else's task, and never lost on the way back.
    """
    user = person(actor)
    answer = FieldVerdict(field_path, verdict, value)
    try:
        with transaction.atomic(durable=True):
            # Also the lock: saves of one task follow each other, on every database.
            if not change_held(task, user, lease_token, {"lease_expires_at": lease_end()}):
                raise lease_lost(task, _both(latest_edit(task, field_path), answer))
            field = task_field(task, field_path)
            if field is None:
                raise InvalidInputError.at(field_path, _("The document type has no such field."))
            kept = _kept(field, answer)
            if field.edit is not None and _is_repeated(field.edit, kept, user.pk, base_version):
                return field.edit
            if (field.edit.version if field.edit else 0) != base_version:
                raise ConflictError(details=_both(field.edit, answer))
            edit = FieldEdit.objects.create(
                task=task,
                field_path=field_path,
                version=base_version + 1,
                verdict=kept[0],
                value=kept[1],
                author=user,
            )
            detail = {"field_path": field_path, "version": edit.version}
            record_audit(actor, "review_task.saved", task, project=task.project_id, detail=detail)
            publish_task(task, "review_task.saved", holder=user)
            return edit
    except IntegrityError:
        raise ConflictError(details=_both(latest_edit(task, field_path), answer)) from None


def _kept(field: TaskField, answer: FieldVerdict) -> tuple[str, str | None]:
    """Return the verdict and the value to keep."""
    if withdraws(answer):
        return FieldEdit.WITHDRAWN, None
    settled = settle(field, answer)
    return settled.verdict.value, settled.value


def _is_repeated(edit: FieldEdit, kept: tuple[str, str | None], author_id: int, base_version: int) -> bool:
    """Whether the same person has already saved the same, on this version or as this version's successor."""
    return (
        edit.author_id == author_id
        and edit.version in {base_version, base_version + 1}
        and (edit.verdict, edit.value) == kept
    )


def _both(edit: FieldEdit | None, answer: FieldVerdict) -> dict[str, Any]:
    """Return what stands and what was typed, for the person to compare."""
    current: dict[str, Any] = {"version": 0, "verdict": None, "value": None, "author": "", "saved_at": None}
    if edit is not None:
        current = {
            "version": edit.version,
            "verdict": edit.verdict or None,
            "value": edit.value,
            "author": edit.author.get_username() if edit.author else "",
            "saved_at": edit.saved_at,
        }
    return {"current": current, "yours": {"verdict": answer.verdict, "value": answer.value}}
