"""How long people worked on what."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, Sum

from review.models import DocumentType, Project, ReviewTask, TimeSpent, User


@dataclass(frozen=True, slots=True)
class ReviewTime:
    """Active seconds of people in a project, and on how many tasks they were spent."""

    seconds: float
    n_tasks: int

    @property
    def seconds_per_task(self) -> float | None:
        """The mean; None without tasks."""
        return self.seconds / self.n_tasks if self.n_tasks else None


def has_worked_on(task: ReviewTask, user: User) -> bool:
    """Whether `user` holds the task, lapsed or not, finished it, or saved something in it."""
    mine = Q(lease_holder=user) | Q(finished_by=user) | Q(edits__author=user)
    return ReviewTask.objects.filter(mine, pk=task.pk).exists()


def review_time(
    project: Project, *, since: datetime | None = None, document_type: DocumentType | None = None
) -> ReviewTime:
    """Return what people spent on the tasks of a project, of one type, since a time. One query."""
    times = TimeSpent.objects.filter(task__project=project, field_path="")
    if since is not None:
        times = times.filter(created_at__gte=since)
    if document_type is not None:
        times = times.filter(task__document_type=document_type)
    found = times.aggregate(seconds=Sum("seconds"), n_tasks=Count("task", distinct=True))
    return ReviewTime(seconds=found["seconds"] or 0.0, n_tasks=found["n_tasks"])


def field_times(project: Project, *, since: datetime | None = None) -> dict[str, float]:
    """Return the seconds spent on each field path of a project, longest first. One query."""
    times = TimeSpent.objects.filter(task__project=project).exclude(field_path="")
    if since is not None:
        times = times.filter(created_at__gte=since)
    summed = times.values_list("field_path").annotate(total=Sum("seconds")).order_by("-total", "field_path")
    return {path: float(total) for path, total in summed}
