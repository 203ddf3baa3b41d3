import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from review.accuracy.estimators import WEIGHTS, Moments, hajek, reader_weight, unseen_weight
from review.accuracy.intervals import AccuracyEstimate, clopper_pearson
from review.routing.decide import FieldEvidence, decide
from review.routing.policy import PolicyRules, Thresholds

weights = st.one_of(st.sampled_from([1.0, 5.0, 10.0, 50.0]), st.floats(1e-3, 1e3))
samples = st.lists(st.tuples(weights, st.booleans()), min_size=1, max_size=60)
levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])


def moments(rows: list[tuple[float, bool]]) -> Moments:
    return Moments.of([weight for weight, _ in rows], [right for _, right in rows])


def ends(estimate: AccuracyEstimate) -> tuple[float, float]:
    return estimate.lower, estimate.upper


@pytest.mark.parametrize(("pi", "reader", "unseen"), [(1.0, 1.0, 0.0), (0.2, 5.0, 4.0), (0.02, 50.0, 49.0)])
def test_a_field_stands_for_itself_and_for_those_not_looked_at(pi: float, reader: float, unseen: float) -> None:
    assert reader_weight(pi) == pytest.approx(reader)
    assert unseen_weight(pi) == pytest.approx(unseen)
    assert WEIGHTS["reader"](pi) - WEIGHTS["unseen"](pi) == pytest.approx(1)


@pytest.mark.parametrize("pi", [0.0, -0.1, 1.01, math.nan, math.inf])
@pytest.mark.parametrize("population", ["reader", "unseen"])
def test_a_field_without_a_chance_has_no_weight(population: str, pi: float) -> None:
    with pytest.raises(ValueError, match="inclusion probability"):
        WEIGHTS[population](pi)


def test_moments_are_the_sums_they_are_called() -> None:
    assert Moments.of([1, 2, 50], [True, False, True]) == Moments(3, 53, 51, 2505, 2501)
    assert Moments.of([], []) == Moments()


def test_fields_that_are_never_stored_unseen_are_no_part_of_that_sample() -> None:
    assert Moments.of([0, 0, 4], [False, True, True]) == Moments(1, 4, 4, 16, 16)


@pytest.mark.parametrize("bad", [[-1.0], [math.nan], [math.inf]])
def test_weights_that_are_none_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        Moments.of(bad, [True])


@pytest.mark.parametrize(("w", "y"), [([1, 2], [True]), ([[1]], [[True]]), (1, True)])
def test_sequences_that_do_not_match_are_refused(w: object, y: object) -> None:
    with pytest.raises(ValueError, match="one length"):
        Moments.of(w, y)  # type: ignore[arg-type]


def test_anything_but_right_or_wrong_is_refused() -> None:
    with pytest.raises(ValueError, match="true and false"):
        Moments.of([1, 1], [0.5, 1])


@settings(deadline=None)
@given(samples, st.integers(0, 60), levels)
def test_roll_ups_of_any_partition_give_the_same_estimate(
    rows: list[tuple[float, bool]], cut: int, level: float
) -> None:
    parts = [moments(rows[:cut]), moments(rows[cut:][::-1]), Moments()]
    whole, summed = hajek(moments(rows), level), hajek(sum(parts, Moments()), level)
    assert summed.n == whole.n == len(rows)
    assert summed.point == pytest.approx(whole.point)
    assert ends(summed) == pytest.approx(ends(whole), abs=1e-6)


@settings(deadline=None)
@given(samples, levels)
def test_the_point_is_the_weighted_mean_and_lies_in_its_interval(rows: list[tuple[float, bool]], level: float) -> None:
    estimate = hajek(moments(rows), level)
    expected = np.average([right for _, right in rows], weights=[weight for weight, _ in rows])
    assert estimate.point == pytest.approx(float(expected), abs=1e-9)
    assert estimate.point is not None
    assert 0 <= estimate.lower <= estimate.point <= estimate.upper <= 1
    assert (estimate.level, estimate.estimator) == (level, "hajek")


@settings(deadline=None)
@given(samples)
def test_the_interval_is_wider_at_a_higher_level(rows: list[tuple[float, bool]]) -> None:
    low, high = hajek(moments(rows), 0.8), hajek(moments(rows), 0.99)
    assert high.lower <= low.lower
    assert low.upper <= high.upper


@settings(deadline=None)
@given(samples, st.floats(1e-2, 1e2))
def test_the_unit_of_the_weights_does_not_matter(rows: list[tuple[float, bool]], unit: float) -> None:
    one, other = hajek(moments(rows)), hajek(moments([(weight * unit, right) for weight, right in rows]))
    assert ends(one) == pytest.approx(ends(other), abs=1e-6)


@settings(deadline=None)
@given(samples)
def test_right_and_wrong_mirror_each_other(rows: list[tuple[float, bool]]) -> None:
    one, other = hajek(moments(rows)), hajek(moments([(weight, not right) for weight, right in rows]))
    assert ends(one) == pytest.approx((1 - other.upper, 1 - other.lower), abs=1e-6)


@settings(deadline=None)
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), weights, levels)
def test_equal_weights_give_clopper_pearson(pair: tuple[int, int], weight: float, level: float) -> None:
    right, n = pair
    estimate = hajek(moments([(weight, True)] * right + [(weight, False)] * (n - right)), level)
    assert ends(estimate) == pytest.approx(ends(clopper_pearson(right, n, level)), abs=1e-6)


