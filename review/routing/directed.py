"""Audits that look where there is something to learn, and still leave every value a known, positive chance.

An audit of the middle band costs the same wherever it falls, but teaches more where the reader doubts, where two
readers differ, and where the document is unlike those it learned from. `interest` puts these into one number, and a
document is audited with probability

    pi = floor + (rate - floor) interest / scale,    at most 1,

`scale` being the mean interest of the documents of a past period (somewhat less where some reach 1), frozen with the
rule: so pi depends on the document alone, is known when the draw is made, and the audits add up to `rate` of the
documents as long as they are like those of that period. The floor is a defensive mixture (Hesterberg 1995,
Technometrics 37, 185-194): whatever the interest overlooks is still looked at, and no weight exceeds 1/floor.

**Why estimates stay unbiased.** pi is known and positive, so sum(y/pi) over the audited estimates the total of y over
all without bias, whatever pi depends on, as long as it does not depend on the outcome (Horvitz & Thompson 1952).
`review.accuracy.estimators` divides by pi already. What is directed well also makes them sharper: the variance is least
where pi grows with the root of the expected square of what is summed (Neyman; Särndal, Swensson & Wretman 1992,
section 3.7), which for wrong (1) and right (0) is the root of the chance of being wrong: `doubt`.

**What it costs.** An exact bound (`review.routing.thinning`) must reckon that errors hide where pi is least: it keeps
floor/pi of what is audited, so audits above the floor teach the reader but hardly help to certify. A floor of half the
rate is a fair middle.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

DEFAULT_SHARES: Mapping[str, float] = {"doubt": 0.6, "disagreement": 0.2, "novelty": 0.2}
"""How much each kind of interest counts."""


class DirectedError(ValueError):
    """A rule of directed sampling that is none."""


@dataclass(frozen=True, slots=True)
class DirectedRule:
    """How audits of a band are directed: `rate` on average, never below `floor`; both in (0, 1], floor <= rate.

    `scale` in (0, 1] is the interest at which the chance is the rate.
    """

    rate: float
    floor: float
    scale: float

    def __post_init__(self) -> None:
        if not 0 < self.floor <= self.rate <= 1:
            raise DirectedError("the floor lies above 0 and is at most the rate, which is at most 1")
        if not 0 < self.scale <= 1:
            raise DirectedError("the scale lies above 0 and is at most 1")

    def inclusion_probability(self, interest: float) -> float:
        """Return the chance of an audit for a document of that interest (0-1, else DirectedError)."""
        if not 0 <= interest <= 1:
            raise DirectedError("interest lies in 0-1")
        return min(self.floor + (self.rate - self.floor) * interest / self.scale, 1.0)

    def as_json(self) -> dict[str, float]:
        """Return plain data; `from_json` is its inverse."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "DirectedRule":
        """Return the rule of stored data; raise DirectedError where it is none."""
        try:
            return cls(float(data["rate"]), float(data["floor"]), float(data["scale"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DirectedError("this is no rule of directed sampling") from error


def doubt(confidences: Sequence[float | None]) -> float:
    """Return the root of the chance that any of a document's fields is wrong, 0-1, taking them as independent.

    A missing confidence counts as one half; no field at all as certain doubt, 1.
    """
    if not confidences:
        return 1.0
    known = [0.5 if one is None or not 0 <= one <= 1 else one for one in confidences]
    return math.sqrt(1.0 - math.prod(known))


def disagreement(keys: Sequence[Sequence[str | None]]) -> float:
    """Return the share of fields on which readers differ; of each field the comparable values that they gave.

    A field with fewer than two readings says nothing; without any other the answer is 0.
    """
    compared = [len(set(of_field)) > 1 for of_field in keys if len(of_field) > 1]
    return sum(compared) / len(compared) if compared else 0.0


def novelty(nearest_similarity: float | None) -> float:
    """Return how unlike known documents one is, from its similarity (0-1) to the nearest; 1 where none is known."""
    return 1.0 if nearest_similarity is None else 1.0 - min(max(nearest_similarity, 0.0), 1.0)


def interest(kinds: Mapping[str, float], shares: Mapping[str, float] = DEFAULT_SHARES) -> float:
    """Return the interest of a document, 0-1: the mean of its kinds (each 0-1) weighted by `shares`.

    A kind that is not known is left out, and the others count more. Raise DirectedError without any known kind, or for
    one outside 0-1.
    """
    known = {name: value for name, value in kinds.items() if shares.get(name, 0.0) > 0}
    if not known or any(not 0 <= value <= 1 for value in known.values()):
        raise DirectedError(f"interest needs at least one of {', '.join(shares)}, each in 0-1")
    whole = math.fsum(shares[name] for name in known)
    return math.fsum(shares[name] * value for name, value in known.items()) / whole


# Less than this on average is no interest at all, and too little to divide by.
_LEAST_INTEREST = 1e-9


def rule_for(interests: Sequence[float], *, rate: float, floor_share: float = 0.5) -> DirectedRule:
    """Return the rule that audits `rate` of documents with these interests on average, the floor a share of the rate.

    Where some would be audited for certain the rest get what is left over, so the mean of their chances is `rate`
    still. Raise DirectedError without documents, or where a number lies outside its range.
    """
    if not interests or any(not 0 <= one <= 1 for one in interests):
        raise DirectedError("a rule needs the interests of past documents, each in 0-1")
    floor = rate * floor_share
    mean = math.fsum(interests) / len(interests)
    if mean < _LEAST_INTEREST or floor >= rate:
        return DirectedRule(rate, rate, 1.0)

    def mean_chance(scale: float) -> float:
        return math.fsum(min(floor + (rate - floor) * one / scale, 1.0) for one in interests) / len(interests)

    # The chance falls as the scale grows: at the plain mean it is at most the rate, since nothing was cut off below it.
    low, high = 0.0, mean
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if mean_chance(middle) < rate else (middle, high)
    return DirectedRule(rate, floor, high)
