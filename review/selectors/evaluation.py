"""Regression sets and the runs over them."""

from django.db.models import QuerySet

from review.exceptions import NotFoundError
from review.models import EvaluationRun, Project, RegressionItem, RegressionSet


def regression_sets_for(project: Project) -> QuerySet[RegressionSet]:
    """Return the regression sets of a project, by name."""
    return RegressionSet.objects.select_related("document_type").filter(project=project).order_by("name")


def access_regression_set(project: Project, name: str) -> RegressionSet:
    """Return a regression set of an accessed project with its type; raise NotFoundError."""
    found = RegressionSet.objects.select_related("project", "document_type__active_version").filter(
        project=project, name=name
    )
    regression_set = found.first()
    if regression_set is None:
        raise NotFoundError
    return regression_set


def items_of(regression_set: RegressionSet, *, limit: int | None = None) -> QuerySet[RegressionItem]:
    """Return the items of a set by name, or the first `limit` of them."""
    return regression_set.items.order_by("name")[:limit]


def evaluations_of(regression_set: RegressionSet) -> QuerySet[EvaluationRun]:
    """Return the runs over a set, newest first."""
    return regression_set.evaluations.select_related("engine_version").order_by("-id")


def access_item(item_id: int) -> RegressionItem:
    """Return one item with its set, project and type, for whoever evaluates the set; raise NotFoundError."""
    items = RegressionItem.objects.select_related("regression_set__document_type__active_version")
    item = items.filter(pk=item_id).first()
    if item is None:
        raise NotFoundError
    return item
