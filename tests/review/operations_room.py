"""What a project has done and what people spent on it, as rows: days of throughput, seconds, and its age."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from review.models import Project, ReviewTask, ThroughputRollup, TimeSpent
from review.selectors.accuracy import today
from tests import factories
from tests.conftest import Cast


def add_day(cast: Cast, age: int = 0, **counts: Any) -> None:
    defaults = {"n_documents": 10, "n_pages": 20, "n_auto": 6, "n_sampled": 3, "n_review": 1, "n_selected": 2}
    ThroughputRollup.objects.create(
        project=cast.project,
        document_type=cast.document_type,
        day=today() - timedelta(days=age),
        **({**defaults, "cpu_seconds": 72.0} | counts),
    )


def spend(cast: Cast, seconds: float, *, field_path: str = "") -> None:
    task = ReviewTask.objects.get(document=factories.make_routed(cast.document_type))
    TimeSpent.objects.create(
        task=task, reviewer=cast.reviewer, field_path=field_path, seconds=seconds, client_key=f"k{task.pk}"
    )


def age_project(cast: Cast, days: int) -> None:
    Project.objects.filter(pk=cast.project.pk).update(created_at=timezone.now() - timedelta(days=days))
    cast.project.refresh_from_db()
