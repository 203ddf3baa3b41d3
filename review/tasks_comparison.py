"""Two engine versions on the same regression set: each is measured unless it was before, then they are compared."""

from review.accuracy.comparison import compare
from review.accuracy.outcomes import paired
from review.actions.evaluation import record_comparison
from review.models import EngineVersion, EvaluationComparison, EvaluationRun, RegressionSet
from review.selectors.access import Actor
from review.selectors.evaluation import whole_run_of
from review.selectors.schemas import field_spec_at
from review.tasks_evaluation import Tell, evaluate_set, spec_of_set


def compare_versions(
    *,
    actor: Actor,
    regression_set: RegressionSet,
    a: EngineVersion,
    b: EngineVersion,
    is_fresh: bool = False,
    limit: int | None = None,
    n_processes: int = 1,
    tell: Tell = lambda _done, _of: None,
) -> EvaluationComparison:
    """Compare version B with A on the set or its first `limit` documents; keep and return the comparison.

    A version that has a run over the whole set is not measured again unless `is_fresh`. Raise EngineUnavailableError,
    UnknownEngineError.
    """

    def run_of(version: EngineVersion) -> EvaluationRun:
        known = None if is_fresh or limit is not None else whole_run_of(regression_set, version.pk)
        return known or evaluate_set(
            actor=actor,
            regression_set=regression_set,
            engine_version=version,
            limit=limit,
            is_fresh=is_fresh,
            n_processes=n_processes,
            tell=tell,
        )

    run_a, run_b = run_of(a), run_of(b)
    pairs = list(paired(run_a.outcomes, run_b.outcomes))
    comparison = compare(pairs, costs_of(regression_set, {pair.field_path for pair in pairs}))
    return record_comparison(actor=actor, run_a=run_a, run_b=run_b, comparison=comparison)


def costs_of(regression_set: RegressionSet, paths: set[str]) -> dict[str, float]:
    """Return what a wrong value of each of these fields costs, as the type's schema says (`x-error-cost`)."""
    spec = spec_of_set(regression_set)
    found = {path: field_spec_at(spec, path) for path in paths}
    return {path: known.error_cost for path, known in found.items() if known is not None}
