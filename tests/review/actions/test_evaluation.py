import pytest

from review.accuracy.comparison import PairedField, compare
from review.actions.evaluation import record_comparison, record_evaluation, register_engine
from review.actions.opening import EngineIdentity
from review.models import AuditEntry, EngineVersion, EvaluationRun, RegressionSet
from review.selectors.access import Actor
from review.selectors.evaluation import newest_compared, whole_run_of
from tests.conftest import Cast


@pytest.fixture
def found(cast: Cast) -> RegressionSet:
    """A set of two documents."""
    return RegressionSet.objects.create(
        project=cast.project, document_type=cast.document_type, name="test", n_items=2, digest="d"
    )


def test_the_same_engine_has_one_version(cast: Cast) -> None:
    engine = EngineIdentity("scripted", "a" * 64, {"weights": "x"})
    assert register_engine(engine=engine) == register_engine(engine=engine)
    assert EngineVersion.objects.get(digest="a" * 64).spec == {"weights": "x"}


def test_an_evaluation_is_written_down(cast: Cast, found: RegressionSet) -> None:
    version = register_engine(engine=EngineIdentity("scripted", "a" * 64))
    run = record_evaluation(
        actor=Actor(cast.manager), regression_set=found, engine_version_id=version.pk, results={"fields": {}}
    )
    assert (run.regression_set, run.engine_version, run.results) == (found, version, {"fields": {}})
    assert AuditEntry.objects.get(action="evaluation.recorded").project == cast.project


def evaluated(cast: Cast, found: RegressionSet, name: str, outcomes: dict[str, str]) -> EvaluationRun:
    version = register_engine(engine=EngineIdentity.of(name, {}))
    given = {"paths": ["/total"], "items": outcomes}
    return record_evaluation(
        actor=Actor(cast.manager), regression_set=found, engine_version_id=version.pk, results={}, outcomes=given
    )


def test_how_each_document_came_out_is_kept_with_a_run_and_only_whole_runs_are_found(
    cast: Cast, found: RegressionSet
) -> None:
    whole = evaluated(cast, found, "a", {"1": "1", "2": "0"})
    part = evaluated(cast, found, "a", {"1": "1"})
    assert part.engine_version == whole.engine_version
    assert whole_run_of(found, whole.engine_version_id) == whole
    assert whole.outcomes == {"paths": ["/total"], "items": {"1": "1", "2": "0"}}
    assert whole_run_of(found, whole.engine_version_id + 1) is None


@pytest.mark.parametrize(("n", "is_whole"), [(2, True), (1, False)])
def test_a_comparison_is_written_down_and_counts_on_the_whole_set_only(
    cast: Cast, found: RegressionSet, n: int, is_whole: bool
) -> None:
    a, b = evaluated(cast, found, "a", {}), evaluated(cast, found, "b", {})
    pairs = [PairedField(str(number), "/total", is_correct_a=True, is_correct_b=False) for number in range(n)]
    stored = record_comparison(actor=Actor(cast.manager), run_a=a, run_b=b, comparison=compare(pairs, {}))
    assert (stored.is_whole, stored.is_blocked, stored.results["fallen"]) == (is_whole, True, ["/total"])
    kept, verdict = newest_compared(found.document_type, a.engine_version_id, b.engine_version_id)
    assert (kept, verdict.pk if verdict else None) == (found, stored.pk if is_whole else None)
    assert newest_compared(found.document_type, b.engine_version_id, a.engine_version_id) == (found, None)
    entry = AuditEntry.objects.get(action="evaluation.compared")
    assert entry.detail == {
        "set": "test v1",
        "a": a.engine_version_id,
        "b": b.engine_version_id,
        "is_blocked": True,
    }
