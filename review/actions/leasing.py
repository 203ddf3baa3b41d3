"""Taking a task, keeping it, giving it back."""

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._leases import (
    FREE,
    Lease,
    change_held,
    claim,
    keep_ready,
    kept_ready_behind,
    lease_end,
    lease_lost,
    person,
    publish_task,
    work_on,
)
from review.actions._seeding import slip_in_seed
from review.exceptions import ConflictError
from review.models import DocumentType, Project, ReviewTask, TaskKind, TaskState, User
from review.selectors.access import Actor, is_manager
from review.selectors.review_tasks import tasks_held_by, waiting_tasks
from review.selectors.second_looks import has_seen_before

__all__ = [
    "Lease",
    "lease_next_task",
    "lease_task",
    "release_task",
    "release_task_for_manager",
    "renew_lease",
]

# As many as may well be taken by others between the look and the last try; then one looks again.
N_CANDIDATES = 20


def lease_next_task(
    *,
    actor: Actor,
    project: Project,
    document_type: DocumentType | None = None,
    besides: ReviewTask | None = None,
) -> Lease | None:
    """Give the actor the most important, then oldest task of the project (of one type); None when nothing is left.

    A reviewer who did not finish a task gets that one again, under the same token: a reload takes no second task.
    Tasks that the actor skipped are left out, and so are second looks at the actor's own work. Before a share of
    the tasks comes one whose values are known.

    With `besides`, a task that the actor holds and works on, the one after it is kept ready: at most one, renewed with
    every `renew_lease` of the first and given back with it. Raise LeaseLostError when the actor does not hold it.
    """
    user = person(actor)
    with transaction.atomic(durable=True):
        _one_request_at_a_time(user)
        if besides is not None and not work_on(besides, user):
            raise lease_lost(besides)
        lease = _resume(project, user, document_type, besides)
        is_resumed = lease is not None
        lease = lease or _take_next(project, user, document_type)
        if lease is not None and besides is not None:
            keep_ready(lease, besides)
        if lease is not None:
            _announce(actor, lease, is_resumed=is_resumed)
    return lease


def lease_task(*, actor: Actor, task: ReviewTask) -> Lease:
    """Give the actor this task, also one that the actor skipped.

    Raise ConflictError when somebody else holds it (`details`: holder, expires_at), when it is finished, or when it
    is a second look at work of the actor's own. An adjudication a manager may take all the same: in a small team
    there may be no third person.
    """
    user = person(actor)
    with transaction.atomic(durable=True):
        now = ReviewTask.objects.select_related("lease_holder", "project").get(pk=task.pk)
        if has_seen_before(now, user) and not (now.kind == TaskKind.ADJUDICATION and is_manager(actor, now.project)):
            raise ConflictError(
                _("You have worked on this document before. Somebody else has to look at it now; take another task."),
                code="task_not_for_you",
                details={"state": now.state},
            )
        is_resumed = now.lease_holder == user and _renew(now, user, now.lease_token)
        token = now.lease_token if is_resumed else claim(task.pk, seen_token=now.lease_token, user=user)
        if token is None:
            raise _held_or_finished(task)
        lease = _lease(task.pk, token)
        _announce(actor, lease, is_resumed=is_resumed)
    return lease


def renew_lease(*, actor: Actor, task: ReviewTask, lease_token: str) -> Lease:
    """Prolong the actor's lease, also a lapsed one that nobody took over; raise LeaseLostError otherwise.

    The lease of the task that is kept ready behind it is prolonged too.

    A heartbeat moves nothing, so it leaves neither an audit row nor an event.
    """
    user = person(actor)
    with transaction.atomic(durable=True):
        if not _renew(task, user, lease_token):
            raise lease_lost(task)
        kept_ready_behind(task, user).update(lease_expires_at=lease_end())
        return _lease(task.pk, lease_token)


