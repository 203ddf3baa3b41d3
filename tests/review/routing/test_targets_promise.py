"""The promise, measured in worlds whose truth is known. `python -m tests.bench targets` does it in 1,000 of them.

Fixed seeds. A count of broken promises is allowed two standard errors of the simulation above delta.
"""

import functools

import numpy as np
import pytest
from scipy.special import expit

from review.accuracy.calibration import LabelledField, calibrate
from review.routing.decide import FieldEvidence, decide
from review.routing.sampling import Purpose, draw
from review.routing.spending import share_of_attempt
from review.routing.targets import Target, certify, loosest_carried
from review.routing.thinning import ExaminedValue, thin
from tests.bench.targets import Case, lucky_oracle
from tests.review.routing.value_worlds import FAMILIES, FLOOR, RULES, World, inclusion_probabilities, make_world

N_WORLDS = 60
DELTA = 0.05
TARGETS = [0.005, 0.01, 0.02]


@functools.cache
def worlds() -> list[World]:
    return [make_world(np.random.default_rng([77, n]), FAMILIES[n % len(FAMILIES)]) for n in range(N_WORLDS)]


def allowed(n: int) -> float:
    return DELTA + 2 * float(np.sqrt(DELTA * (1 - DELTA) / n))


@pytest.mark.parametrize("target", TARGETS)
def test_the_promise_is_broken_in_at_most_delta_of_the_worlds_and_most_is_stored_that_could_be(target: float) -> None:
    n_broken, stored, best = 0, 0.0, 0.0
    for world in worlds():
        found = certify(world.values, world.frame, Target(target, 1 - DELTA, world.most_per_document))
        trials = thin(world.values, most_per_document=world.most_per_document)
        for threshold, is_ours in ((found.threshold, True), (lucky_oracle(Case(world, trials, target)), False)):
            wrong, share = (
                float(one[0]) for one in world.truth.at(np.array([2.0 if threshold is None else threshold]))
            )
            n_broken += is_ours and wrong > target
            stored, best = stored + share * is_ours, best + share * (not is_ours)
    assert n_broken / N_WORLDS <= allowed(N_WORLDS)
    # The luckiest of all thresholds, with the truth at hand, is beyond any method; see tests/bench/targets.py.
    assert stored >= 0.8 * best > 0


def test_where_the_share_lies_just_above_the_target_the_level_is_kept_and_nearly_used() -> None:
    n_worlds = 400
    random = np.random.default_rng(2)
    n_broken = 0
    for world in range(n_worlds):
        is_wrong = random.random(300) < 0.0201
        values = [
            ExaminedValue(f"{world}-{n}", "/a", float(confidence), bool(wrong))
            for n, (confidence, wrong) in enumerate(zip(random.random(300), is_wrong, strict=True))
        ]
        n_broken += certify(values, [], Target(0.02, 1 - DELTA)).is_automated
    assert DELTA / 5 < n_broken / n_worlds <= allowed(n_worlds)


def test_looks_that_are_counted_keep_the_promise_and_break_it_less_often_than_others() -> None:
    n_worlds, n_looks = 80, 5
    random = np.random.default_rng(3)
    broken = {True: 0, False: 0}
    for world in range(n_worlds):
        is_wrong = random.random(150 * n_looks) < 0.0201
        values = [ExaminedValue(f"{world}-{n}", "/a", 0.9, bool(wrong)) for n, wrong in enumerate(is_wrong)]
        for is_counted in broken:
            broken[is_counted] += any(
                certify(
                    values[: 150 * look], [], Target(0.02, 1 - DELTA, look=look if is_counted else None)
                ).is_automated
                for look in range(1, n_looks + 1)
            )
    assert broken[True] / n_worlds <= allowed(n_worlds)
    assert broken[False] > broken[True]


def test_looks_that_cannot_pass_may_be_taken_for_nothing() -> None:
    """The hardest case: a share just above the target, asked again and again from the first labels on."""
    n_worlds, target = 1_000, 0.02
    n_at_look = np.unique(np.geomspace(20, 1_500, 14).astype(int))
    random = np.random.default_rng(8)
    broken = {True: 0, False: 0}
    for _ in range(n_worlds):
        n_wrong = np.cumsum(random.random(n_at_look[-1]) < 0.0201)[n_at_look - 1]
        for is_counted in broken:
            look, is_broken = 1, False
            for n, wrong in zip(n_at_look, n_wrong, strict=True):
                level = DELTA * (share_of_attempt(look) if is_counted else 1.0)
                at, none = np.array([n]), np.array([0])
                wanted = Target(target, 1 - level)
                is_broken |= loosest_carried(at, np.array([wrong]), float(n), wanted) is not None
                look += loosest_carried(at, none, float(n), wanted) is not None
            broken[is_counted] += is_broken
    assert 0 < broken[True] / n_worlds <= allowed(n_worlds)
    assert broken[True] < broken[False]


