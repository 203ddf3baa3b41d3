"""Certified thresholds in worlds whose truth is known: how often the promise is broken, and how much is automated.

The *oracle* has the same labels, the same trials and the same bound, and knows the truth beside: it takes the loosest
threshold that the bound carries and that keeps the target. The *lucky oracle* takes the loosest that keeps the target
and at which Clopper and Pearson's limit, taken by itself, happens to pass: picking the luckiest of all thresholds is
what no method may do that does not know the truth. Fixed-sequence testing with that limit begins at the strictest
threshold that can pass at all. MAPIE's BinaryClassificationController ("learn then test", its defaults but for the
thresholds) has no weights and no clusters: it is given the examined values as they are, then our trials.
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from mapie.risk_control import BinaryClassificationController
from scipy.special import bdtr

from review.routing.monitor import Monitor, watch
from review.routing.targets import Target, by_threshold, certify, loosest_carried, planned_trials
from review.routing.thinning import ExaminedValue, Trials, thin
from tests.bench import looks
from tests.bench.report import Budget, finish, ratio, table, write
from tests.review.routing.value_worlds import FAMILIES, World, make_world

Floats = npt.NDArray[np.float64]

TARGETS = (0.005, 0.01, 0.02)
DELTA = 0.05
LEAST_OF_ORACLE = 0.9
DRIFTS = (1.0, 2.0, 3.0, 5.0, 10.0)
AGAIN_HEADER = ("target", "spent", "broken at any look", "certified at any", "stored at the last")
DRIFT_HEADER = ("wrong after", "audits before", "tripped", "audits until then")
_MAPIE_THRESHOLDS = 60


@dataclass
class Answers:
    """What one method answered: share stored by world (0 where wrongly), how often it certified, how often wrongly."""

    stored: list[float] = field(default_factory=list)
    n_certified: int = 0
    n_broken: int = 0

    def add(self, world: World, threshold: float | None, target: float) -> None:
        """Count an answer; None for no threshold."""
        wrong, stored = world.truth.at(np.array([2.0 if threshold is None else threshold]))
        is_broken = bool(wrong[0] > target)
        self.stored.append(0.0 if is_broken else float(stored[0]))
        self.n_certified += threshold is not None
        self.n_broken += is_broken

    def row(self, *names: object) -> tuple[object, ...]:
        """Return a row of the table."""
        n = len(self.stored)
        return (*names, self.n_broken / n, self.n_certified / n, float(np.mean(self.stored)))


@dataclass(frozen=True)
class Case:
    """A world with its trials by threshold, and a target."""

    world: World
    trials: Trials
    target: float

    def loosest(self, is_allowed: npt.NDArray[np.bool_]) -> float | None:
        """Return the loosest of the thresholds at which trials lie that is allowed."""
        places = np.flatnonzero(is_allowed)
        return float(by_threshold(self.trials)[0][places[-1]]) if len(places) else None


def ours(case: Case) -> float | None:
    """Return the threshold of our certificate."""
    target = Target(case.target, 1 - DELTA, case.world.most_per_document)
    return certify(case.world.values, case.world.frame, target).threshold


def oracle(case: Case) -> float | None:
    """Return the loosest threshold that our bound carries and that keeps the target in truth."""
    limits, n, n_wrong = by_threshold(case.trials)
    target, planned = Target(case.target, 1 - DELTA), planned_trials(case.trials, case.target)
    carried = [loosest_carried(n[k : k + 1], n_wrong[k : k + 1], planned, target) == 0 for k in range(len(n))]
    return case.loosest(np.array(carried, bool) & (case.world.truth.at(limits)[0] <= case.target))


def lucky_oracle(case: Case) -> float | None:
    """Return the loosest threshold that passes Clopper and Pearson by itself and keeps the target in truth."""
    limits, n, n_wrong = by_threshold(case.trials)
    return case.loosest((bdtr(n_wrong, n, case.target) <= DELTA) & (case.world.truth.at(limits)[0] <= case.target))


def fixed_sequence(case: Case) -> float | None:
    """Return the last of the thresholds that pass Clopper and Pearson one after the other."""
    _, n, n_wrong = by_threshold(case.trials)
    can_pass, passes = bdtr(0, n, case.target) <= DELTA, bdtr(n_wrong, n, case.target) <= DELTA
    return case.loosest(can_pass & np.logical_and.accumulate(passes | ~can_pass))


def mapie_on_labels(case: Case) -> float | None:
    """Return MAPIE's answer to the examined values as they are."""
    values = case.world.values
    return mapie(np.array([one.confidence for one in values]), np.array([one.is_wrong for one in values]), case.target)


def mapie_on_trials(case: Case) -> float | None:
    """Return MAPIE's answer to our trials."""
    return mapie(case.trials.confidence, case.trials.is_wrong, case.target)


