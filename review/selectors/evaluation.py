"""Regression sets, their versions, and the runs over them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from review.exceptions import NotFoundError
from review.models import (
    DocumentType,
    EngineVersion,
    EvaluationComparison,
    EvaluationRun,
    Project,
    RegressionItem,
    RegressionSet,
)


def regression_sets_for(project: Project) -> QuerySet[RegressionSet]:
    """Return the newest version of each regression set of a project, by name."""
    sets = RegressionSet.objects.select_related("document_type").filter(project=project, replaced_by=None)
    return sets.order_by("name")


def versions_of(project: Project, name: str) -> QuerySet[RegressionSet]:
    """Return all versions of the set of that name, oldest first."""
    sets = RegressionSet.objects.select_related("project", "document_type__active_version")
    return sets.filter(project=project, name=name).order_by("number")


def access_regression_set(project: Project, name: str, number: int | None = None) -> RegressionSet:
    """Return a version of a regression set of an accessed project, the newest by default; raise NotFoundError."""
    found = versions_of(project, name)
    regression_set = found.last() if number is None else found.filter(number=number).first()
    if regression_set is None:
        raise NotFoundError
    return regression_set


def newest_set_of(document_type: DocumentType) -> RegressionSet | None:
    """Return the regression set by which versions of the type's reader are judged: the one that was frozen last."""
    sets = RegressionSet.objects.select_related("project", "document_type__active_version")
    return sets.filter(document_type=document_type).order_by("-pk").first()


def newest_sets_of(types: Collection[DocumentType]) -> Mapping[int, RegressionSet]:
    """Return `newest_set_of` of several types, by the type's id; in one query."""
    sets = RegressionSet.objects.filter(document_type__in=types).order_by("pk")
    return {one.document_type_id: one for one in sets}


def items_of(regression_set: RegressionSet, *, limit: int | None = None) -> QuerySet[RegressionItem]:
    """Return the items of a version by name, or the first `limit` of them: its own and those of the versions before.

    Of a document whose truth a version has corrected, the newest item up to this version.
    """
    items = RegressionItem.objects.filter(
        regression_set__project=regression_set.project_id,
        regression_set__name=regression_set.name,
        regression_set__number__lte=regression_set.number,
    )
    corrected = items.filter(name=OuterRef("name"), regression_set__number__gt=OuterRef("regression_set__number"))
    return items.filter(~Exists(corrected)).order_by("name")[:limit]


def evaluations_of(regression_set: RegressionSet) -> QuerySet[EvaluationRun]:
    """Return the runs over a version of a set, newest first."""
    return regression_set.evaluations.select_related("engine_version").order_by("-id")


def whole_run_of(regression_set: RegressionSet, engine_version_id: int) -> EvaluationRun | None:
    """Return the newest run of an engine version over the whole set that says how each document came out."""
    runs = evaluations_of(regression_set).filter(engine_version=engine_version_id)
    return next((run for run in runs if len(run.outcomes.get("items", ())) == regression_set.n_items), None)


@dataclass(frozen=True, slots=True)
class Compared:
    """What the `EvaluationComparison` of that id says: results by field, and whether one of them falls too far."""

    pk: int
    results: dict[str, Any]
    is_blocked: bool


def newest_compared(document_type: DocumentType, a_id: int, b_id: int) -> tuple[RegressionSet | None, Compared | None]:
    """Return `newest_set_of` a type, and what the newest comparison of engine version B with A on all of it says.

    Either may be missing; one query.
    """
    compared = EvaluationComparison.objects.filter(
        regression_set=OuterRef("pk"), is_whole=True, run_a__engine_version=a_id, run_b__engine_version=b_id
    ).order_by("-pk")
    sets = RegressionSet.objects.filter(document_type=document_type).annotate(
        compared_as=Subquery(compared.values("pk")[:1]),
        results=Subquery(compared.values("results")[:1]),
        is_blocked=Subquery(compared.values("is_blocked")[:1]),
    )
    found = sets.order_by("-pk").first()
    if found is None or found.compared_as is None:
        return found, None
    return found, Compared(found.compared_as, found.results, found.is_blocked)


def comparisons_with(
    sets: Collection[RegressionSet], versions: Collection[EngineVersion]
) -> Mapping[tuple[int, int, int], EvaluationComparison]:
    """Return the newest comparison on a whole set of each of these B with whatever A, by ids (set, A, B); one query."""
    found = EvaluationComparison.objects.filter(
        regression_set__in=sets, is_whole=True, run_b__engine_version__in=versions
    )
    # Who was compared is asked for, not how each document came out.
    results = [f"{run}__{name}" for run in ("run_a", "run_b") for name in ("results", "outcomes")]
    known = found.select_related("run_a", "run_b").defer(*results).order_by("pk")
    return {(one.regression_set_id, one.run_a.engine_version_id, one.run_b.engine_version_id): one for one in known}


def access_item(item_id: int) -> RegressionItem:
    """Return one item with its set, project and type, for whoever evaluates the set; raise NotFoundError."""
    items = RegressionItem.objects.select_related("regression_set__document_type__active_version")
    item = items.filter(pk=item_id).first()
    if item is None:
        raise NotFoundError
    return item
