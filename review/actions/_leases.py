"""Who holds a task: every change is a compare-and-set on `lease_token`, decided by the number of rows it changed.

A lease ends by time (`lease_expires_at`), but its holder loses nothing by being late: as long as nobody else took the
task over, the token still counts and the next save or heartbeat brings the lease back to life.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.exceptions import ForbiddenError, LeaseLostError
from review.live.events import TaskEvent, TaskEventName, publish
from review.models import ReviewTask, TaskState, User
from review.selectors.access import Actor
from review.selectors.review_tasks import is_free

FREE: Mapping[str, Any] = {
    "lease_holder": None,
    "lease_token": "",
    "lease_expires_at": None,
    "lease_behind": None,
}
"""The columns of a task that nobody holds."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A task for one person until `expires_at`; `token` proves it."""

    task: ReviewTask
    token: str
    expires_at: datetime


def person(actor: Actor) -> User:
    """Return who acts; only people (also through their API tokens) review. Raise ForbiddenError for Stet itself."""
    if actor.user is None:
        raise ForbiddenError
    return actor.user


def lease_end() -> datetime:
    """Return when a lease that begins or is renewed now will end."""
    return timezone.now() + timedelta(seconds=settings.STET_LEASE_SECONDS)


def claim(task_id: int, *, seen_token: str, user: User) -> str | None:
    """Take a task that was seen free with `seen_token`; return the new token, None when somebody was faster."""
    token = uuid4().hex
    # The token alone is not enough: a holder who was late may have renewed under the same token since it was seen.
    is_taken = ReviewTask.objects.filter(
        is_free(timezone.now()), pk=task_id, state=TaskState.OPEN, lease_token=seen_token
    ).update(lease_holder=user, lease_token=token, lease_expires_at=lease_end(), lease_behind=None)
    return token if is_taken else None


def change_held(task: ReviewTask, user: User, lease_token: str, values: Mapping[str, Any]) -> bool:
    """Set the columns `values` of the task if `user` still holds it under this token; say whether."""
    if not lease_token:
        return False
    held = ReviewTask.objects.filter(pk=task.pk, state=TaskState.OPEN, lease_token=lease_token, lease_holder=user)
    return bool(held.update(**dict(values)))


def work_on(task: ReviewTask, user: User) -> bool:
    """Renew the lease of the task that `user` works on now; say whether they hold it."""
    held = ReviewTask.objects.filter(pk=task.pk, state=TaskState.OPEN, lease_holder=user)
    return bool(held.update(lease_expires_at=lease_end(), lease_behind=None))


def keep_ready(lease: Lease, behind: ReviewTask) -> None:
    """Make a lease depend on the one of `behind`: renewed and released with it."""
    held = ReviewTask.objects.filter(pk=lease.task.pk, state=TaskState.OPEN, lease_token=lease.token)
    held.update(lease_behind=behind)


def kept_ready_behind(task: ReviewTask, user: User) -> QuerySet[ReviewTask]:
    """Return what `user` holds to go on with after `task`."""
    return ReviewTask.objects.filter(lease_behind=task, lease_holder=user, state=TaskState.OPEN)


def lease_lost(task: ReviewTask, details: Mapping[str, Any] = {}) -> LeaseLostError:
    """Return the answer to the loser: who holds the task now, in which state it is, and `details`."""
    now = ReviewTask.objects.select_related("lease_holder").get(pk=task.pk)
    standing = {"state": now.state, "holder": now.lease_holder.get_username() if now.lease_holder else ""}
    message = None
    if now.state != TaskState.OPEN:
        message = _("This task was finished in the meantime. What you saved is kept; take the next task.")
    return LeaseLostError(message, details={**standing, **details})


def publish_task(task: ReviewTask, name: TaskEventName, *, holder: User | None = None) -> None:
    """Tell open pages that a task moved, and who holds it now."""
    publish(
        TaskEvent(
            name=name,
            project_id=task.project_id,
            task_id=task.pk,
            document_id=task.document_id,
            holder=holder.get_username() if holder is not None else "",
        )
    )