@settings(deadline=None)
@given(samples, levels)
def test_all_right_gives_clopper_pearson_for_the_effective_size(rows: list[tuple[float, bool]], level: float) -> None:
    sample = moments([(weight, True) for weight, _ in rows])
    estimate = hajek(sample, level)
    # With n right of n the exact lower limit is the n-th root of the tail, for any n, whole or not.
    assert estimate.lower == pytest.approx(((1 - level) / 2) ** (1 / sample.effective_n), abs=1e-6)
    assert (estimate.point, estimate.upper) == (1, 1)


@settings(deadline=None)
@given(samples)
def test_the_effective_size_is_at_most_the_size(rows: list[tuple[float, bool]]) -> None:
    assert 1 - 1e-9 <= moments(rows).effective_n <= len(rows) + 1e-9


def test_nothing_examined_means_nothing_known() -> None:
    assert hajek(Moments()) == AccuracyEstimate(None, 0.0, 1.0, 0.95, "hajek", 0)
    assert Moments().effective_n == 0


def test_one_field_says_almost_nothing() -> None:
    assert ends(hajek(Moments.of([50], [True]))) == pytest.approx((0.025, 1.0))
    assert ends(hajek(Moments.of([50], [False]))) == pytest.approx((0.0, 0.975))


def test_many_light_fields_do_not_hide_that_a_heavy_band_was_hardly_looked_at() -> None:
    # 400 documents: 300 automatic of which 6 were audited, all right; 100 reviewed, 10 of them wrong.
    sample = Moments.of([50.0] * 6 + [1.0] * 100, [True] * 96 + [False] * 10)
    estimate = hajek(sample)
    assert estimate.point == pytest.approx(0.975)
    # Were a third of the automatic wrong, 6 right ones would still come in 1 of 11 samples.
    assert estimate.lower < 0.75


@settings(deadline=None)
@given(samples)
def test_a_further_right_field_never_lowers_the_point(rows: list[tuple[float, bool]]) -> None:
    before, after = hajek(moments(rows)).point, hajek(moments([*rows, (1.0, True)])).point
    assert before is not None
    assert after is not None
    assert after >= before - 1e-12


@settings(deadline=None)
@given(samples, st.integers(2, 20))
def test_the_same_sample_many_times_narrows_the_interval(rows: list[tuple[float, bool]], times: int) -> None:
    one, many = hajek(moments(rows)), hajek(moments(rows * times))
    assume(one.upper - one.lower > 1e-6)
    assert many.upper - many.lower < one.upper - one.lower


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, math.nan])
def test_impossible_levels_are_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level"):
        hajek(Moments.of([1], [True]), level)


@pytest.mark.parametrize(
    "impossible",
    [
        Moments(-1, 1, 1, 1, 1),
        Moments(1, 0, 0, 0, 0),
        Moments(1, math.nan, 1, 1, 1),
        Moments(1, math.inf, 1, 1, 1),
        Moments(1, 1, 2, 1, 1),
        Moments(1, 1, -1, 1, 1),
        Moments(1, 1, math.nan, 1, 1),
        Moments(1, 1, 1, 0, 0),
    ],
)
def test_moments_that_no_sample_has_are_refused(impossible: Moments) -> None:
    with pytest.raises(ValueError, match="moments"):
        hajek(impossible)


@pytest.mark.parametrize("drift", [1e-12, -1e-12])
def test_rounding_in_a_roll_up_makes_no_error_out_of_nothing(drift: float) -> None:
    all_right = hajek(Moments(3, 100, 100 * (1 + drift), 5000, 5000))
    assert all_right.upper == 1
    assert all_right.point == pytest.approx(1)
    all_wrong = hajek(Moments(3, 100, 100 * drift, 5000, 0))
    assert all_wrong.lower == 0
    assert all_wrong.point == pytest.approx(0, abs=1e-9)


KINDS = {
    # (confidence of the field asked about, of another required one, chance that the field is right)
    "auto": (0.99, 0.99, 0.98),
    "sampled": (0.7, 0.99, 0.9),
    "clear in review": (0.99, 0.1, 0.95),
    "doubtful": (0.1, 0.99, 0.6),
}


@pytest.mark.parametrize("population", ["reader", "unseen"])
def test_over_many_draws_of_the_router_the_point_meets_the_truth(population: str) -> None:
    rules = PolicyRules(Thresholds(0.9, 0.5), audit_auto_share=0.1, audit_sampled_share=0.3, full_examination_share=0.2)
    random = np.random.default_rng(7)
    kinds = random.choice(list(KINDS), size=300, p=[0.5, 0.2, 0.15, 0.15])
    is_right = [bool(random.random() < KINDS[kind][2]) for kind in kinds]
    documents = [[FieldEvidence(path, KINDS[kind][at], True, True) for at, path in enumerate("ab")] for kind in kinds]
    points, targets, naive = [], [], []
    for policy in range(150):
        looked = [decide(fields, rules, str(at), str(policy)).fields[0] for at, fields in enumerate(documents)]
        seen = [(own.inclusion_probability, y) for own, y in zip(looked, is_right, strict=True) if own.is_to_examine]
        points.append(hajek(Moments.of([WEIGHTS[population](pi) for pi, _ in seen], [y for _, y in seen])).point)
        naive.append(np.mean([y for _, y in seen]))
        unseen = [y for own, y in zip(looked, is_right, strict=True) if not own.is_to_examine]
        targets.append(np.mean(is_right if population == "reader" else unseen))
    differences = np.array(points, dtype=float) - np.array(targets)
    assert abs(differences.mean()) < 4 * differences.std() / math.sqrt(len(differences))
    assert abs(differences.mean()) < 0.01
    # The plain mean of what was looked at is another number altogether.
    assert np.mean(targets) - np.mean(naive) > 0.05