def test_taking_labels_for_a_plain_sample_would_break_the_promise() -> None:
    """Why they are thinned: people see many sampled values and few automatic ones, among which the errors are."""
    n_worlds = 60
    random = np.random.default_rng(4)
    broken = {"weighted": 0, "plain": 0}
    for world in range(n_worlds):
        values = []
        for name, n, chance, wrong in (("a", 10_000, 0.02, 0.04), ("s", 4_000, 0.2, 0.0)):
            drawn = np.flatnonzero(random.random(n) < chance)
            values += [ExaminedValue(f"{world}{name}{k}", "/a", 0.9, bool(random.random() < wrong), chance, 0.02)
                       for k in drawn]  # fmt: skip
        plain = [ExaminedValue(one.document, "/a", 0.9, one.is_wrong) for one in values]
        # 400 of 14,000 are wrong: 2.9 %.
        broken["weighted"] += certify(values, [], Target(0.02)).is_automated
        broken["plain"] += certify(plain, [], Target(0.02)).is_automated
    assert broken["weighted"] / n_worlds <= DELTA
    assert broken["plain"] / n_worlds > 0.1


def test_thresholds_on_what_a_calibrator_says_keep_the_promise_on_documents_it_did_not_learn_from() -> None:
    n_worlds, target, n_automated, n_broken = 10, 0.05, 0, 0
    for world in range(n_worlds):
        random = np.random.default_rng([6, world])
        # Three times as sure as it may be in log odds.
        truth = random.normal(3, 1.5, 6_000)
        confidence, is_wrong = expit(3 * truth), random.random(6_000) > expit(truth)
        seen = [
            LabelledField(f"{world}-{n}", "/a", float(confidence[n]), {}, not is_wrong[n], 1.0) for n in range(1_000)
        ]
        is_learned = [draw(one.document, "", "a", Purpose.CALIBRATION) < 0.3 for one in seen]
        learned = [one for one, is_it in zip(seen, is_learned, strict=True) if is_it]
        calibrator = calibrate(learned, "/a", "v1").calibrator
        values = [
            ExaminedValue(one.document, "/a", calibrator.probability(one.confidence, {}), not one.is_correct)
            for one, is_it in zip(seen, is_learned, strict=True)
            if not is_it
        ]
        threshold = certify(values, [], Target(target, 1 - DELTA)).threshold
        if threshold is not None:
            later = np.array([calibrator.probability(one, {}) for one in confidence[1_000:].tolist()]) >= threshold
            n_automated += 1
            n_broken += is_wrong[1_000:][later].mean() > target
    assert n_automated >= 0.9 * n_worlds
    assert n_broken / n_worlds <= allowed(n_worlds)


def test_the_worlds_examine_values_as_the_router_does() -> None:
    random = np.random.default_rng(1)
    document = np.repeat(np.arange(200), 3)
    confidence = random.choice([0.3, 0.9, 0.95, 0.985, 0.99], len(document))
    found = inclusion_probabilities(confidence, document, 200)
    for number in range(200):
        mine = document == number
        fields = [FieldEvidence(f"/{n}", float(one), True, True) for n, one in enumerate(confidence[mine])]
        decision = decide(fields, RULES, str(number), "1")
        assert [one.inclusion_probability for one in decision.fields] == found[mine].tolist()
    assert min(found) == FLOOR


def test_the_worlds_have_the_truth_that_they_tell() -> None:
    for number, family in enumerate(FAMILIES):
        world = make_world(np.random.default_rng([5, number]), family)
        weights = np.array([1 / one.inclusion_probability for one in world.values])
        confidence = np.array([one.confidence for one in world.values])
        is_wrong = np.array([one.is_wrong for one in world.values])
        assert len({one.document for one in world.values}) <= len(world.values) <= 3_000 + 8
        for threshold in (0.0, 0.8):
            above = confidence >= threshold
            stored = float(world.truth.at(np.array([threshold]))[1][0])
            assert np.mean(world.frame >= threshold) == pytest.approx(stored, abs=0.1)
            told = float(world.truth.at(np.array([threshold]))[0][0])
            assert np.average(is_wrong[above], weights=weights[above]) == pytest.approx(told, abs=0.06)
