"""Thresholds with a promise (K3): "at most x % wrong among the values stored unseen, with confidence 1 - delta".

**The question.** For a threshold t let R(t) be the share of wrong values among those of the field that have at least
the confidence t and are stored unseen. t may be certified only if R(t) <= target; over all that may chance (how the
documents turned out, which were drawn) a wrong certificate must occur with probability at most delta.

**The trials.** `review.routing.thinning` turns examined values, drawn with different probabilities and several of one
document, into independent trials that are wrong with the chances of values stored unseen.

**The order.** The trials are gone through from the most confident down, strict to loose, as in fixed-sequence testing,
with the bet of `review.routing.betting`. Its wealth after the trials at or above t is evidence against R(t) > target,
and reaches 1/delta at *any* threshold with R(t) > target with probability at most delta. So the loosest threshold at
which it stands at 1/delta is certified. Nothing is assumed of confidence: it may be badly calibrated, and R need not
fall as t grows. Fixed-sequence testing with Clopper and Pearson's limit, which stops at the first threshold that fails
(Angelopoulos, Bates, Candès, Jordan & Lei 2021, arXiv:2110.01052), holds as well, but one early error among the few
most confident ends it: in `tests.bench targets` it stored 4 to 20 % less. Here an early error is made up for.

**What R(t) means in a finite sample.** The bound holds for the mean chance of error of the trials at or above t: of
values with the confidences that occurred. For documents that arrive as a Poisson process the same argument holds for
R(t) of the source itself (and a stake set beforehand): the normalising product is then
exp(-stake x expected trials x (R(t) - target)).

**The stake** is the best one for a decision near the loosest trial that confidence itself promises to be good enough,
at least 7 in 10 of the way: it looks at confidences only, so a wrong promise costs automation and never the guarantee.

**Repeated questions.** Each certificate is right with confidence 1 - delta by itself. Who asks again as labels arrive,
until it works, must count the looks: with `look` = 1, 2, … the chance of *any* wrong certificate is at most delta,
provided that when to ask does not depend on what was found. An attempt that could not have passed had every value been
right (`could_pass` false: too few trials, which confidences alone tell) cannot certify wrongly either: it spends
nothing and is no look.

**What it assumes.** The documents to come are like those examined: drawn from the same source in any order (a monitor,
`review.routing.monitor`, watches over that). Confidence was fixed before these labels were seen: values that a
calibrator learned from cannot certify its thresholds. Verdicts are right.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from review.routing.betting import alternative_for, log_wealth, trials_needed, upper_limit
from review.routing.policy import Thresholds
from review.routing.spending import share_of_attempt
from review.routing.thinning import ExaminedValue, Trials, thin

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LEAST_PART = 0.7
NOT_STORED = Thresholds(auto=None, review=1.0)
"""For a field that is not automated: everything goes to a person, also what is read with confidence 1."""


@dataclass(frozen=True, slots=True)
class Target:
    """At most `wrong_share` wrong among values stored unseen, with the given `confidence`; both strictly in 0-1.

    `most_per_document`: how many values of one document count in full (1 for a field that occurs once).
    `look`: which attempt this is, from 1, where attempts are repeated as labels arrive; None for a single one.
    """

    wrong_share: float
    confidence: float = 0.95
    most_per_document: int = 1
    look: int | None = None

    def __post_init__(self) -> None:
        if not (0 < self.wrong_share < 1 and 0 < self.confidence < 1):
            raise ValueError("the wrong share and the confidence of a target lie strictly between 0 and 1")

    @property
    def level(self) -> float:
        """The probability with which this attempt may go wrong."""
        return (1 - self.confidence) * (1.0 if self.look is None else share_of_attempt(self.look))


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the labels carry. `threshold` None: not automated, and every value of the field goes to a person.

    Of the trials `n_trials` lie at or above the threshold, `n_wrong` of them wrong; `upper_limit` bounds the wrong
    share. Of the frame's `n_frame` values `n_stored` would be stored without waiting for a person. Without a threshold
    the counts are those of the most promising one, and about `n_more_needed` further examined values are needed if
    errors stay as rare as they were there; None: with such errors no number will do. `could_pass`: whether so many
    trials would have carried anything, had all of them been right.
    """

    threshold: float | None
    target: float
    confidence: float
    n_trials: int
    n_wrong: int
    upper_limit: float
    n_frame: int
    n_stored: int
    n_more_needed: int | None
    could_pass: bool = True

    @property
    def is_automated(self) -> bool:
        """Whether any value may be stored unseen."""
        return self.threshold is not None

    def thresholds(self, auto: float | None = None) -> Thresholds:
        """Return the limits of a draft policy: nothing below the threshold is stored; from `auto` on fewer audits.

        `auto` is raised to the threshold where it lies below it.
        """
        if self.threshold is None:
            return NOT_STORED
        return Thresholds(auto=None if auto is None else max(auto, self.threshold), review=self.threshold)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def certify(
    values: Sequence[ExaminedValue], frame: Sequence[float] | Floats, target: Target, *, salt: str = "stet"
) -> Certificate:
    """Return the loosest threshold that the labels carry; see the module for the method and its assumptions.

    `values`: examined values of one field that confidence alone would have decided (no broken rule, nothing missing).
    `frame`: confidences in 0-1, shape (n,), of all such values that were routed; it only tells how many would be
    stored. `salt` names document type and field. Raise ValueError for values or a frame that cannot be.
    """
    routed = np.asarray(frame, dtype=np.float64)
    if routed.ndim != 1 or not np.all((routed >= 0) & (routed <= 1)):
        raise ValueError("a frame is a list of confidences in 0-1")
    trials = thin(values, most_per_document=target.most_per_document, salt=salt)
    limits, n, n_wrong = by_threshold(trials)
    planned = planned_trials(trials, target.wrong_share)
    needed: int | None = None
    place = loosest_carried(n, n_wrong, planned, target)
    threshold = None if place is None else float(limits[place])
    if place is None:
        place, needed = _most_promising(n, n_wrong, len(values), target)
    counts = (0, 0) if place is None else (int(n[place]), int(n_wrong[place]))
    return Certificate(
        threshold=threshold,
        target=target.wrong_share,
        confidence=target.confidence,
        n_trials=counts[0],
        n_wrong=counts[1],
        upper_limit=upper_limit(*counts, planned, target.level),
        n_frame=len(routed),
        n_stored=0 if threshold is None else int(np.count_nonzero(routed >= threshold)),
        n_more_needed=needed,
        could_pass=loosest_carried(n, np.zeros_like(n_wrong), planned, target) is not None,
    )


