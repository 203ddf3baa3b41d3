from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from review.accuracy.intervals import AccuracyEstimate, clopper_pearson, wilson

METHODS = {"wilson": wilson, "clopper_pearson": clopper_pearson}
SCIPY: dict[str, Literal["wilson", "exact"]] = {"wilson": "wilson", "clopper_pearson": "exact"}

counts = st.integers(0, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (19, 20), (95, 100), (999, 1000)])
def test_intervals_agree_with_another_implementation(name: str, level: float, right: int, n: int) -> None:
    ours = METHODS[name](right, n, level)
    theirs = stats.binomtest(right, n).proportion_ci(level, method=SCIPY[name])
    assert ours.point == right / n
    assert (ours.lower, ours.upper) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert (ours.level, ours.estimator, ours.n) == (level, name, n)


@pytest.mark.parametrize("name", METHODS)
def test_nothing_examined_means_nothing_known(name: str) -> None:
    assert METHODS[name](0, 0) == AccuracyEstimate(None, 0.0, 1.0, 0.95, name, 0)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("right", "n"), [(-1, 2), (3, 2), (0, -1)])
def test_impossible_counts_are_refused(name: str, right: int, n: int) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        METHODS[name](right, n)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -1.0, float("nan")])
def test_impossible_levels_are_refused(name: str, level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        METHODS[name](1, 2, level)


@settings(deadline=None)
@given(counts)
def test_an_interval_holds_its_point_within_0_1(pair: tuple[int, int]) -> None:
    for method in METHODS.values():
        estimate = method(*pair)
        if estimate.point is not None:
            assert 0 <= estimate.lower <= estimate.point <= estimate.upper <= 1
            assert (estimate.lower == 0) == (pair[0] == 0)
            assert (estimate.upper == 1) == (pair[0] == pair[1])


@settings(deadline=None)
@given(counts)
def test_right_and_wrong_mirror_each_other(pair: tuple[int, int]) -> None:
    right, n = pair
    for method in METHODS.values():
        one, other = method(right, n), method(n - right, n)
        assert (one.lower, one.upper) == pytest.approx((1 - other.upper, 1 - other.lower), abs=1e-9)


@pytest.mark.parametrize("accuracy", [0.9, 0.99, 0.999])
@pytest.mark.parametrize("n", [5, 50, 500])
def test_the_exact_interval_never_covers_less_than_its_level(accuracy: float, n: int) -> None:
    right = np.arange(n + 1)
    covers = [e.lower <= accuracy <= e.upper for e in (clopper_pearson(int(k), n) for k in right)]
    assert float(stats.binom.pmf(right, n, accuracy)[covers].sum()) >= 0.95
