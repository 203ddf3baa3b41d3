"""The bet holds its level at all thresholds at once, whatever the chances of the trials do."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.routing.betting import alternative_for, log_wealth, trials_needed, upper_limit

LEVEL = 0.05
TARGET = 0.1


def crossings(chances: list[float], alternative: float) -> float:
    """The exact probability that the wealth reaches 1/LEVEL where the mean chance so far exceeds the target."""
    still = {0: 1.0}
    crossed = 0.0
    for k, chance in enumerate(chances, start=1):
        after: dict[int, float] = {}
        for n_wrong, mass in still.items():
            after[n_wrong] = after.get(n_wrong, 0.0) + mass * (1 - chance)
            after[n_wrong + 1] = after.get(n_wrong + 1, 0.0) + mass * chance
        if math.fsum(chances[:k]) / k > TARGET:
            for n_wrong in [*after]:
                if log_wealth(float(k), float(n_wrong), TARGET, alternative) >= -math.log(LEVEL):
                    crossed += after.pop(n_wrong)
        still = after
    return crossed


@given(
    st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.101, 0.12, 0.5, 1.0]), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.02, 0.05, 0.08]),
)
def test_no_order_of_chances_breaks_the_level(chances: list[float], alternative: float) -> None:
    assert crossings(chances, alternative) <= LEVEL + 1e-12


@pytest.mark.parametrize("n", [40, 100, 300])
def test_chances_just_above_the_target_come_near_the_level(n: int) -> None:
    alternative = float(alternative_for(TARGET, n, LEVEL))
    assert LEVEL / 4 < crossings([TARGET + 1e-6] * n, alternative) <= LEVEL


def test_chances_that_fall_and_rise_around_the_target_break_nothing() -> None:
    for period in (5, 50):
        chances = [0.2 if k // period % 2 == 0 else 0.0 for k in range(150)]
        for alternative in (0.0, 0.06):
            assert crossings(chances, alternative) <= LEVEL


@pytest.mark.parametrize(("target", "n"), [(0.005, 598), (0.01, 299), (0.02, 149), (0.1, 29)])
def test_with_nothing_wrong_it_takes_as_many_trials_as_clopper_and_pearson(target: float, n: int) -> None:
    alternative = alternative_for(target, n, LEVEL)
    assert alternative == 0
    assert log_wealth(float(n), 0.0, target, alternative) >= -math.log(LEVEL)
    assert log_wealth(float(n - 1), 0.0, target, alternative) < -math.log(LEVEL)
    assert upper_limit(n, 0, n, LEVEL) <= target < upper_limit(n - 1, 0, n - 1, LEVEL)


def test_who_bets_on_no_error_loses_everything_with_the_first() -> None:
    assert log_wealth(10_000.0, 1.0, 0.01, 0.0) == -math.inf


@pytest.mark.parametrize("n", [1_000, 3_000, 20_000])
def test_the_alternative_allows_the_most_errors_near_its_trial(n: int) -> None:
    def most_allowed(alternative: float) -> float:
        right, wrong = math.log((1 - alternative) / 0.99), math.log(alternative / 0.01)
        return (n * right + math.log(LEVEL)) / (right - wrong)

    chosen = most_allowed(float(alternative_for(0.01, n, LEVEL)))
    best = max(most_allowed(0.01 * k / 200) for k in range(1, 200))
    assert chosen >= best - 0.5


@given(st.integers(0, 60), st.integers(1, 3_000), st.sampled_from([0.05, 0.01]))
def test_the_limit_is_the_least_target_that_is_carried(n_wrong: int, n: int, level: float) -> None:
    n_wrong = min(n_wrong, n)
    limit = upper_limit(n, n_wrong, n, level)
    assert n_wrong / n <= limit <= 1
    # Right below 1 there is no room for a target beyond the limit.
    if limit * (1 + 1e-6) < 1:
        for target, is_carried in ((limit * (1 + 1e-6), True), (limit * (1 - 1e-6), False)):
            wealth = log_wealth(float(n), float(n_wrong), target, alternative_for(target, n, level))
            assert (wealth >= -math.log(level)) == is_carried


def test_nothing_examined_limits_nothing() -> None:
    assert upper_limit(0, 0, 1, LEVEL) == 1
    assert upper_limit(5, 5, 5, LEVEL) == 1


@pytest.mark.parametrize(("n", "n_wrong", "level"), [(3, 4, 0.05), (3, -1, 0.05), (3, 1, 0.0), (3, 1, 1.0)])
def test_counts_and_levels_that_cannot_be_are_refused(n: int, n_wrong: int, level: float) -> None:
    with pytest.raises(ValueError, match="lies between"):
        upper_limit(n, n_wrong, max(n, 1), level)


def test_the_trials_needed_carry_the_target_and_hardly_fewer_do() -> None:
    wrong, part = np.array([0.0, 0.0, 0.003, 0.006]), np.array([1.0, 0.5, 1.0, 0.4])
    needed = trials_needed(wrong, part, 0.01, LEVEL)
    for n, share, q in zip(needed, wrong, part, strict=True):
        for factor, is_carried in ((1.0, True), (0.99, False)):
            above = factor * n * q
            wealth = log_wealth(above, above * share, 0.01, alternative_for(0.01, above, LEVEL))
            assert (wealth >= -math.log(LEVEL)) == is_carried
    assert needed[0] == 299


def test_rarer_errors_need_fewer_trials_and_too_many_errors_more_than_there_are() -> None:
    needed = trials_needed(np.array([0.0, 0.002, 0.005, 0.009, 0.01, 0.5]), np.ones(6), 0.01, LEVEL)
    assert needed.tolist() == sorted(needed.tolist())
    assert np.isfinite(needed).tolist() == [True, True, True, True, False, False]
