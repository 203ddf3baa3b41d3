"""What engine versions reach on regression sets is written down, and how two of them compare."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from review.accuracy.comparison import Comparison
from review.actions._audit import record_audit
from review.actions._pages import EngineIdentity, ensure_engine_version
from review.models import EngineVersion, EvaluationComparison, EvaluationRun, RegressionSet
from review.selectors.access import Actor


def register_engine(*, engine: EngineIdentity) -> EngineVersion:
    """Return the row of the engine as it reads now. No audit row: a version is a fact, not an act."""
    with transaction.atomic(durable=True):
        return ensure_engine_version(engine)


def record_evaluation(
    *,
    actor: Actor,
    regression_set: RegressionSet,
    engine_version_id: int,
    results: Mapping[str, Any],
    outcomes: Mapping[str, Any] | None = None,
) -> EvaluationRun:
    """Write down what one engine version reached on a set, and how each document came out (see `EvaluationRun`)."""
    with transaction.atomic(durable=True):
        run = EvaluationRun.objects.create(
            regression_set=regression_set,
            engine_version_id=engine_version_id,
            results=dict(results),
            outcomes=dict(outcomes or {}),
        )
        detail = {"set": str(regression_set), "engine_version": engine_version_id}
        record_audit(actor, "evaluation.recorded", run, project=regression_set.project_id, detail=detail)
    return run


def record_comparison(
    *, actor: Actor, run_a: EvaluationRun, run_b: EvaluationRun, comparison: Comparison
) -> EvaluationComparison:
    """Write down how B's run compares with A's on the same set; it counts for a roll-out if it is on the whole set."""
    regression_set = run_a.regression_set
    with transaction.atomic(durable=True):
        stored = EvaluationComparison.objects.create(
            regression_set=regression_set,
            run_a=run_a,
            run_b=run_b,
            results=comparison.as_json(),
            is_whole=comparison.n_documents == regression_set.n_items,
            is_blocked=comparison.is_blocked,
        )
        detail = {
            "set": str(regression_set),
            "a": run_a.engine_version_id,
            "b": run_b.engine_version_id,
            "is_blocked": stored.is_blocked,
        }
        record_audit(actor, "evaluation.compared", stored, project=regression_set.project_id, detail=detail)
    return stored
