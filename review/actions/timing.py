"""How long people work: measured by the browser, idle time left out, kept as it is told."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from review.actions._leases import lease_lost, person
from review.exceptions import InvalidInputError
from review.models import ReviewTask, TimeSpent
from review.selectors.access import Actor
from review.selectors.review_tasks import task_field
from review.selectors.times import has_worked_on

MAX_SECONDS = 3600.0
WHOLE_TASK = ""


def record_time(*, actor: Actor, task: ReviewTask, client_key: str, seconds: Mapping[str, float]) -> None:
    """Add active seconds by field path, "" for the task as a whole; the same `client_key` again adds nothing.

    Also after the task is finished: what was measured last is reported last. Moves nothing, so it leaves neither an
    audit row nor an event. Raise InvalidInputError at a field's path; LeaseLostError for who neither holds the task
    nor finished it.
    """
    user = person(actor)
    with transaction.atomic(durable=True):
        if not has_worked_on(task, user):
            raise lease_lost(task)
        for path, spent in seconds.items():
            if path != WHOLE_TASK and task_field(task, path) is None:
                raise InvalidInputError.at(path, _("The document type has no such field."))
            if not 0 <= spent <= MAX_SECONDS:
                raise InvalidInputError.at(path, _("Report between 0 and 3600 seconds at a time."))
        TimeSpent.objects.bulk_create(
            (
                TimeSpent(task=task, reviewer=user, field_path=path, client_key=client_key, seconds=spent)
                for path, spent in seconds.items()
            ),
            ignore_conflicts=True,
        )
