"""Worlds of values whose truth is known, examined as the router has them examined.

**A world.** Documents hold one value of the field, or (a table) one to eight; longer tables are wrong more often.
Values are wrong at 1-12 % in all. A reader's score is normal, lower by 1.5-4 for wrong values, but up to 15 % of the
wrong ones look like right ones. Within a document errors and scores go together (Gaussian copulas). The confidence is
the posterior chance of being right, bent in log odds: believed too much or too little. In `edge` worlds, the hardest to
keep a promise in, it is drawn without regard to truth, and the wrong share lies 1 % above 0.5, 1 or 2 %.

**The audits.** A part of the labels comes from a first period in which everything was examined; the rest from one with
the router's bands: automatic documents examined with 0.02, sampled ones 0.20, doubtful values for certain and the
others of their documents 0.10. 100-3,000 labels in all.

**The truth.** R(t), the share of wrong values among those with confidence >= t, follows from the world's distributions
by quadrature, without any sample.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtr, ndtri

from review.routing.policy import PolicyRules, Thresholds
from review.routing.thinning import ExaminedValue

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_ROWS = 8
RULES = PolicyRules(default=Thresholds(auto=0.98, review=0.85))
FLOOR = min(RULES.audit_auto_share, RULES.audit_sampled_share, RULES.full_examination_share)
FAMILIES = ("single", "table", "single", "edge")
"""In turn: the kind of each world."""
EDGES = (0.00505, 0.0101, 0.0202)
_POINTS = (np.arange(4_000) + 0.5) / 4_000
_QUANTILES: Floats = ndtri(_POINTS)


class Reader(NamedTuple):
    """How a world's reader errs and how it tells of it; see the module."""

    wrong_share: float
    distance: float
    unseen_share: float
    spread: float
    bend: tuple[float, float]
    dependence: float
    is_useless: bool

    def confidence(self, score: Floats) -> Floats:
        """The posterior of being right, bent; for a useless reader the score's rank between 0.5 and 1."""
        if self.is_useless:
            return 0.5 + 0.5 * ndtr(score)
        looks = np.exp(-0.5 * score**2)
        wrong = (1 - self.unseen_share) * np.exp(-0.5 * ((score + self.distance) / self.spread) ** 2) / self.spread
        wrong += self.unseen_share * looks
        odds = np.log((1 - self.wrong_share) * looks + 1e-300) - np.log(self.wrong_share * wrong + 1e-300)
        return np.clip(expit(self.bend[0] + self.bend[1] * odds), 1e-9, 1 - 1e-9)

    def scores(self, noise: Floats, is_wrong: Bools, is_unseen: Bools) -> Floats:
        """Scores from standard normal noise."""
        is_told = is_wrong & ~is_unseen & (not self.is_useless)
        return np.where(is_told, self.spread * noise - self.distance, noise)


