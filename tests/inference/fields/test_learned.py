"""What was learned scores what the prior proposes; bytes that are no such graph are refused."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from inference.errors import ModelDamagedError
from inference.fields.learned import FORMAT, METADATA, PRIOR, PROPOSED, LearnedScorer, feature_rows
from inference.fields.locate import locate
from inference.fields.prior import PriorScorer
from inference.types import DocumentTypeSpec, ValueType
from tests.inference.fields.locators import locator_bytes
from tests.inference.fields.pages import field, reading

TOTAL = field(ValueType.AMOUNT, path="/total", keywords=("total",))
OTHER = field(ValueType.AMOUNT, path="/other")


def candidates(n: int) -> list[dict[str, float]]:
    """The prior likes the first best, each one less than the one before."""
    return [{"keyword_left": 1 - number / n, "right": number / n, "has_value": 1.0} for number in range(n)]


def test_a_field_is_scored_by_what_was_learned_of_it() -> None:
    scorer = LearnedScorer(locator_bytes({"/total": {"right": 2.0, "bias": -1.0}}))
    assert scorer.field_paths == ("/total",)
    assert scorer.score(TOTAL, candidates(3)) == pytest.approx([-1.0, -1 / 3, 1 / 3])


def test_a_field_of_which_nothing_was_learned_is_the_priors() -> None:
    scorer = LearnedScorer(locator_bytes({"/total": {"right": 2.0}}))
    assert scorer.score(OTHER, candidates(3)) == PriorScorer().score(OTHER, candidates(3))


def test_nothing_to_score_is_no_score() -> None:
    assert LearnedScorer(locator_bytes({"/total": {"right": 2.0}})).score(TOTAL, []) == []


def test_the_priors_share_is_between_both() -> None:
    prior = PriorScorer().score(TOTAL, candidates(2))
    learned = LearnedScorer(locator_bytes({"/total": {"right": 2.0}})).score(TOTAL, candidates(2))
    half = LearnedScorer(locator_bytes({"/total": {"right": 2.0}}, prior_share=0.5)).score(TOTAL, candidates(2))
    assert half == pytest.approx([(one + other) / 2 for one, other in zip(prior, learned, strict=True)])


def test_the_prior_is_a_feature_like_any_other() -> None:
    scorer = LearnedScorer(locator_bytes({"/total": {PRIOR: 1.0}}))
    assert scorer.score(TOTAL, candidates(4)) == pytest.approx(PriorScorer().score(TOTAL, candidates(4)), abs=1e-5)


def test_what_the_prior_does_not_propose_wins_over_nothing_that_it_does() -> None:
    many = candidates(PROPOSED + 5)
    scores = LearnedScorer(locator_bytes({"/total": {"right": 100.0}})).score(TOTAL, many)
    assert max(range(len(many)), key=lambda row: scores[row]) == PROPOSED - 1
    assert max(scores[PROPOSED:]) <= min(scores[:PROPOSED])
    assert scores[PROPOSED:] == sorted(scores[PROPOSED:], reverse=True)


def test_what_the_prior_does_not_propose_stays_below_however_little_is_believed_of_the_rest() -> None:
    many = candidates(PROPOSED + 5)
    scores = LearnedScorer(locator_bytes({"/total": {"bias": -1000.0}})).score(TOTAL, many)
    assert scores == [-1000.0] * len(many)


def test_a_row_tells_a_candidate_by_itself_and_beside_the_others() -> None:
    rows = feature_rows([{"top": 0.5}, {"top": 0.75}], [2.0, 1.0], ["new", PRIOR, "top"])
    assert rows.dtype == np.float32
    assert rows.tolist() == pytest.approx(
        np.array([[0.0, 2.0, 0.5, 0.0, 0.0, -0.25, 0.0], [0.0, 1.0, 0.75, 0.0, -1.0, 0.0, 1 / PROPOSED]])
    )
    assert feature_rows([], [], ["a", "b"]).shape == (0, 5)


def test_it_decides_which_value_a_field_has() -> None:
    page = reading(("Total", 100, 500), ("9.00", 700, 500), ("Paid", 100, 600), ("20.00", 700, 600))
    spec = DocumentTypeSpec(fields=(TOTAL,))
    (by_prior,) = locate([page], spec)
    (learned,) = locate([page], spec, LearnedScorer(locator_bytes({"/total": {"top": -50.0, "bias": 30.0}})))
    assert (by_prior.value, learned.value) == ("9.00", "20.00")


def _without_metadata() -> bytes:
    rows = helper.make_tensor_value_info("rows", TensorProto.FLOAT, [None, 1])
    out = helper.make_tensor_value_info("o", TensorProto.FLOAT, [None, 1])
    graph = helper.make_graph([helper.make_node("Identity", ["rows"], ["o"])], "g", [rows], [out])
    return bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()
    )


def test_bytes_that_are_no_locator_are_refused() -> None:
    good = locator_bytes({"/total": {"right": 2.0}})
    broken = [b"", b"not a graph", good[: len(good) // 2], _without_metadata()]
    broken.append(good.replace(f'"format": {FORMAT}'.encode(), f'"format": {FORMAT + 1}'.encode()))
    broken.append(good.replace(b'"output": "o0"', b'"output": "o7"'))
    assert len({bytes(one) for one in broken}) == len(broken)
    assert METADATA.encode() in good
    for payload in broken:
        with pytest.raises(ModelDamagedError):
            LearnedScorer(payload)
