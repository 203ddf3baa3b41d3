"""Directed audits find more, and estimates from them are as true as from undirected ones."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.routing.directed import (
    DirectedError,
    DirectedRule,
    disagreement,
    doubt,
    interest,
    novelty,
    rule_for,
)

SHARES = st.floats(0, 1)


@given(st.lists(SHARES, min_size=1, max_size=50), st.floats(0.001, 1), st.floats(0.05, 1))
def test_every_document_keeps_its_floor_and_the_audits_add_up_to_the_rate(
    interests: list[float], rate: float, floor_share: float
) -> None:
    rule = rule_for(interests, rate=rate, floor_share=floor_share)
    chances = [rule.inclusion_probability(one) for one in interests]
    assert all(0 < rule.floor <= chance <= 1 for chance in chances)
    assert np.mean(chances) <= rate * (1 + 1e-9)
    # Only where nothing but certainty is left for all who are of any interest can the rate not be spent.
    is_spent = np.mean(chances) == pytest.approx(rate, rel=1e-6)
    assert is_spent or all(chance > 1 - 1e-6 for chance, one in zip(chances, interests, strict=True) if one > 1e-9)


@given(SHARES, SHARES)
def test_more_interest_never_means_fewer_audits(one: float, other: float) -> None:
    rule = DirectedRule(0.2, 0.05, 0.3)
    low, high = sorted((one, other))
    assert rule.inclusion_probability(low) <= rule.inclusion_probability(high)


@pytest.mark.parametrize("least", [0.0, 5e-324, 1e-12])
def test_documents_without_any_interest_are_audited_at_the_rate(least: float) -> None:
    rule = rule_for([0.0, least], rate=0.2)
    assert {rule.inclusion_probability(one) for one in (0.0, 0.5, 1.0)} == {0.2}


def test_a_floor_at_the_rate_directs_nothing() -> None:
    rule = rule_for([0.1, 0.9], rate=0.2, floor_share=1.0)
    assert {rule.inclusion_probability(one) for one in (0.0, 0.5, 1.0)} == {0.2}


def audited(seed: int, *, is_directed: bool) -> tuple[float, float, float]:
    """Accuracy estimated and true of one world, and the errors that the audits found; interest tells of errors."""
    random = np.random.default_rng(seed)
    n = 2_000
    confidence = random.beta(6, 1, n)
    # Confidence promises too much where a document is new, and novelty alone knows.
    new = random.random(n) < 0.1
    is_right = random.random(n) < np.where(new, 0.6, confidence)
    interests = [interest({"doubt": doubt([one]), "novelty": float(is_new)})
                 for one, is_new in zip(confidence.tolist(), new.tolist(), strict=True)]  # fmt: skip
    rule = rule_for(interests, rate=0.1, floor_share=0.4 if is_directed else 1.0)
    chances = np.array([rule.inclusion_probability(one) for one in interests])
    drawn = random.random(n) < chances
    # Horvitz and Thompson's total over the known number of documents.
    total = float((is_right[drawn] / chances[drawn]).sum()) / n
    return total, float(is_right.mean()), float((~is_right[drawn]).sum())


def test_estimates_from_directed_audits_are_unbiased_and_the_audits_find_more() -> None:
    directed = np.array([audited(seed, is_directed=True) for seed in range(60)])
    plain = np.array([audited(seed, is_directed=False) for seed in range(60)])
    for worlds in (directed, plain):
        errors = worlds[:, 0] - worlds[:, 1]
        assert abs(errors.mean()) <= 3 * errors.std(ddof=1) / np.sqrt(len(errors))
    assert directed[:, 2].mean() > 1.2 * plain[:, 2].mean()


def test_taking_directed_audits_for_a_plain_sample_would_be_biased() -> None:
    gaps = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        is_right = random.random(4_000) < 0.9
        chances = np.where(is_right, 0.1, 0.3)
        gaps.append(is_right[random.random(4_000) < chances].mean() - is_right.mean())
    assert np.mean(gaps) < -0.1


def test_doubt_is_the_root_of_the_chance_that_anything_is_wrong() -> None:
    assert doubt([0.9, 0.9]) == pytest.approx(np.sqrt(1 - 0.81))
    assert doubt([1.0, 1.0]) == 0
    assert doubt([]) == 1
    assert doubt([None]) == doubt([0.5]) == doubt([7.0])


def test_disagreement_counts_fields_that_two_readers_gave() -> None:
    assert disagreement([["1", "1"], ["1", "2"], ["3"]]) == 0.5
    assert disagreement([["1", None], ["2", "2", "2"]]) == 0.5
    assert disagreement([]) == disagreement([["1"]]) == 0


def test_what_is_like_nothing_known_is_new() -> None:
    assert novelty(None) == 1
    assert novelty(0.75) == 0.25
    assert novelty(1.2) == 0


def test_interest_weighs_the_kinds_that_are_known() -> None:
    assert interest({"doubt": 0.5, "disagreement": 1.0, "novelty": 0.0}) == pytest.approx(0.6 * 0.5 + 0.2)
    assert interest({"doubt": 0.5}) == 0.5
    assert interest({"doubt": 0.0, "novelty": 1.0}) == pytest.approx(0.25)


@pytest.mark.parametrize("kinds", [{}, {"mood": 0.5}, {"doubt": 1.5}, {"doubt": float("nan")}])
def test_interest_in_nothing_known_is_refused(kinds: dict[str, float]) -> None:
    with pytest.raises(DirectedError, match="doubt"):
        interest(kinds)


def test_a_rule_is_plain_data() -> None:
    rule = rule_for([0.1, 0.5], rate=0.2)
    assert DirectedRule.from_json(json.loads(json.dumps(rule.as_json()))) == rule


@pytest.mark.parametrize(
    "data",
    [{}, {"rate": 0.2, "floor": 0.3, "scale": 0.5}, {"rate": 0.2, "floor": 0, "scale": 0.5},
     {"rate": 0.2, "floor": 0.1, "scale": 0}, {"rate": "x", "floor": 0.1, "scale": 0.5}],
)  # fmt: skip
def test_stored_data_that_are_no_rule_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(DirectedError):
        DirectedRule.from_json(data)


@pytest.mark.parametrize("one", [-0.1, 1.1, float("nan")])
def test_interest_outside_its_range_is_refused(one: float) -> None:
    with pytest.raises(DirectedError, match="interest"):
        DirectedRule(0.2, 0.1, 0.5).inclusion_probability(one)
    with pytest.raises(DirectedError, match="interests"):
        rule_for([one], rate=0.2)


def test_a_rule_of_no_documents_is_refused() -> None:
    with pytest.raises(DirectedError, match="past documents"):
        rule_for([], rate=0.2)
