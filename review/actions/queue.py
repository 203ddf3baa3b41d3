"""What a manager does with waiting work, many tasks at a time: give back, put first, give to somebody."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._leases import FREE, publish_task
from review.exceptions import InvalidInputError
from review.live.events import TaskEventName
from review.models import Project, ReviewTask, TaskState, User
from review.selectors.access import Actor
from review.selectors.queue import reviewers_of, tasks_to_change

PRIORITIES = range(-100, 101)


def release_tasks(*, actor: Actor, project: Project, task_ids: Sequence[int]) -> int:
    """Take the tasks from whoever holds them or was given them; return how many are free that were not.

    A holder's next save is answered with LeaseLostError and comes back with what was typed.
    """
    return _change(
        actor,
        project,
        task_ids,
        "review_task.released",
        lambda task: {**FREE, "assignee": None} if task.lease_token or task.assignee_id else {},
    )


def prioritise_tasks(*, actor: Actor, project: Project, task_ids: Sequence[int], priority: int) -> int:
    """Set the tasks' priority (-100 to 100, higher first); return how many changed. Raise InvalidInputError.

    Who holds a task keeps it.
    """
    if priority not in PRIORITIES:
        raise InvalidInputError.at("/priority", _("Give a whole number from -100 to 100; higher comes first."))
    return _change(
        actor,
        project,
        task_ids,
        "review_task.prioritised",
        lambda task: {"priority": priority} if task.priority != priority else {},
    )


def assign_tasks(*, actor: Actor, project: Project, task_ids: Sequence[int], reviewer: User) -> int:
    """Keep the tasks for one reviewer; whoever else holds one loses it. Return how many changed.

    Raise InvalidInputError when `reviewer` may not review in the project.
    """
    if reviewer.pk not in {member.user_id for member in reviewers_of(project)}:
        raise InvalidInputError.at("/reviewer", _("Choose a member of this project who may review."))

    def change(task: ReviewTask) -> Mapping[str, Any]:
        if task.assignee_id == reviewer.pk:
            return {}
        keeps = task.lease_holder_id == reviewer.pk
        return {"assignee": reviewer} if keeps else {**FREE, "assignee": reviewer}

    return _change(actor, project, task_ids, "review_task.assigned", change, detail={"reviewer": reviewer.pk})


def _change(
    actor: Actor,
    project: Project,
    task_ids: Sequence[int],
    name: TaskEventName,
    change: Callable[[ReviewTask], Mapping[str, Any]],
    *,
    detail: Mapping[str, Any] = {},
) -> int:
    """Change open tasks of the project one by one, each only if nobody took it since it was seen."""
    n_changed = 0
    with transaction.atomic(durable=True):
        for task in tasks_to_change(project, task_ids):
            values = change(task)
            seen = ReviewTask.objects.filter(pk=task.pk, state=TaskState.OPEN, lease_token=task.lease_token)
            if not values or not seen.update(**values):
                continue
            n_changed += 1
            record_audit(actor, name, task, project=project, detail=detail or _plain(values))
            keeps_holder = "lease_holder" not in values
            publish_task(task, name, holder=task.lease_holder if keeps_holder else None)
    return n_changed


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"priority": values["priority"]} if "priority" in values else {}
