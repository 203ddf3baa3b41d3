import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.score import (
    CAPPED_BY_FINDING,
    MAX_MARGIN,
    WEIGHTS,
    Choice,
    choose,
    confidence_from,
    evidence_for,
    image_quality,
)

SCORES = st.lists(st.floats(-50, 50), min_size=1, max_size=8)


def test_nothing_to_choose_from() -> None:
    assert choose([], []) is None


def test_the_highest_score_wins() -> None:
    choice = choose([1.0, 5.0, 3.0], ["a", "b", "c"])
    assert choice is not None
    assert choice.position == 1
    assert choice.supporters == 0
    assert choice.margin == pytest.approx((5.0 - 3.0) / 1.5)


def test_equal_values_add_up_and_can_overtake() -> None:
    choice = choose([3.0, 2.8, 2.8], ["a", "b", "b"])
    assert choice is not None
    assert choice.position == 1
    assert choice.supporters == 1


def test_no_candidate_competes_with_a_score_of_zero() -> None:
    lonely = choose([0.0], ["a"])
    bad = choose([-3.0], ["a"])
    assert lonely is not None
    assert bad is not None
    assert [lonely.share, lonely.margin] == pytest.approx([0.5, 0.0])
    assert bad.share < 0.5
    assert bad.margin < 0


@pytest.mark.parametrize("score", [-1e6, 1e6])
def test_scores_of_any_size_are_survived(score: float) -> None:
    choice = choose([score, score], ["a", "b"])
    assert choice is not None
    assert math.isfinite(choice.share)
    assert math.isfinite(choice.margin)


@given(SCORES)
def test_the_share_is_a_share_and_the_winner_beats_its_rivals(scores: list[float]) -> None:
    keys = [str(number) for number in range(len(scores))]
    choice = choose(scores, keys)
    assert choice is not None
    assert 0.0 <= choice.share <= 1.0
    assert scores[choice.position] == max(scores)


@given(SCORES, st.floats(0.1, 10))
def test_a_better_winner_is_surer(scores: list[float], gain: float) -> None:
    keys = [str(number) for number in range(len(scores))]
    before = choose(scores, keys)
    assert before is not None
    scores[before.position] += gain
    after = choose(scores, keys)
    assert after is not None
    assert after.position == before.position
    assert after.share >= before.share
    assert after.margin > before.margin


def test_evidence_is_named_and_bounded() -> None:
    features = {
        "keyword_left": 0.4,
        "keyword_above": 0.9,
        "pattern": 1.0,
        "ocr_score": 0.8,
        "region": 0.7,
        "inside_after": 1.0,
    }
    evidence = evidence_for(features, Choice(0, 0.9, 40.0, 5), {})
    assert evidence == {
        "share": 0.9,
        "margin": MAX_MARGIN,
        "keyword": 0.9,
        "agreement": 1.0,
        "only": 0.0,
        "pattern": 1.0,
        "ocr_score": 0.8,
        "region": 0.7,
        "boundary": 0.0,
    }


@pytest.mark.parametrize(
    ("choice", "is_typed", "only"),
    [
        (Choice(0, 0.8, 1.4, 0, n_values=1), True, 0.8),
        (Choice(0, 0.8, 1.4, 0, n_values=1), False, 0.0),
        (Choice(0, 0.8, 1.4, 0, n_values=2), True, 0.0),
        (Choice(0, 0.4, -0.4, 0, n_values=1), True, 0.0),
    ],
)
def test_the_only_value_of_its_type_is_evidence_once_it_is_believed(
    choice: Choice, is_typed: bool, only: float
) -> None:
    assert evidence_for({}, choice, {}, is_typed=is_typed)["only"] == only


def test_a_choice_counts_the_values_it_was_made_from() -> None:
    alone, rival = choose([2.0, 2.0], ["a", "a"]), choose([2.0, 2.0], ["a", "b"])
    assert alone is not None
    assert rival is not None
    assert (alone.n_values, rival.n_values) == (1, 2)


def test_a_negative_margin_counts_as_none() -> None:
    assert evidence_for({}, Choice(0, 0.1, -4.0, 0), {})["margin"] == 0.0


def test_image_quality_is_evidence_when_it_was_measured() -> None:
    assert "quality" not in evidence_for({}, Choice(0, 1.0, 1.0, 0), {})
    measured = evidence_for({}, Choice(0, 1.0, 1.0, 0), {"contrast": 0.15, "sharpness": 5000.0})
    assert measured["quality"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("measures", "quality"),
    [
        ({"contrast": 0.5, "sharpness": 3000.0, "skew_degrees": -1.0}, 1.0),
        ({"sharpness": 80.0}, 0.1),
        ({"skew_degrees": -6.0}, 0.5),
        ({"skew_degrees": 45.0}, 0.0),
        ({"contrast": -0.2}, 0.0),
        ({"brightness": 0.1}, 1.0),
        ({}, 1.0),
    ],
)
def test_quality_is_the_worst_measure(measures: dict[str, float], quality: float) -> None:
    assert image_quality(measures) == pytest.approx(quality)


EVIDENCE = st.fixed_dictionaries({name: st.floats(0, MAX_MARGIN if name == "margin" else 1) for name in WEIGHTS})


@given(EVIDENCE)
def test_confidence_is_a_share(evidence: dict[str, float]) -> None:
    assert 0.0 < confidence_from(evidence, []) < 1.0


@given(EVIDENCE, st.sampled_from(sorted(WEIGHTS)), st.floats(0, 1))
def test_more_evidence_never_lowers_confidence(evidence: dict[str, float], name: str, gain: float) -> None:
    more = {**evidence, name: evidence[name] + gain}
    assert confidence_from(more, []) >= confidence_from(evidence, [])


@given(EVIDENCE)
def test_any_finding_caps_confidence(evidence: dict[str, float]) -> None:
    capped = confidence_from(evidence, ["date_ambiguous"])
    assert capped == min(confidence_from(evidence, []), CAPPED_BY_FINDING)


def test_unmeasured_quality_counts_as_good() -> None:
    evidence = dict.fromkeys(WEIGHTS, 1.0)
    unmeasured = {name: value for name, value in evidence.items() if name != "quality"}
    assert confidence_from(unmeasured, []) == confidence_from(evidence, [])


def test_a_bad_image_lowers_confidence() -> None:
    evidence = dict.fromkeys(WEIGHTS, 1.0)
    assert confidence_from({**evidence, "quality": 0.0}, []) < confidence_from(evidence, [])


def test_strong_evidence_is_sure_and_weak_evidence_is_not() -> None:
    strong = dict.fromkeys(WEIGHTS, 1.0) | {"margin": MAX_MARGIN}
    weak = dict.fromkeys(WEIGHTS, 0.0) | {"ocr_score": 0.9}
    assert confidence_from(strong, []) > 0.9
    assert confidence_from(weak, []) < 0.1
