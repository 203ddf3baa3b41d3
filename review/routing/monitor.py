"""Whether values stored unseen still keep their target, asked every day for years without crying wolf.

**The claim that is watched.** Audits look at stored values with known probabilities. As in `review.routing.thinning`
a value weighs w = floor/pi x unseen_share, at most 1, and a document weighs W = the sum of its weights, of which at
most `most_per_document` count. For an audited document

    Z = sum of w (e - target) / most,      e = 1 for a wrong value, else 0,

has a mean of at most 0, given all before it, as long as the wrong share among values stored unseen is at most the
target, however the values of a document depend on each other. Nothing is thrown away here.

**The bet.** A gambler who starts with 1 and stakes a share of his wealth on every document multiplies it by
1 + theta Z/target, 0 < theta < 1, which is never below 0 since Z >= -target. While the target is kept this is a fair or
unfavourable game, and by Ville's inequality (1939) the wealth *ever* reaches 1/a with probability at most a: the
monitor may be looked at after every document, and stopped at will (Ramdas, Grünwald, Vovk & Shafer 2023, Statistical
Science 38, 576-601; Waudby-Smith & Ramdas 2024, JRSS B 86, 1-27). For single values 1 + theta Z/target is the
likelihood ratio of the wrong share target + theta (1 - target) against the target: the fastest growth there is where
that is the truth. Several thetas (the share has grown 2-, 4-, 8- or 16-fold) split the money evenly.

**Drift.** Trouble begins on some later day, when a gambler who has played since the first has long lost his money. So a
new one begins before each document, number j with the money `share_of_look(j)`: all money together is 1, so Ville's
inequality holds for the sum as it did for one. Late beginners have little, which costs about ln j + 2 ln ln j in the
logarithm of the wealth and is the price of never crying wolf, however long it runs. Summed over beginners,

    wealth_j = (wealth_(j-1) + share_of_look(j)) (1 + theta Z_j/target)

(a weighted Shiryaev-Roberts sum; Shin, Ramdas & Rinaldo 2024, "E-detectors", arXiv:2203.03532).

The monitor trips when the mean wealth reaches 1/`false_alarm`, and stays tripped: turning a field on again starts a new
one. State is plain JSON; the same audits in the same order give the same state, in one batch or in many.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from review.routing.spending import share_of_look
from review.routing.thinning import ExaminedValue

_FOLDS = (2.0, 4.0, 8.0, 16.0)
_HIGHEST_ALTERNATIVE = 0.5


class MonitorError(ValueError):
    """A stored state that is none."""


@dataclass(frozen=True, slots=True)
class Monitor:
    """What is watched, and what has been seen.

    The first three are set when a field begins to be stored unseen. `log_wealth` has one number for each theta, None
    before the first document. `n_documents` and `n_wrong` count audited documents, and wrong values in them.
    `tripped_at` is the number of the document (from 1) with which the monitor tripped.
    """

    target: float
    false_alarm: float = 0.05
    most_per_document: int = 1
    log_wealth: tuple[float, ...] | None = None
    n_documents: int = 0
    n_wrong: int = 0
    tripped_at: int | None = None

    def __post_init__(self) -> None:
        if not (0 < self.target < _HIGHEST_ALTERNATIVE and 0 < self.false_alarm < 1 and self.most_per_document >= 1):
            raise ValueError(
                "a monitor needs a target above 0 and below 0.5, a false alarm rate in 0-1 and at least one value"
            )

    @property
    def is_tripped(self) -> bool:
        """Whether storing unseen must stop."""
        return self.tripped_at is not None

    @property
    def evidence(self) -> float:
        """The logarithm of the mean wealth: at most ln(1/false_alarm) for ever, with that probability, if all is well.

        Minus infinity before the first document.
        """
        if self.log_wealth is None:
            return -math.inf
        return _log_sum(self.log_wealth) - math.log(len(self.log_wealth))

    def as_json(self) -> dict[str, Any]:
        """Return plain data; `from_json` is its inverse."""
        return asdict(self) | {"log_wealth": None if self.log_wealth is None else list(self.log_wealth)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Monitor":
        """Return the monitor of stored data; raise MonitorError where it is none."""
        try:
            wealth = data["log_wealth"]
            monitor = cls(**{**data, "log_wealth": None if wealth is None else tuple(map(float, wealth))})
        except (KeyError, TypeError, ValueError) as error:
            raise MonitorError("this is not the state of a monitor") from error
        if monitor.log_wealth is not None and len(monitor.log_wealth) != len(thetas(monitor.target)):
            raise MonitorError("this state belongs to a monitor with other bets")
        return monitor


def thetas(target: float) -> tuple[float, ...]:
    """Return the stakes: for a wrong share 2, 4, 8 and 16 times the target, none above a half."""
    alternatives = sorted({min(fold * target, _HIGHEST_ALTERNATIVE) for fold in _FOLDS})
    return tuple((alternative - target) / (1 - target) for alternative in alternatives)


def watch(monitor: Monitor, documents: Iterable[Sequence[ExaminedValue]]) -> Monitor:
    """Return the monitor after the audited `documents`, each the examined values of the field in it.

    They must come in the order in which they were audited, or in any order that does not depend on what was found.
    A tripped monitor counts on and stays tripped. A document without values says nothing and is passed over.
    """
    stakes = thetas(monitor.target)
    for values in documents:
        if not values:
            continue
        number = monitor.n_documents + 1
        gain = _gain(values, monitor) / monitor.target
        money = math.log(share_of_look(number))
        before = monitor.log_wealth or (-math.inf,) * len(stakes)
        monitor = replace(
            monitor,
            log_wealth=tuple(
                _log_sum((wealth, money)) + math.log1p(stake * gain)
                for wealth, stake in zip(before, stakes, strict=True)
            ),
            n_documents=number,
            n_wrong=monitor.n_wrong + sum(value.is_wrong for value in values),
        )
        if not monitor.is_tripped and monitor.evidence >= -math.log(monitor.false_alarm):
            monitor = replace(monitor, tripped_at=number)
    return monitor


def _gain(values: Sequence[ExaminedValue], monitor: Monitor) -> float:
    """Return Z of a document: at least -target, at most 1 - target."""
    most = max(float(monitor.most_per_document), math.fsum(value.weight for value in values))
    return math.fsum(value.weight * (value.is_wrong - monitor.target) for value in values) / most


def _log_sum(logs: Iterable[float]) -> float:
    """Return log(sum(exp(...))) of numbers that may be minus infinity."""
    known = list(logs)
    highest = max(known)
    if highest == -math.inf:
        return highest
    return highest + math.log(math.fsum(math.exp(log - highest) for log in known))
