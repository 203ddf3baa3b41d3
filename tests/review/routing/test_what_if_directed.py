"""Rules that direct their audits, tried on what was routed: each document with its own chance, never with the mean."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from review.routing.bands import Band
from review.routing.decide import base_share
from review.routing.policy import Directed, PolicyRules, Thresholds
from review.routing.what_if import BandCounts, RoutedField, unseen_weight_under, what_if

LIMITS = Thresholds(auto=0.9, review=0.6)
DIRECTED = PolicyRules(
    default=LIMITS,
    audit_auto_share=0.05,
    audit_sampled_share=0.4,
    directed=Directed(floor_share=0.25, scale=0.3),
)
"""A fairly sure document of interest x is audited with 0.1 + x, at most 1: with the rate itself at 0.3."""


def routed(confidence: float, interest: float | None) -> RoutedField:
    return RoutedField("/total", confidence, Band.SAMPLED, (), interest)


@pytest.mark.parametrize(
    ("confidence", "interest", "probability", "weight"),
    [
        (0.7, 0.0, 0.1, 9.0),
        (0.7, 0.3, 0.4, 1.5),
        (0.7, 0.8, 0.9, 1 / 9),
        # Drawn under rules of another direction: it stands for 1/pi by the old, of which the new leave out their share.
        (0.7, 0.1, 0.25, 3.2),
        (0.7, 1.0, 0.5, 0.0),
        (0.7, None, 0.4, 1.5),
        # Only the audits of what is fairly sure go by interest.
        (0.95, 0.8, 0.05, 19.0),
        (0.5, 0.8, 1.0, 0.0),
    ],
)
def test_an_examined_field_stands_for_what_audits_of_such_a_document_leave_out(
    confidence: float, interest: float | None, probability: float, weight: float
) -> None:
    assert unseen_weight_under(DIRECTED, routed(confidence, interest), probability) == pytest.approx(weight)


def test_people_look_at_the_doubtful_and_at_each_other_document_with_its_own_chance() -> None:
    pairs = [(0.7, 0.0), (0.7, 0.5), (0.7, 1.0), (0.7, None), (0.95, 1.0), (0.5, 0.0)]
    documents = [[routed(*pair)] for pair in pairs]
    outcome = what_if(documents, DIRECTED)
    assert outcome.documents == BandCounts(n_auto=1, n_sampled=4, n_review=1)
    assert outcome.n_looked_at == pytest.approx(0.1 + 0.6 + 1.0 + 0.4 + 0.05 + 1.0)
    alike = PolicyRules(default=LIMITS, audit_auto_share=0.05, audit_sampled_share=0.4)
    assert what_if(documents, alike).n_looked_at == pytest.approx(4 * 0.4 + 0.05 + 1.0)


def the_mean_then(rules: PolicyRules, field: RoutedField, probability: float) -> float:
    """A weight that takes the mean chance for the one that the document had."""
    return unseen_weight_under(rules, field, rules.audit_sampled_share)


def the_mean_under_the_rules(rules: PolicyRules, field: RoutedField, probability: float) -> float:
    """A weight that takes the mean chance for the one that the document would have."""
    return (1 - base_share(Band.SAMPLED, rules)) / probability


@pytest.mark.parametrize(
    ("weigh", "is_unbiased"),
    [(unseen_weight_under, True), (the_mean_then, False), (the_mean_under_the_rules, False)],
)
def test_the_estimate_is_unbiased_under_directed_audits_and_the_mean_rate_is_not(
    weigh: Callable[[PolicyRules, RoutedField, float], float], is_unbiased: bool
) -> None:
    """800 documents, the more interesting the oftener wrong, drawn 400 times under one direction and tried in another.

    Estimated is how many wrong values would be stored unseen; how many that is on average is known here.
    """
    generator = np.random.default_rng(11)
    interests = generator.beta(1, 2, 800)
    is_wrong = generator.random(800) < 0.02 + 0.5 * interests
    before = PolicyRules(
        default=LIMITS, audit_sampled_share=0.3, directed=Directed(floor_share=0.5, scale=float(interests.mean()))
    )
    chances = np.array([before.sampled_share(float(one)) for one in interests])
    truth = sum(1 - DIRECTED.sampled_share(float(one)) for one, wrong in zip(interests, is_wrong, strict=True) if wrong)
    weights = np.array(
        [
            weigh(DIRECTED, routed(0.7, float(one)), float(chance))
            for one, chance in zip(interests, chances, strict=True)
        ]
    )
    is_examined = generator.random((400, 800)) < chances
    estimates = (is_examined * (weights * is_wrong)).sum(axis=1)
    error = float(estimates.std(ddof=1)) / math.sqrt(len(estimates))
    assert (abs(float(estimates.mean()) - truth) < 3 * error) is is_unbiased