def by_threshold(trials: Trials) -> tuple[Floats, Ints, Ints]:
    """Return the confidences that occur, strict to loose, and how many trials (and wrong ones) have at least each."""
    ends = np.flatnonzero(np.diff(trials.confidence, append=-1.0) != 0)
    return trials.confidence[ends], ends + 1, np.cumsum(trials.is_wrong, dtype=np.int64)[ends]


def planned_trials(trials: Trials, target: float) -> float:
    """Return near which trial the decision is expected, from confidences alone; at least 1."""
    n = np.arange(1, len(trials.confidence) + 1)
    good = np.flatnonzero(np.cumsum(1 - trials.confidence) <= target * n)
    return max(_LEAST_PART * len(n), float(good[-1] + 1) if len(good) else 0.0, 1.0)


def loosest_carried(n: Ints, n_wrong: Ints, planned: float, target: Target) -> int | None:
    """Return the last place at which the wealth stands at 1/level, or None."""
    alternative = alternative_for(target.wrong_share, planned, target.level)
    carried = np.flatnonzero(log_wealth(n, n_wrong, target.wrong_share, alternative) >= -math.log(target.level))
    return int(carried[-1]) if len(carried) else None


def _most_promising(n: Ints, n_wrong: Ints, n_examined: int, target: Target) -> tuple[int | None, int | None]:
    """Return the place that the fewest further examined values would carry, and about how many these are."""
    if not len(n):
        nothing = trials_needed(np.zeros(1), np.ones(1), target.wrong_share, target.level)
        return None, int(nothing[0]) if not n_examined else None
    needed = trials_needed(n_wrong / n, n / n[-1], target.wrong_share, target.level)
    best = int(np.argmin(needed))
    if not math.isfinite(needed[best]):
        return int(np.argmin(n_wrong / n)), None
    missing = max(float(needed[best]) - int(n[-1]), 1.0)
    # The slack keeps one of 298 at one, whatever the quotient rounds to.
    return best, math.ceil(missing * n_examined / int(n[-1]) - 1e-6)