class Truth(NamedTuple):
    """Shares of all values, and for each the sorted confidences of a fine quadrature; `is_wrong` by part."""

    shares: tuple[float, ...]
    confidences: tuple[Floats, ...]
    is_wrong: tuple[bool, ...]

    def at(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Return R(t) and the share of values at or above t; R of nothing is 0."""
        stored, wrong = np.zeros(len(thresholds)), np.zeros(len(thresholds))
        for share, confidences, is_wrong in zip(*self, strict=True):
            above = share * (1 - np.searchsorted(confidences, thresholds) / len(confidences))
            stored += above
            wrong += is_wrong * above
        return np.where(stored > 0, wrong / np.maximum(stored, 1e-300), 0.0), stored


class World(NamedTuple):
    """What was examined, the confidences of all that was routed, and the truth."""

    values: list[ExaminedValue]
    frame: Floats
    truth: Truth
    most_per_document: int


def make_world(random: np.random.Generator, family: str) -> World:
    """Return a world of the family, with 100-3,000 labels (more for tables only by the rest of the last document)."""
    is_table, is_edge = family == "table", family == "edge"
    n_labels = int(np.exp(random.uniform(np.log(100), np.log(3_000))))
    reader = Reader(
        wrong_share=float(random.choice(EDGES) if is_edge else np.exp(random.uniform(np.log(0.01), np.log(0.12)))),
        distance=random.uniform(1.5, 4.0),
        unseen_share=random.choice([0.0, random.uniform(0, 0.15)]),
        spread=random.uniform(0.8, 1.3),
        bend=(random.uniform(-0.7, 0.7), random.uniform(0.7, 1.3)),
        dependence=random.uniform(0, 0.8),
        is_useless=is_edge,
    )
    n_first = int(n_labels * random.uniform(0.1, 1.0))
    values, frames = [], []
    for period, n_wanted in enumerate((n_first, n_labels - n_first)):
        found, routed = _period(random, reader, n_wanted, is_table=is_table, is_audited=period == 1)
        values += found
        frames.append(routed)
    return World(values, np.concatenate(frames), truth_of(reader), MOST_ROWS if is_table else 1)


def truth_of(reader: Reader) -> Truth:
    """Return the truth about a reader: right values, wrong ones that can be told, wrong ones that cannot."""
    no, yes = np.zeros(len(_QUANTILES), bool), np.ones(len(_QUANTILES), bool)
    told, hidden = reader.wrong_share * (1 - reader.unseen_share), reader.wrong_share * reader.unseen_share
    scores = (
        reader.scores(_QUANTILES, no, no),
        reader.scores(_QUANTILES, yes, no),
        reader.scores(_QUANTILES, yes, yes),
    )
    return Truth(
        (1 - reader.wrong_share, told, hidden),
        tuple(np.sort(reader.confidence(one)) for one in scores),
        (False, True, True),
    )


def _period(
    random: np.random.Generator, reader: Reader, n_wanted: int, *, is_table: bool, is_audited: bool
) -> tuple[list[ExaminedValue], Floats]:
    """Route documents until about `n_wanted` values were examined; return these and all confidences."""
    # Enough documents even where nearly all are automatic.
    n_documents = (int(n_wanted / FLOOR) if is_audited else n_wanted) + 1
    rows = random.integers(1, MOST_ROWS + 1, n_documents) if is_table else np.ones(n_documents, np.int64)
    document = np.repeat(np.arange(n_documents), rows)
    wrong_chance = reader.wrong_share * (rows / rows_weight() if is_table else np.ones(n_documents))
    is_wrong = _together(random, reader, document, n_documents) < ndtri(wrong_chance)[document]
    is_unseen = random.random(len(document)) < reader.unseen_share
    confidence = reader.confidence(reader.scores(_together(random, reader, document, n_documents), is_wrong, is_unseen))
    chance = inclusion_probabilities(confidence, document, n_documents) if is_audited else np.ones(len(document))
    is_examined = random.random(n_documents)[document] < chance
    n_examined = np.bincount(document, is_examined, n_documents).cumsum()
    last = int(np.searchsorted(n_examined, n_wanted)) + 1 if n_wanted else 0
    used = document < last
    names = random.integers(0, 2**62)
    values = [
        ExaminedValue(f"{names}-{document[n]}", f"/rows/{n}", float(confidence[n]), bool(is_wrong[n]), float(chance[n]),
                      FLOOR if is_audited else 1.0)
        for n in np.flatnonzero(is_examined & used)
    ]  # fmt: skip
    return values, confidence[used]


def rows_weight() -> float:
    """The number by which rows are divided so that the wrong share over rows is the world's: E[m²]/E[m]."""
    m = np.arange(1, MOST_ROWS + 1)
    return float((m**2).mean() / m.mean())


def inclusion_probabilities(confidence: Floats, document: Ints, n_documents: int) -> Floats:
    """Return each value's chance of being examined under RULES: `review.routing.decide`, for many at once."""
    lowest = np.full(n_documents, np.inf)
    np.minimum.at(lowest, document, confidence)
    lowest = lowest[document]
    limits = RULES.default
    auto = 2.0 if limits.auto is None else limits.auto
    base = np.select(
        [lowest < limits.review, lowest < auto],
        [RULES.full_examination_share, RULES.audit_sampled_share],
        RULES.audit_auto_share,
    )
    return np.where(confidence < limits.review, 1.0, base)


def _together(random: np.random.Generator, reader: Reader, document: Ints, n_documents: int) -> Floats:
    """Return standard normal numbers that go together within a document."""
    shared = random.standard_normal(n_documents)[document]
    own = random.standard_normal(len(document))
    both: Floats = np.sqrt(reader.dependence) * shared + np.sqrt(1 - reader.dependence) * own
    return both
