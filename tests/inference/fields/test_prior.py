import pytest

from inference.fields.prior import BY_TYPE, NEAR_KEYWORDS, PriorScorer, Scorer
from inference.types import ValueType
from tests.inference.fields.pages import field

SCORER: Scorer = PriorScorer()


def score(value_type: ValueType, **features: float) -> float:
    return SCORER.score(field(value_type), [features])[0]


@pytest.mark.parametrize("value_type", sorted(ValueType))
def test_every_value_type_has_weights(value_type: ValueType) -> None:
    assert BY_TYPE[value_type]["bias"] < 0


def test_the_score_is_the_weighted_sum() -> None:
    weights = PriorScorer().weights(field(ValueType.DATE))
    expected = weights["bias"] + 0.5 * weights["keyword_left"] + weights["has_value"]
    assert score(ValueType.DATE, keyword_left=0.5, has_value=1.0, unknown=7.0) == pytest.approx(expected)


def test_no_candidates_no_scores() -> None:
    assert SCORER.score(field(ValueType.DATE), []) == []


def test_one_score_a_candidate_in_order() -> None:
    low, high = SCORER.score(field(ValueType.AMOUNT), [{"keyword_left": 0.0}, {"keyword_left": 1.0}])
    assert high - low == pytest.approx(NEAR_KEYWORDS["keyword_left"])


@pytest.mark.parametrize("value_type", sorted(ValueType))
@pytest.mark.parametrize(
    "feature", ["keyword_left", "keyword_row", "keyword_above", "region", "ocr_score", "pattern", "has_value"]
)
def test_good_signs_never_lower_a_score(value_type: ValueType, feature: str) -> None:
    assert score(value_type, **{feature: 1.0}) >= score(value_type, **{feature: 0.0})


@pytest.mark.parametrize("value_type", sorted(ValueType))
@pytest.mark.parametrize("feature", ["against_left", "against_row", "against_above", "findings"])
def test_bad_signs_never_raise_a_score(value_type: ValueType, feature: str) -> None:
    assert score(value_type, **{feature: 1.0}) <= score(value_type, **{feature: 0.0})


def test_a_type_may_override_a_common_weight() -> None:
    assert PriorScorer().weights(field(ValueType.AMOUNT))["against_above"] == BY_TYPE[ValueType.AMOUNT]["against_above"]


def test_an_unlabelled_amount_is_as_likely_wrong_as_right() -> None:
    plain = {
        "has_value": 1.0,
        "ocr_score": 1.0,
        "pattern": 0.5,
        "region": 0.5,
        "decimals": 1.0,
        "above_zero": 1.0,
        "near_largest": 0.5,
    }
    assert score(ValueType.AMOUNT, **plain) < 0
    assert score(ValueType.AMOUNT, **plain, keyword_left=1.0) > 0
