"""Independent trials with one common chance of error, made of examined values with very different chances of a look.

A sample of values that were looked at with different probabilities pi, several of one document among them, is no coin
that is tossed n times: the doubtful are in it more often, and the rows of one table are wrong together. Weights (as in
`review.accuracy.estimators`) mend the estimate but leave no exact bound. Thinning mends the sample itself: a value is
kept with probability w = floor/pi, where `floor` is the least pi that the value's policy gives any value of this
field. Then every value that was stored had the same chance, floor, of being among the kept, whatever its band, and of
each document at most one value is kept. If documents are alike (drawn from one source, in any order), the kept values
are independent trials, each wrong with probability

    R = E[sum of w' over the wrong values of a document] / E[sum of w' over its values],      w' = `unseen_share`,

which is the share of wrong values among those stored unseen, however the values of one document depend on each other.
So the number of wrong ones among n kept is binomial, exactly (rejection sampling; von Neumann 1951). With pi the same
for all and one value a document nothing is thrown away.

Periods under different policies may be put together: each has its own floor, and each keeps a sample with the same R.

**Documents with many values** (the column of a table). The value is chosen within the document in proportion to its
weight, and the document is kept with probability W/most, W being the sum of its weights: `most` values of a document
count in full. A document that has more counts as `most`: that is part of what R means, and has to be set beforehand.

**What is thrown away** is chosen by a hash of document and field, as audits are (`review.routing.sampling`): the same
values always give the same trials, and nobody can draw again.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from review.routing.sampling import Purpose, draw


@dataclass(frozen=True, slots=True)
class ExaminedValue:
    """One value of one field that a person judged, because it had been drawn or had to be looked at.

    `document` identifies the document for ever, `field_path` the value in it. `confidence` is in 0-1.
    `inclusion_probability` is the chance with which it was examined, `floor` the least such chance that the policy of
    that day gave to any value of this field that could be stored, both in (0, 1]. `unseen_share` in (0, 1] is the share
    of values like it that audits would leave unseen. Raise ValueError for anything else.
    """

    document: str
    field_path: str
    confidence: float
    is_wrong: bool
    inclusion_probability: float = 1.0
    floor: float = 1.0
    unseen_share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError("a confidence lies in 0-1")
        if not 0 < self.floor <= self.inclusion_probability <= 1:
            raise ValueError("the floor lies above 0 and is at most the inclusion probability, which is at most 1")
        if not 0 < self.unseen_share <= 1:
            raise ValueError("the share left unseen lies above 0 and is at most 1")

    @property
    def weight(self) -> float:
        """The probability with which it is kept, where its document has no other value."""
        return self.floor / self.inclusion_probability * self.unseen_share


class Trials(NamedTuple):
    """Kept values: `confidence`, high to low, and `is_wrong`, both of shape (n,)."""

    confidence: npt.NDArray[np.float64]
    is_wrong: npt.NDArray[np.bool_]


def thin(values: Iterable[ExaminedValue], *, most_per_document: int = 1, salt: str = "stet") -> Trials:
    """Return the trials that examined values make; at most one of each document.

    Raise ValueError when `most_per_document` is below 1 or a value occurs twice.
    """
    if most_per_document < 1:
        raise ValueError("at least one value of a document must count")
    by_document: defaultdict[str, list[ExaminedValue]] = defaultdict(list)
    for value in values:
        by_document[value.document].append(value)
    kept = [one for group in by_document.values() if (one := _kept(group, most_per_document, salt)) is not None]
    kept.sort(key=lambda value: (-value.confidence, value.document))
    return Trials(
        np.array([value.confidence for value in kept], dtype=np.float64),
        np.array([value.is_wrong for value in kept], dtype=np.bool_),
    )


def _kept(group: list[ExaminedValue], most: int, salt: str) -> ExaminedValue | None:
    """Return the value of one document that is kept, if any: one draw falls on a value or beside all of them."""
    ordered = sorted(group, key=lambda value: value.field_path)
    if len({value.field_path for value in ordered}) < len(ordered):
        raise ValueError(f"a value of document {ordered[0].document} occurs twice")
    if len(ordered) == 1 and ordered[0].weight >= most:
        return ordered[0]  # whatever the draw
    whole = max(float(most), math.fsum(value.weight for value in ordered))
    column = ordered[0].field_path if len(ordered) == 1 else ""
    place = draw(ordered[0].document, column, salt, Purpose.THINNING) * whole
    for value in ordered:
        place -= value.weight
        if place < 0:
            return value
    return None
