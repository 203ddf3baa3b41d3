"""A person marks a part of a page; a worker reads it again, larger, while the person waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.actions._audit import record_audit
from review.actions._claims import new_claim_token
from review.actions._enqueue import READ_REGION, enqueue_for_desk
from review.actions._leases import lease_lost, person
from review.exceptions import ConflictError, InvalidInputError
from review.live.events import RegionEvent, RegionEventName, publish
from review.models import RegionReading, RegionState, ReviewTask
from review.selectors.access import Actor
from review.selectors.regions import UNFINISHED, holds, n_unfinished_regions, page_of, region_to_read
from review.selectors.review_tasks import task_field

AT_ONCE = 8
"""So many regions of one task may wait: more is a script that ran away."""
PATIENCE = timedelta(seconds=60)
"""Nobody waits longer at a desk; what is not read by then is given up."""
GAVE_UP = "gave_up"


@dataclass(frozen=True, slots=True)
class ClaimedRegion:
    """A region that this process reads now; `token` proves it."""

    region: RegionReading
    token: str


def request_region(
    *, actor: Actor, task: ReviewTask, page_number: int, bbox: Sequence[float], field_path: str
) -> RegionReading:
    """Have a part of a page read again for a field, before anything that waits in the queue.

    `bbox` is (x0, y0, x1, y1) in 0-1 with some extent. Raise InvalidInputError at what does not exist,
    LeaseLostError for who does not hold the task, ConflictError ("too_many_regions") when too many wait already.
    """
    user = person(actor)
    with transaction.atomic(durable=True):
        if not holds(task, user):
            raise lease_lost(task)
        page = page_of(task, page_number)
        if page is None:
            raise InvalidInputError.at("/page_number", _("The document has no such page."))
        if task_field(task, field_path) is None:
            raise InvalidInputError.at("/field_path", _("The document type has no such field."))
        if n_unfinished_regions(task) >= AT_ONCE:
            raise ConflictError(_("Several marked areas are still being read. Wait a moment."), code="too_many_regions")
        region = RegionReading.objects.create(
            task=task, page=page, reviewer=user, field_path=field_path, bbox=list(bbox)
        )
        enqueue_for_desk(READ_REGION, region.pk)
        detail = {"task": task.pk, "field_path": field_path, "page_number": page_number}
        record_audit(actor, "region.requested", region, project=task.project_id, detail=detail)
        _publish(region, "region.requested")
    return region


def claim_region(*, region_id: int) -> ClaimedRegion | None:
    """Claim a region that waits for this process; None when it is read, being read or given up. No audit row."""
    region = region_to_read(region_id)
    if region is None:
        return None
    token = new_claim_token()
    with transaction.atomic(durable=True):
        waiting = RegionReading.objects.filter(pk=region.pk, state=RegionState.QUEUED)
        is_mine = waiting.update(state=RegionState.READING, claim_token=token)
    return ClaimedRegion(region, token) if is_mine else None


def record_region_read(*, actor: Actor, claim: ClaimedRegion, text: str, value: str | None) -> bool:
    """Record what stands in a claimed region; "" where nothing does. False when it was given up meanwhile."""
    return _finish(actor, claim, {"state": RegionState.DONE, "text": text, "value": value})


def fail_region(*, actor: Actor, claim: ClaimedRegion, code: str) -> bool:
    """Record that a claimed region cannot be read."""
    return _finish(actor, claim, {"state": RegionState.FAILED, "error_code": code})


def give_up_regions(*, actor: Actor) -> int:
    """End what nobody has read in time: its worker died, or there is none. Return how many there were."""
    late = RegionReading.objects.filter(state__in=UNFINISHED, created_at__lt=timezone.now() - PATIENCE)
    regions = list(late.select_related("task")[:100])
    return sum(fail_region(actor=actor, claim=ClaimedRegion(one, one.claim_token), code=GAVE_UP) for one in regions)


def _finish(actor: Actor, claim: ClaimedRegion, values: dict[str, object]) -> bool:
    region = claim.region
    with transaction.atomic(durable=True):
        mine = RegionReading.objects.filter(pk=region.pk, state__in=UNFINISHED, claim_token=claim.token)
        if not mine.update(finished_at=timezone.now(), **values):
            return False
        region.state = RegionState(str(values["state"]))
        detail = {"task": region.task_id, "state": region.state, "error": values.get("error_code", "")}
        record_audit(actor, "region.read", region, project=region.task.project_id, detail=detail)
        _publish(region, "region.read")
    return True


def _publish(region: RegionReading, name: RegionEventName) -> None:
    publish(
        RegionEvent(
            name=name,
            project_id=region.task.project_id,
            task_id=region.task_id,
            region_id=region.pk,
            state=region.state,
        )
    )