def release_task(*, actor: Actor, task: ReviewTask, lease_token: str) -> None:
    """Give the actor's task back to the queue; what was saved in it stays. Raise LeaseLostError.

    So is the task that was kept ready behind it.
    """
    user = person(actor)
    with transaction.atomic(durable=True):
        if not change_held(task, user, lease_token, FREE):
            raise lease_lost(task)
        ready = list(kept_ready_behind(task, user))
        ReviewTask.objects.filter(pk__in=[other.pk for other in ready], lease_holder=user).update(**FREE)
        for released in (task, *ready):
            record_audit(actor, "review_task.released", released, project=released.project_id)
            publish_task(released, "review_task.released")


def release_task_for_manager(*, actor: Actor, task: ReviewTask) -> None:
    """Take a task from whoever holds it; nothing happens when nobody does. Raise ConflictError when it is finished.

    The holder's next save is answered with LeaseLostError and comes back with what was typed.
    """
    with transaction.atomic(durable=True):
        now = ReviewTask.objects.select_related("lease_holder").get(pk=task.pk)
        if now.state == TaskState.OPEN and not now.lease_token:
            return
        seen = ReviewTask.objects.filter(pk=task.pk, state=TaskState.OPEN, lease_token=now.lease_token)
        if not seen.update(**FREE):
            raise _held_or_finished(task)
        holder = now.lease_holder.get_username() if now.lease_holder else ""
        record_audit(actor, "review_task.released", task, project=task.project_id, detail={"holder": holder})
        publish_task(task, "review_task.released")


def _one_request_at_a_time(user: User) -> None:
    """Queue up the requests of one person, so that two tabs that open at once do not take two tasks.

    SQLite has no row locks and needs none here: its transactions are IMMEDIATE, one writer at a time.
    """
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))


def _resume(
    project: Project, user: User, document_type: DocumentType | None, besides: ReviewTask | None
) -> Lease | None:
    held = tasks_held_by(project, user, document_type=document_type)
    if besides is None:
        # What one works on comes before what was kept ready.
        own = held.order_by(F("lease_behind").asc(nulls_first=True), "-lease_expires_at", "id").first()
    else:
        own = held.exclude(pk=besides.pk).order_by(F("lease_behind").desc(nulls_last=True), "id").first()
    return _lease(own.pk, own.lease_token) if own is not None and _renew(own, user, own.lease_token) else None


def _take_next(project: Project, user: User, document_type: DocumentType | None) -> Lease | None:
    queue = waiting_tasks(project, user, document_type=document_type).values_list("pk", "lease_token")
    # A round in which every try fails is one in which others took a task each: this ends.
    while candidates := list(queue[:N_CANDIDATES]):
        for task_id, seen_token in candidates:
            if project.seeded_share > 0 and (seeded := slip_in_seed(project, user, task_id)) is not None:
                return _lease(*seeded)
            if token := claim(task_id, seen_token=seen_token, user=user):
                return _lease(task_id, token)
    return None


def _renew(task: ReviewTask, user: User, lease_token: str) -> bool:
    return change_held(task, user, lease_token, {"lease_expires_at": lease_end(), "lease_behind": None})


def _lease(task_id: int, token: str) -> Lease:
    task = ReviewTask.objects.select_related("document", "run", "document_type", "lease_holder").get(pk=task_id)
    assert task.lease_expires_at is not None  # noqa: S101 - written by the statement before, in this transaction
    return Lease(task=task, token=token, expires_at=task.lease_expires_at)


def _announce(actor: Actor, lease: Lease, *, is_resumed: bool) -> None:
    task = lease.task
    record_audit(actor, "review_task.leased", task, project=task.project_id, detail={"is_resumed": is_resumed})
    publish_task(task, "review_task.leased", holder=actor.user)


def _held_or_finished(task: ReviewTask) -> ConflictError:
    now = ReviewTask.objects.select_related("lease_holder").get(pk=task.pk)
    if now.state != TaskState.OPEN:
        return ConflictError(_("This task is finished."), code="task_finished", details={"state": now.state})
    return ConflictError(
        _("Somebody else is working on this task. Take another one, or try again when the lease has ended."),
        code="task_held",
        details={
            "state": now.state,
            "holder": now.lease_holder.get_username() if now.lease_holder else "",
            "expires_at": now.lease_expires_at,
        },
    )
