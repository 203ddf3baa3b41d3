"""How well reviewers work, from second reviews and seeded tasks of the last days."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from review.accuracy.agreement import error_rate
from review.accuracy.estimators import Moments
from review.accuracy.intervals import AccuracyEstimate, clopper_pearson
from review.models import (
    CheckSource,
    GroundTruth,
    Membership,
    Project,
    ReviewerCheck,
    ReviewTask,
    Role,
    TaskKind,
    TaskState,
)

N_DAYS = 90
_REVIEWING = [role for role in Role if role.includes(Role.REVIEWER)]


@dataclass(frozen=True, slots=True)
class ReviewerQuality:
    """One reviewer. `error` and `agreement` come from second reviews, `seeded_error` from seeded tasks.

    `error.n` are the fields that are settled, `n_compared` all that were compared; the rest wait for an adjudication
    or nobody could read them.
    """

    username: str
    error: AccuracyEstimate
    seeded_error: AccuracyEstimate
    agreement: AccuracyEstimate

    @property
    def n_compared(self) -> int:
        """How many fields two people answered."""
        return self.agreement.n


@dataclass(frozen=True, slots=True)
class ReviewersPage:
    """All reviewers by name, all of them together, and what waits. Figures are of the last `n_days` days."""

    reviewers: tuple[ReviewerQuality, ...]
    everybody: ReviewerQuality
    n_days: int
    n_second_reviews: int
    n_adjudications: int
    n_known_documents: int


def reviewers_page(project: Project) -> ReviewersPage:
    """Return the quality of everybody who may review in a project, or did; in a fixed number of queries."""
    members = Membership.objects.filter(project=project, role__in=_REVIEWING, user__is_active=True)
    sums = _sums(project)
    names = sorted({*members.values_list("user__username", flat=True), *sums})
    waiting = ReviewTask.objects.filter(project=project, state=TaskState.OPEN).exclude(kind=TaskKind.REVIEW)
    counts = waiting.aggregate(
        n_second_reviews=Count("pk", filter=Q(kind=TaskKind.SECOND_REVIEW)),
        n_adjudications=Count("pk", filter=Q(kind=TaskKind.ADJUDICATION)),
    )
    known = GroundTruth.objects.filter(project=project).aggregate(n=Count("document", distinct=True))
    return ReviewersPage(
        reviewers=tuple(_quality(name, sums.get(name, {})) for name in names),
        everybody=_quality("", _together(sums)),
        n_days=N_DAYS,
        n_known_documents=known["n"],
        **counts,
    )


def _sums(project: Project) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return the sums of each reviewer's checks by source. A field weighs 1/pi: see `review.accuracy.agreement`."""
    since = timezone.now() - timedelta(days=N_DAYS)
    weight = 1.0 / F("inclusion_probability")
    settled, wrong = Q(is_right__isnull=False), Q(is_right=False)
    checks = ReviewerCheck.objects.filter(project=project, created_at__gte=since, reviewer__isnull=False)
    rows = checks.values("reviewer__username", "source").annotate(
        n_compared=Count("pk"),
        n_agreed=Count("pk", filter=Q(is_agreed=True)),
        n=Count("pk", filter=settled),
        n_wrong=Count("pk", filter=wrong),
        w=Sum(weight, filter=settled),
        wy=Sum(weight, filter=wrong),
        w2=Sum(weight * weight, filter=settled),
        w2y=Sum(weight * weight, filter=wrong),
    )
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows.order_by():
        found.setdefault(row["reviewer__username"], {})[row["source"]] = row
    return found


def _together(sums: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Mapping[str, Any]]:
    total: dict[str, dict[str, Any]] = {}
    for by_source in sums.values():
        for source, row in by_source.items():
            for name in ("n_compared", "n_agreed", "n", "n_wrong", "w", "wy", "w2", "w2y"):
                cell = total.setdefault(source, {})
                cell[name] = cell.get(name, 0) + (row[name] or 0)
    return dict(total)


def _quality(username: str, by_source: Mapping[str, Mapping[str, Any]]) -> ReviewerQuality:
    compared = by_source.get(CheckSource.SECOND_REVIEW, {})
    seeded = by_source.get(CheckSource.SEEDED, {})
    moments = Moments(compared.get("n", 0), *(float(compared.get(name) or 0) for name in ("w", "wy", "w2", "w2y")))
    return ReviewerQuality(
        username=username,
        error=error_rate(moments),
        seeded_error=clopper_pearson(seeded.get("n_wrong", 0), seeded.get("n", 0)),
        agreement=clopper_pearson(compared.get("n_agreed", 0), compared.get("n_compared", 0)),
    )
