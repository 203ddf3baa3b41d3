"""Asking for a certificate again and again as labels arrive: how often an answer breaks the promise, what is stored.

Each world of `tests.bench.targets` is asked after a sixteenth, an eighth, a quarter, a half and all of its labels, in
the order in which they came. Four ways to spend the allowance delta over these looks:

- *Stet*: most on the first look, and a look that could not have passed spends nothing;
- *evenly*: a share for each look as the monitor spreads it over its beginners, whatever the look could do;
- *one look*: all of it at the end, and nothing before;
- *uncounted*: all of it every time, which promises nothing; what it breaks is what counting is for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from review.routing.spending import share_of_attempt, share_of_look
from review.routing.targets import Target, by_threshold, loosest_carried, planned_trials
from review.routing.thinning import ExaminedValue, Trials, thin
from tests.review.routing.value_worlds import World

PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)


class Way(NamedTuple):
    """A way to spend: the share of look number n of so many, and whether a look that cannot pass is one."""

    share: Callable[[int, bool], float]
    is_every_look_counted: bool


WAYS = {
    "Stet": Way(lambda look, _: share_of_attempt(look), is_every_look_counted=False),
    "evenly": Way(lambda look, _: share_of_look(look), is_every_look_counted=True),
    "one look": Way(lambda _, is_last: 1.0 if is_last else 0.0, is_every_look_counted=True),
    "uncounted": Way(lambda _look, _is_last: 1.0, is_every_look_counted=True),
}


class Asked(NamedTuple):
    """What came of asking a world in one way: any look certified, any of them wrongly, and the share last stored."""

    is_certified: bool
    is_broken: bool
    stored: float


def trials_so_far(world: World) -> list[Trials]:
    """Return the trials at each look."""
    return [thin(_first(world.values, part), most_per_document=world.most_per_document, salt="stet") for part in PARTS]


def _first(values: Sequence[ExaminedValue], part: float) -> Iterator[ExaminedValue]:
    """Yield the values of the documents that were examined first."""
    last = max(int(part * len(values)), 1)
    document = values[last - 1].document if values else ""
    for number, value in enumerate(values):
        if number >= last and value.document != document:
            break
        yield value


def ask(world: World, looks: Sequence[Trials], target: float, delta: float, way: Way) -> Asked:
    """Ask at every look in one way; the newest threshold stands, and nothing is stored by a promise that is broken."""
    look, is_broken, threshold = 1, False, None
    for number, trials in enumerate(looks, 1):
        share = way.share(look, number == len(looks))
        if share == 0 or not len(trials.confidence):
            continue
        wanted = Target(target, 1 - delta * share)
        limits, n, n_wrong = by_threshold(trials)
        planned = planned_trials(trials, target)
        could_pass = loosest_carried(n, np.zeros_like(n), planned, wanted) is not None
        place = loosest_carried(n, n_wrong, planned, wanted)
        if place is not None:
            threshold = float(limits[place])
            is_broken |= bool(world.truth.at(np.array([threshold]))[0][0] > target)
        look += could_pass or way.is_every_look_counted
    stored = float(world.truth.at(np.array([2.0 if threshold is None else threshold]))[1][0])
    return Asked(threshold is not None, is_broken, 0.0 if is_broken else stored)


def ask_all(worlds: Iterable[World], targets: Sequence[float], delta: float) -> dict[tuple[float, str], list[Asked]]:
    """Return what came of all worlds, by target and way."""
    found: dict[tuple[float, str], list[Asked]] = {}
    for world in worlds:
        looks = trials_so_far(world)
        for target in targets:
            for name, way in WAYS.items():
                found.setdefault((target, name), []).append(ask(world, looks, target, delta, way))
    return found


def row(target: float, name: str, asked: Sequence[Asked]) -> tuple[str, str, float, float, float]:
    """Return a row: promise broken at any look, certified at any, mean share stored."""
    broken, certified = (
        float(np.mean([getattr(one, what) for one in asked])) for what in ("is_broken", "is_certified")
    )
    return f"{target:g}", name, broken, certified, float(np.mean([one.stored for one in asked]))
