"""Parts of pages that people want read again."""

from django.db.models import Q

from review.models import Page, RegionReading, RegionState, ReviewTask, TaskState, User

UNFINISHED = (RegionState.QUEUED, RegionState.READING)


def holds(task: ReviewTask, user: User) -> bool:
    """Whether `user` works on the open task now, lapsed lease or not."""
    return ReviewTask.objects.filter(pk=task.pk, state=TaskState.OPEN, lease_holder=user).exists()


def page_of(task: ReviewTask, page_number: int) -> Page | None:
    """Return a page of the task's document."""
    return Page.objects.filter(document_id=task.document_id, page_number=page_number).first()


def n_unfinished_regions(task: ReviewTask) -> int:
    """Return how many regions of the task wait or are being read."""
    return RegionReading.objects.filter(Q(state__in=UNFINISHED), task=task).count()


def region_to_read(region_id: int) -> RegionReading | None:
    """Return a region that waits, with all that reading it takes; None when it is being read or done."""
    regions = RegionReading.objects.select_related(
        "page", "task__document__project", "task__run__schema_version", "task__run__engine_version"
    )
    return regions.filter(pk=region_id, state=RegionState.QUEUED).first()
