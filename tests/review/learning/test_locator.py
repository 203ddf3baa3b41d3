"""A locator learns which candidate is right; the prior keeps what it does as well."""

from collections.abc import Sequence

import numpy as np
import pytest

from inference.fields.learned import PRIOR, LearnedScorer, feature_rows
from inference.fields.score import choose
from review.learning.examples import FieldExample, Outcome
from review.learning.graph import bundle
from review.learning.locator import LEAST_DOCUMENTS, FieldFit, _is_more_than_chance, feature_names, fit_field
from tests.review.learning.examples import TOTAL, lowest_is_right


def fitted(examples: Sequence[FieldExample], seed: int = 0) -> FieldFit:
    return fit_field(examples, feature_names(examples), seed, is_required=True)


def n_found(fit: FieldFit, examples: Sequence[FieldExample]) -> int:
    names = feature_names(examples)
    scorer = LearnedScorer(bundle({"/total": (fit.trees, fit.prior_share)}, names, 2 * len(names) + 1))
    found = 0
    for one in examples:
        choice = choose(scorer.score(TOTAL, one.features), one.keys)
        found += choice is not None and bool(one.is_right[choice.position])
    return found


def test_what_people_settle_is_found_on_documents_that_nobody_has_seen() -> None:
    fit = fitted(lowest_is_right(60))
    unseen = lowest_is_right(50, seed=2)
    assert fit.trees is not None
    assert sum(bool(one.is_right[0]) for one in unseen) < 20
    assert n_found(fit, unseen) >= 45
    assert fit.metrics["found_before"] < 0.4
    assert fit.metrics["found_after"] > 0.85


def test_the_same_examples_in_any_order_and_the_same_seed_learn_the_same() -> None:
    examples = lowest_is_right(40)
    one, same, other = fitted(examples), fitted(examples[::-1]), fitted(examples, seed=1)
    names = feature_names(examples)
    graphs = [bundle({"/total": (fit.trees, fit.prior_share)}, names, 2 * len(names) + 1) for fit in (one, same, other)]
    assert graphs[0] == graphs[1] != graphs[2]
    assert one.metrics == same.metrics


def test_few_labels_change_nothing() -> None:
    fit = fitted(lowest_is_right(LEAST_DOCUMENTS - 1))
    assert (fit.trees, fit.prior_share, fit.metrics["why_not"]) == (None, 1.0, "few_labels")


def test_labels_without_sense_change_nothing() -> None:
    fit = fitted(lowest_is_right(60, share_right=0.0))
    assert (fit.trees, fit.metrics["why_not"]) == (None, "no_gain")
    assert fit.metrics["found_after"] == fit.metrics["found_before"]


@pytest.mark.parametrize(
    ("gain", "is_more"),
    [
        ([0.5, 0.4, 0.6, 0.5], True),
        ([2.0, -1.0, 1.0, -1.0], False),
        ([-0.5, -0.4, -0.6], False),
        ([0.0, 0.0, 0.0], False),
        ([5.0], False),
        ([], False),
    ],
)
def test_a_gain_counts_when_it_is_more_than_chance(gain: list[float], is_more: bool) -> None:
    assert _is_more_than_chance(np.array(gain)) is is_more


def test_nothing_is_learned_of_nothing() -> None:
    fit = fit_field([], [PRIOR], 0, is_required=True)
    assert (fit.trees, fit.metrics["n_documents"], fit.metrics["found_before"]) == (None, 0, None)


def test_a_field_with_one_candidate_each_has_nothing_to_choose() -> None:
    one = lowest_is_right(1)[0]
    alone = [
        FieldExample(
            str(number), "/total", Outcome.MATCHED, one.features[:1], one.prior[:1], one.keys[:1],
            np.array([True]), np.array([True]),
        )
        for number in range(30)
    ]  # fmt: skip
    assert fitted(alone).metrics["why_not"] == "nothing_to_choose"


def test_the_figures_say_what_became_of_each_label() -> None:
    examples = lowest_is_right(30)
    lost = [
        FieldExample(f"x{outcome}", "/total", outcome, (), np.empty(0), (), np.empty(0, bool), np.empty(0, bool))
        for outcome in (Outcome.READ_WRONG, Outcome.NO_CANDIDATE, Outcome.ABSENT)
    ]
    metrics = fitted([*examples, *lost]).metrics
    assert {str(outcome): metrics[outcome] for outcome in Outcome} == {
        "matched": 30,
        "read_wrong": 1,
        "no_candidate": 1,
        "absent": 1,
    }
    assert metrics["n_documents"] == 33


def test_an_optional_field_may_learn_to_stay_empty() -> None:
    examples = lowest_is_right(60)
    absent = [
        FieldExample(
            f"a{one.document}", one.field_path, Outcome.ABSENT,
            [{**features, "top": 0.95} for features in one.features], one.prior, one.keys,
            np.zeros(len(one.keys), bool), np.zeros(len(one.keys), bool),
        )
        for one in lowest_is_right(60, seed=3)
    ]  # fmt: skip
    both = [*examples, *absent]
    fit = fit_field(both, feature_names(both), 0, is_required=False)
    assert fit.metrics["absent"] == 60
    assert fit.trees is not None
    assert fit.metrics["found_after"] > 0.8


def test_names_of_features_are_in_a_fixed_order_with_the_prior_among_them() -> None:
    names = feature_names(lowest_is_right(3))
    assert names == sorted(names)
    assert {PRIOR, "top", "has_value"} <= set(names)


def test_the_graph_scores_as_the_trees_do() -> None:
    examples = lowest_is_right(60)
    fit, names = fitted(examples), feature_names(examples)
    assert fit.trees is not None
    scorer = LearnedScorer(bundle({"/total": (fit.trees, 0.0)}, names, 2 * len(names) + 1))
    for one in examples[:10]:
        rows = feature_rows(one.features, one.prior.tolist(), names)
        assert scorer.score(TOTAL, one.features) == pytest.approx(fit.trees.decision_function(rows), abs=1e-5)
