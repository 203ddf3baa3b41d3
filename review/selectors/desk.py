"""All that the desk shows of one task, in one go: what `task_detail` has, with candidates and earlier saves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from review.models import CandidateSet, FieldEdit, ReviewTask
from review.selectors.review_tasks import TaskDetail, TaskField, task_detail

N_CANDIDATES = 5
N_VERSIONS = 20


@dataclass(frozen=True, slots=True)
class DeskField(TaskField):
    """A field with its best `candidates`, as `FieldReading.candidates_as_json` keeps them, and its saved `versions`."""

    candidates: tuple[Mapping[str, Any], ...] = ()
    versions: tuple[FieldEdit, ...] = ()


def desk_detail(task: ReviewTask) -> TaskDetail:
    """Return the task with `DeskField`s: each field's best candidates and what was saved of it, oldest first.

    Costs two queries more than `task_detail`, whatever the task holds.
    """
    detail = task_detail(task)
    payload = CandidateSet.objects.filter(run_id=task.run_id).values_list("payload", flat=True).first() or {}
    versions: dict[str, list[FieldEdit]] = {}
    for edit in FieldEdit.objects.select_related("author").filter(task=task).order_by("version"):
        versions.setdefault(edit.field_path, []).append(edit)
    return replace(
        detail,
        fields=tuple(
            DeskField(
                **{one.name: getattr(field, one.name) for one in fields(field)},
                candidates=best_candidates(payload.get(field.path, ())),
                versions=tuple(versions.get(field.path, ())[-N_VERSIONS:]),
            )
            for field in detail.fields
        ),
    )


def best_candidates(candidates: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return the best candidates, each value once: of several places that show it the best one."""
    best: dict[object, Mapping[str, Any]] = {}
    for candidate in sorted(candidates, key=lambda one: -float(one["score"])):
        # What is no value of the type is told apart by its text.
        best.setdefault(candidate["value"] if candidate["value"] is not None else (candidate["text"],), candidate)
    return tuple(best.values())[:N_CANDIDATES]
