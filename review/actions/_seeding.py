"""Slipping a task with known values in before another one, so that reviewers are measured at their usual work."""

from uuid import uuid4

from django.conf import settings
from django.db import IntegrityError, transaction

from review.actions._leases import lease_end, publish_task
from review.models import Project, ReviewTask, TaskKind, User
from review.routing.sampling import Purpose, draw
from review.selectors.second_looks import seeds_for, was_preceded


def slip_in_seed(project: Project, user: User, task_id: int) -> tuple[int, str] | None:
    """Make a seeded task, held by `user`, to be given in the place of the task that is next; return id and token.

    None when the hash of person and task says no, when there was one before this task already, or when there is no
    document with known values that the person has not worked on. The task that was next stays in the queue.
    """
    # Salted with the installation's secret: nobody can work out beforehand which tasks these are.
    drawn = draw(str(task_id), str(user.pk), settings.SECRET_KEY, Purpose.SEEDED)
    if drawn >= project.seeded_share or was_preceded(task_id, user):
        return None
    task = ReviewTask.objects.get(pk=task_id)
    seeds = seeds_for(user, task) if task.kind != TaskKind.SEEDED else []
    if not seeds:
        return None
    # What lies below the share is uniform as well: it chooses among the documents.
    seed = seeds[int(drawn / project.seeded_share * len(seeds))]
    try:
        with transaction.atomic():
            made = ReviewTask.objects.create(
                project=project,
                document_type_id=seed.document_type_id,
                document_id=seed.document_id,
                run_id=seed.run_id,
                priority=task.priority,
                kind=TaskKind.SEEDED,
                first_task=seed,
                before_task=task,
                assignee=user,
                lease_holder=user,
                lease_token=uuid4().hex,
                lease_expires_at=lease_end(),
            )
    except IntegrityError:
        # Somebody else got a task on this document at the same moment.
        return None
    # As old as the task in whose place it is given: its age tells nothing.
    ReviewTask.objects.filter(pk=made.pk).update(created_at=task.created_at)
    publish_task(made, "review_task.created")
    return made.pk, made.lease_token