def mapie(confidence: Floats, is_wrong: npt.NDArray[np.bool_], target: float) -> float | None:
    """Return the loosest threshold that MAPIE calls valid, of 60 quantiles of the confidences."""
    if not len(confidence):
        return None
    controller = BinaryClassificationController(
        predict_function=lambda x: np.column_stack([1 - x[:, 0], x[:, 0]]),
        risk="precision",
        target_level=1 - target,
        confidence_level=1 - DELTA,
        list_predict_params=np.unique(np.quantile(confidence, np.linspace(0, 0.98, _MAPIE_THRESHOLDS))),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where no threshold is valid, which is an answer here
        controller.calibrate(confidence[:, None], (~is_wrong).astype(int))
    valid = np.asarray(controller.valid_predict_params)
    return float(valid.min()) if valid.size else None


METHODS: dict[str, Callable[[Case], float | None]] = {
    "Stet": ours,
    "oracle": oracle,
    "lucky oracle": lucky_oracle,
    "fixed sequence": fixed_sequence,
    "MAPIE on our trials": mapie_on_trials,
    "MAPIE on the labels": mapie_on_labels,
}


def measure(n_worlds: int, seed: int) -> dict[tuple[float, str, str], Answers]:
    """Return the answers by target, family of worlds and method."""
    found: dict[tuple[float, str, str], Answers] = {}
    for number in range(n_worlds):
        family = FAMILIES[number % len(FAMILIES)]
        world = make_world(np.random.default_rng([seed, number]), family)
        trials = thin(world.values, most_per_document=world.most_per_document)
        for target in TARGETS:
            case = Case(world, trials, target)
            for name, method in METHODS.items():
                found.setdefault((target, family, name), Answers()).add(world, method(case), target)
    return found


def together(found: dict[tuple[float, str, str], Answers], target: float, name: str) -> Answers:
    """Return the answers of a method for a target over all families."""
    parts = [answers for (of, _, method), answers in found.items() if (of, method) == (target, name)]
    return Answers(
        [share for part in parts for share in part.stored],
        sum(part.n_certified for part in parts),
        sum(part.n_broken for part in parts),
    )


def trips(fold: float, n_before: int, n_runs: int, seed: int) -> tuple[float, int | None]:
    """Return how often a monitor at 1 % trips within 5,000 audits of a drift to `fold` %, and after how many (median).

    Before the drift 0.3 % are wrong, for `n_before` audits.
    """
    delays = []
    for run in range(n_runs):
        random = np.random.default_rng([seed, run, n_before, int(10 * fold)])
        chance = np.where(np.arange(n_before + 5_000) < n_before, 0.003, 0.01 * fold)
        audits = random.random(len(chance)) < chance
        monitor = Monitor(0.01)
        for start in range(0, len(audits), 250):
            part = audits[start : start + 250]
            monitor = watch(monitor, ([ExaminedValue("1", "/a", 0.9, is_wrong)] for is_wrong in part.tolist()))
            if monitor.tripped_at is not None:
                delays.append(monitor.tripped_at - n_before)
                break
    return len(delays) / n_runs, int(np.median(delays)) if delays else None


def _asked_again(n_worlds: int, seed: int) -> dict[tuple[float, str], list[looks.Asked]]:
    made = (make_world(np.random.default_rng([seed, n]), FAMILIES[n % len(FAMILIES)]) for n in range(n_worlds))
    return looks.ask_all(made, TARGETS, DELTA)


def allowed_above(share: float, n: int) -> float:
    """Return a share with two standard errors of a simulation of n runs."""
    return share + 2 * float(np.sqrt(share * (1 - share) / n))


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="targets", description=__doc__)
    parser.add_argument("--worlds", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=100, help="runs of the monitor for each drift")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args(arguments)
    found = measure(options.worlds, options.seed)
    header = ("target", "worlds", "method", "broken", "certified", "stored")
    write(table(header, [answers.row(f"{key[0]:g}", *key[1:]) for key, answers in sorted(found.items())]))
    allowed = allowed_above(DELTA, options.worlds)
    budgets, whole = [], []
    for target in TARGETS:
        of = {name: together(found, target, name) for name in METHODS}
        whole += [answers.row(f"{target:g}", "all", name) for name, answers in of.items()]
        broken, stored = of["Stet"].n_broken / options.worlds, float(np.mean(of["Stet"].stored))
        share = ratio(stored, float(np.mean(of["oracle"].stored)))
        budgets.append(Budget(f"target {target:g}: worlds in which it is broken", broken, allowed))
        budgets.append(Budget(f"target {target:g}: stored ÷ oracle", share, LEAST_OF_ORACLE, is_floor=True))
    whole_again = [looks.row(*key, asked) for key, asked in _asked_again(options.worlds, options.seed).items()]
    write(table(AGAIN_HEADER, whole_again))
    broken = max(float(row[2]) for row in whole_again if row[1] == "Stet")
    budgets.append(Budget("asked again and again: worlds in which any answer breaks it", broken, allowed))
    drifts = [
        (f"{fold:g} %", n_before, *trips(fold, n_before, options.runs, options.seed))
        for fold in DRIFTS
        for n_before in (0, 1_000)
    ]
    write(table(DRIFT_HEADER, drifts))
    false_alarms = max(tripped for fold, _, tripped, _ in drifts if fold == "1 %")
    budgets.append(
        Budget("monitor: tripped though the target is kept", false_alarms, allowed_above(DELTA, options.runs))
    )
    figures = {"rows": whole, "again": whole_again, "drifts": drifts, "n_worlds": options.worlds}
    return finish("targets", header, whole, budgets, figures)
