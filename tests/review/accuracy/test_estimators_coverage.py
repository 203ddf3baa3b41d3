"""The interval's coverage, measured: thousands of worlds in which the truth is known.

A world is one field path over 500-5,000 documents in four kinds, with the inclusion probabilities that the router
gives under the default policy: automatic (0.02), sampled (0.20), clear in a reviewed document (0.10), doubtful (1).
Shares and accuracies of the kinds are drawn anew for each world. Two truths are asked for: the *realised* accuracy of
the world's own fields (for `unseen`: of exactly those that nobody looked at) and the *expected* one of the process
that made them. Run with `-s` to see the figures.
"""

import functools
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from review.accuracy.estimators import WEIGHTS, Moments, hajek
from review.accuracy.intervals import wilson
from review.routing.decide import FieldEvidence, decide
from review.routing.policy import PolicyRules, Thresholds

RULES = PolicyRules(default=Thresholds(auto=0.9, review=0.5))
CONFIDENCES = {"auto": (0.99, 0.99), "sampled": (0.7, 0.99), "clear": (0.99, 0.1), "doubtful": (0.1, 0.99)}
N_WORLDS = 2_000
POPULATIONS = ["reader", "unseen"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Worlds(NamedTuple):
    """Arrays of shape (worlds, kinds): fields, chance of error, errors, examined fields, errors among them."""

    n: Ints
    chance: Floats
    wrong: Ints
    n_seen: Ints
    wrong_seen: Ints

    def truth(self, population: str, pi: Floats) -> dict[str, Floats]:
        """Realised and expected accuracy of each world, each of shape (worlds,)."""
        if population == "reader":
            realised, stored, expected = self.wrong, self.n, self.n.astype(np.float64)
        else:
            realised, stored, expected = self.wrong - self.wrong_seen, self.n - self.n_seen, self.n * (1 - pi)
        return {
            "realised": 1 - realised.sum(1) / stored.sum(1),
            "expected": 1 - (expected * self.chance).sum(1) / expected.sum(1),
        }


def inclusion_probabilities() -> Floats:
    """Ask the router itself."""
    evidence = {
        kind: [FieldEvidence(path, one, True, True) for path, one in zip("ab", both, strict=True)]
        for kind, both in CONFIDENCES.items()
    }
    return np.array([decide(fields, RULES, "1", "1").fields[0].inclusion_probability for fields in evidence.values()])


def well_calibrated(random: np.random.Generator, m: int) -> Floats:
    """Confidence tells right from wrong: 0.98-0.999 automatic, half to 0.95 doubtful."""
    return np.stack(
        [
            10 ** random.uniform(-3, -1.7, m),
            random.uniform(0.01, 0.10, m),
            random.uniform(0.005, 0.05, m),
            random.uniform(0.05, 0.5, m),
        ],
        axis=1,
    )


def rarely_wrong(random: np.random.Generator, m: int) -> Floats:
    """Errors are so rare that most samples hold none of the automatic band: 0.999-0.9999 there."""
    return np.stack(
        [
            10 ** random.uniform(-4, -3, m),
            10 ** random.uniform(-3, -2, m),
            10 ** random.uniform(-3, -2, m),
            random.uniform(0.005, 0.05, m),
        ],
        axis=1,
    )


def useless_confidence(random: np.random.Generator, m: int) -> Floats:
    """Every kind is equally good, 0.90-0.995: errors hide where hardly anybody looks."""
    return np.repeat(random.uniform(0.005, 0.1, m)[:, None], len(CONFIDENCES), axis=1)


def overconfident(random: np.random.Generator, m: int) -> Floats:
    """The automatic band is the worst, 0.90-0.98."""
    return np.stack(
        [
            random.uniform(0.02, 0.10, m),
            random.uniform(0, 0.05, m),
            random.uniform(0, 0.05, m),
            random.uniform(0, 0.05, m),
        ],
        axis=1,
    )


FAMILIES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    family.__name__: family for family in (well_calibrated, rarely_wrong, useless_confidence, overconfident)
}


def sample(random: np.random.Generator, n: Ints, chance: Floats) -> Worlds:
    wrong = random.binomial(n, chance)
    n_seen = random.binomial(n, inclusion_probabilities())
    return Worlds(n, chance, wrong, n_seen, random.hypergeometric(wrong, n - wrong, n_seen))


@functools.cache
def worlds_of(family: str) -> Worlds:
    random = np.random.default_rng([2_000, *family.encode()])
    size = np.exp(random.uniform(np.log(500), np.log(5_000), N_WORLDS))
    auto = random.uniform(0.3, 0.85, N_WORLDS)
    sampled = (1 - auto) * random.uniform(0.2, 0.8, N_WORLDS)
    doubtful = (1 - auto - sampled) * random.uniform(0.2, 0.8, N_WORLDS)
    shares = np.stack([auto, sampled, 1 - auto - sampled - doubtful, doubtful], axis=1)
    return sample(random, (size[:, None] * shares).astype(np.int64), FAMILIES[family](random, N_WORLDS))


