"""Two readers on the same documents: what changed, how sure that is, and what it costs (K5).

Both readers are judged on the same fields, so only the fields on which they differ say anything: `n_lost` that A had
right and B has wrong, `n_won` the other way round.

**p.** McNemar's test, exact: if neither is better, each difference falls either way with probability one half, so n_won
is binomial with n_lost + n_won and 1/2; two-sided (McNemar 1947, Psychometrika 12, 153-157; exact by Mosteller 1952).

**Interval.** Of the difference in accuracy (n_won - n_lost)/n, by Bonett and Price (2012, British Journal of
Mathematical and Statistical Psychology 65, 479-488): Wald's interval after one imagined field has been added to each
of n_won and n_lost. It keeps its level for small n and rare differences, where Wald's own collapses to nothing.

**Cost.** What a wrong value costs differs by field. Over documents, the mean of the cost of B's errors minus that of
A's, with Student's interval: fields of one document may be wrong together, documents are independent.

**The gate.** A field that costs anything when it is wrong must not fall by more than `MOST_FALL`. That goes by the
point and not by p: on a set that is frozen a fall is a fact, and asking for proof would let a small set wave anything
through.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit
from scipy.stats import binomtest

from review.accuracy.intervals import checked_level

MOST_FALL = 0.005
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairedField:
    """One field of one document, as readers A and B have it: right or wrong."""

    document: str
    field_path: str
    is_correct_a: bool
    is_correct_b: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference "B minus A" with its interval at `level`; over nothing the point is None and the limits infinite."""

    point: float | None
    lower: float
    upper: float
    level: float


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """One field on `n` documents: accuracies of both (0-1), their difference, the exact p, and whether it fell too far.

    `cost` is what one wrong value of the field costs, in the unit of the caller; 0: it blocks nothing.
    """

    field_path: str
    n: int
    accuracy_a: float
    accuracy_b: float
    n_lost: int
    n_won: int
    difference: Difference
    p: float
    cost: float
    is_fallen: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """All fields by path, and the difference in what errors cost a document (below 0: B is cheaper)."""

    fields: Mapping[str, FieldComparison]
    n_documents: int
    cost: Difference

    @property
    def fallen(self) -> tuple[str, ...]:
        """The fields that fell too far."""
        return tuple(path for path, field in self.fields.items() if field.is_fallen)

    @property
    def is_blocked(self) -> bool:
        """Whether B must not take A's place."""
        return bool(self.fallen)

    def as_json(self) -> dict[str, Any]:
        """Return plain data; a limit that is infinite is None."""
        fields = {
            path: asdict(field) | {"difference": _difference_as_json(field.difference)}
            for path, field in self.fields.items()
        }
        return {
            "fields": fields,
            "n_documents": self.n_documents,
            "cost": _difference_as_json(self.cost),
            "fallen": list(self.fallen),
            "is_blocked": self.is_blocked,
        }


def compare(
    pairs: Sequence[PairedField],
    costs: Mapping[str, float],
    *,
    most_fall: float = MOST_FALL,
    level: float = 0.95,
) -> Comparison:
    """Compare reader B with reader A on the fields that both were judged on, the fields in the order of their paths.

    `costs` maps field paths to what a wrong value costs, at least 0; a field that it lacks costs 1. Raise ValueError
    for a negative cost, or a field of a document that occurs twice.
    """
    checked_level(level)
    if len({(pair.document, pair.field_path) for pair in pairs}) < len(pairs):
        raise ValueError("a field of a document occurs twice")
    if any(not 0 <= cost < math.inf for cost in costs.values()):
        raise ValueError("a cost is a number of at least 0")
    by_path: defaultdict[str, list[PairedField]] = defaultdict(list)
    change: defaultdict[str, float] = defaultdict(float)
    for pair in pairs:
        by_path[pair.field_path].append(pair)
        change[pair.document] += costs.get(pair.field_path, 1.0) * (pair.is_correct_a - pair.is_correct_b)
    return Comparison(
        fields={
            path: _compare_field(path, by_path[path], costs.get(path, 1.0), most_fall, level)
            for path in sorted(by_path)
        },
        n_documents=len(change),
        cost=mean_difference(list(change.values()), level),
    )


def mcnemar_p(n_lost: int, n_won: int) -> float:
    """Return the exact two-sided p of "neither is better"; 1 where they never differ."""
    return float(binomtest(n_won, n_lost + n_won, 0.5).pvalue) if n_lost + n_won else 1.0


def paired_difference(n_lost: int, n_won: int, n: int, level: float = 0.95) -> Difference:
    """Return (n_won - n_lost)/n with the interval of Bonett and Price; ValueError unless n_lost + n_won <= n."""
    if not (n_lost >= 0 and n_won >= 0 and n_lost + n_won <= n):
        raise ValueError("no more fields can differ than there are")
    z = float(ndtri((1 + checked_level(level)) / 2))
    if n == 0:
        return Difference(None, -math.inf, math.inf, level)
    lost, won = (n_lost + 1) / (n + 2), (n_won + 1) / (n + 2)
    half = z * math.sqrt((lost + won - (won - lost) ** 2) / (n + 2))
    return Difference((n_won - n_lost) / n, max(won - lost - half, -1.0), min(won - lost + half, 1.0), level)


def mean_difference(changes: Sequence[float], level: float = 0.95) -> Difference:
    """Return the mean of independent changes with Student's interval; infinite for fewer than two."""
    n = len(changes)
    if n < 2:
        return Difference(changes[0] if n else None, -math.inf, math.inf, level)
    mean = math.fsum(changes) / n
    half = float(stdtrit(n - 1, (1 + checked_level(level)) / 2)) * float(np.std(changes, ddof=1)) / math.sqrt(n)
    return Difference(mean, mean - half, mean + half, level)


def _compare_field(
    path: str, pairs: Sequence[PairedField], cost: float, most_fall: float, level: float
) -> FieldComparison:
    n = len(pairs)
    n_lost = sum(pair.is_correct_a and not pair.is_correct_b for pair in pairs)
    n_won = sum(pair.is_correct_b and not pair.is_correct_a for pair in pairs)
    return FieldComparison(
        field_path=path,
        n=n,
        accuracy_a=sum(pair.is_correct_a for pair in pairs) / n,
        accuracy_b=sum(pair.is_correct_b for pair in pairs) / n,
        n_lost=n_lost,
        n_won=n_won,
        difference=paired_difference(n_lost, n_won, n, level),
        p=mcnemar_p(n_lost, n_won),
        cost=cost,
        # The slack keeps one lost of 200 at a fall of exactly half a point, whatever the quotient rounds to.
        is_fallen=cost > 0 and (n_lost - n_won) / n > most_fall + _ROUNDING,
    )


def _difference_as_json(difference: Difference) -> dict[str, float | None]:
    return {
        "point": difference.point,
        "lower": difference.lower if math.isfinite(difference.lower) else None,
        "upper": difference.upper if math.isfinite(difference.upper) else None,
        "level": difference.level,
    }