def intervals(worlds: Worlds, population: str) -> tuple[Floats, Floats]:
    weights = [WEIGHTS[population](float(pi)) for pi in inclusion_probabilities()]
    lower, upper = [], []
    for n_seen, wrong in zip(worlds.n_seen, worlds.wrong_seen, strict=True):
        sums = Moments()
        for weight, n, n_wrong in zip(weights, n_seen.tolist(), wrong.tolist(), strict=True):
            right = n - n_wrong
            sums += Moments(n if weight else 0, n * weight, right * weight, n * weight**2, right * weight**2)
        estimate = hajek(sums)
        lower.append(estimate.lower)
        upper.append(estimate.upper)
    return np.array(lower), np.array(upper)


def naive_intervals(worlds: Worlds) -> tuple[Floats, Floats]:
    n, wrong = worlds.n_seen.sum(1), worlds.wrong_seen.sum(1)
    estimates = [wilson(all_ - bad, all_) for all_, bad in zip(n.tolist(), wrong.tolist(), strict=True)]
    return np.array([one.lower for one in estimates]), np.array([one.upper for one in estimates])


def wald_intervals(worlds: Worlds, population: str) -> tuple[Floats, Floats]:
    w = np.array([WEIGHTS[population](float(pi)) for pi in inclusion_probabilities()])
    total = (worlds.n_seen * w).sum(1)
    error = (worlds.wrong_seen * w).sum(1) / total
    squares = (worlds.n_seen * w**2).sum(1)
    variance = ((1 - 2 * error) * (worlds.wrong_seen * w**2).sum(1) + error**2 * squares) / total**2
    half = 1.96 * np.sqrt(variance)
    return 1 - error - half, 1 - error + half


def coverage(limits: tuple[Floats, Floats], truth: Floats) -> float:
    return float(np.mean((limits[0] <= truth) & (truth <= limits[1])))


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_95_percent_intervals_cover_at_least_93_percent_of_2000_worlds(family: str, population: str) -> None:
    worlds = worlds_of(family)
    limits = intervals(worlds, population)
    for name, truth in worlds.truth(population, inclusion_probabilities()).items():
        found = coverage(limits, truth)
        sys.stdout.write(
            f"\n{family:19} {population:6} {name:8} accuracy {truth.mean():.4f}: covered {found:.4f} (missed below "
            f"{np.mean(truth < limits[0]):.4f}, above {np.mean(truth > limits[1]):.4f}), median width "
            f"{np.median(limits[1] - limits[0]):.4f}; naive {coverage(naive_intervals(worlds), truth):.4f}, "
            f"normal {coverage(wald_intervals(worlds, population), truth):.4f}"
        )
        assert found >= 0.93


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("family", ["well_calibrated", "rarely_wrong"])
def test_the_naive_mean_of_reviewed_fields_does_not_cover(family: str, population: str) -> None:
    worlds = worlds_of(family)
    for truth in worlds.truth(population, inclusion_probabilities()).values():
        assert coverage(naive_intervals(worlds), truth) < 0.5


@pytest.mark.parametrize("population", POPULATIONS)
def test_a_normal_interval_around_the_same_point_does_not_cover(population: str) -> None:
    worlds = worlds_of("useless_confidence")
    for truth in worlds.truth(population, inclusion_probabilities()).values():
        assert coverage(wald_intervals(worlds, population), truth) < 0.85


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("size", [500, 5_000])
@pytest.mark.parametrize(
    ("shares", "chance"),
    [
        # The worst of 96 combinations of size, shares and accuracies that were tried, then two usual ones.
        ((0.3, 0.3, 0.2, 0.2), (0.05, 0.05, 0.05, 0.05)),
        ((0.6, 0.2, 0.1, 0.1), (0.03, 0.01, 0.01, 0.10)),
        ((0.6, 0.2, 0.1, 0.1), (0.003, 0.02, 0.01, 0.2)),
        ((0.1, 0.3, 0.3, 0.3), (0.001, 0.02, 0.01, 0.2)),
    ],
)
def test_no_single_world_is_covered_much_less_than_95_percent(
    shares: tuple[float, ...], chance: tuple[float, ...], size: int, population: str
) -> None:
    n = np.tile((size * np.array(shares)).astype(np.int64), (N_WORLDS, 1))
    worlds = sample(np.random.default_rng(96), n, np.tile(np.array(chance), (N_WORLDS, 1)))
    limits = intervals(worlds, population)
    found = {
        name: coverage(limits, truth) for name, truth in worlds.truth(population, inclusion_probabilities()).items()
    }
    sys.stdout.write(f"\n{size} {shares} {chance} {population}: {found}")
    assert min(found.values()) >= 0.91
