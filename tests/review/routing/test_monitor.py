"""The monitor stays silent while the target is kept, however often it is asked, and stops what has turned bad."""

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.routing.monitor import Monitor, MonitorError, thetas, watch
from review.routing.spending import share_of_look
from review.routing.thinning import ExaminedValue

TARGET = 0.1
RIGHT = ExaminedValue("d", "/a", 0.9, is_wrong=False)
WRONG = replace(RIGHT, is_wrong=True)


def audits(is_wrong: list[bool]) -> Iterator[list[ExaminedValue]]:
    return ([WRONG if wrong else RIGHT] for wrong in is_wrong)


def delay(chance: float, *, n_before: int = 0, seed: int = 0, n: int = 1_500) -> int | None:
    """Audits from the beginning of trouble until the monitor trips; 0.03 are wrong before."""
    random = np.random.default_rng(seed)
    is_wrong = random.random(n_before + n) < np.where(np.arange(n_before + n) < n_before, 0.03, chance)
    tripped = watch(Monitor(TARGET), audits(is_wrong.tolist())).tripped_at
    return None if tripped is None else tripped - n_before


def test_the_mean_wealth_never_grows_on_average_at_the_target() -> None:
    """The law behind it, exactly: over all outcomes of ten audits the wealth and the money still to come make 1."""
    n = 10
    whole = 0.0
    for outcome in range(2**n):
        is_wrong = [bool(outcome >> place & 1) for place in range(n)]
        chance = TARGET ** sum(is_wrong) * (1 - TARGET) ** (n - sum(is_wrong))
        whole += chance * math.exp(watch(Monitor(TARGET), audits(is_wrong)).evidence)
    assert whole == pytest.approx(sum(map(share_of_look, range(1, n + 1))), rel=1e-9)


def test_the_wealth_is_the_sum_over_all_beginners() -> None:
    is_wrong = [True, False, True, False, False, True]
    monitor = watch(Monitor(TARGET), audits(is_wrong))
    wealth = 0.0
    for stake in thetas(TARGET):
        for first in range(len(is_wrong)):
            bets = [1 + stake * (wrong - TARGET) / TARGET for wrong in is_wrong[first:]]
            wealth += share_of_look(first + 1) * math.prod(bets) / len(thetas(TARGET))
    assert monitor.evidence == pytest.approx(math.log(wealth))


@given(is_wrong=st.lists(st.booleans(), min_size=1, max_size=40), data=st.data())
def test_a_verdict_that_turns_wrong_never_lowers_the_evidence(is_wrong: list[bool], data: st.DataObject) -> None:
    """Why counting anew is safe: an alarm raised before all is settled is one that the settled verdicts raise too."""
    place = data.draw(st.integers(0, len(is_wrong) - 1))
    without, with_it = ([*is_wrong[:place], one, *is_wrong[place + 1 :]] for one in (False, True))
    before, after = (watch(Monitor(TARGET), audits(one)) for one in (without, with_it))
    assert after.evidence >= before.evidence
    assert before.tripped_at is None or (after.tripped_at or 10**9) <= before.tripped_at


def test_late_corrections_cry_wolf_no_more_often_than_verdicts_that_were_right_at_once() -> None:
    """Reviewers miss half of the errors; somebody finds them 50 audits later, and all is counted anew each time."""
    n_worlds, n_audits, lag = 60, 300, 50
    n_tripped = 0
    for seed in range(n_worlds):
        random = np.random.default_rng(seed)
        truth = random.random(n_audits) < TARGET
        is_missed = random.random(n_audits) < 0.5
        for looked in range(lag, n_audits + 1, lag):
            known = truth[:looked] & ~(is_missed[:looked] & (np.arange(looked) > looked - lag))
            if watch(Monitor(TARGET), audits(known.tolist())).is_tripped:
                n_tripped += 1
                break
    assert n_tripped <= n_worlds * 0.05 + 2 * math.sqrt(n_worlds * 0.05 * 0.95)


def test_it_is_silent_while_the_target_is_kept() -> None:
    n_tripped = sum(delay(TARGET, seed=seed, n=600) is not None for seed in range(60))
    assert n_tripped <= 60 * 0.05 + 2 * math.sqrt(60 * 0.05 * 0.95)


@pytest.mark.parametrize("n_before", [0, 800])
@pytest.mark.parametrize(("chance", "most"), [(0.3, 200), (0.6, 60), (1.0, 20)])
def test_it_trips_soon_after_trouble_began_even_if_all_was_well_for_long(
    chance: float, most: int, n_before: int
) -> None:
    delays = [delay(chance, n_before=n_before, seed=seed, n=400) for seed in range(7)]
    assert all(one is not None and one > 0 for one in delays)
    assert np.median([one or 0 for one in delays]) <= most


def test_the_worse_it_gets_the_sooner_it_trips() -> None:
    medians = [np.median([delay(chance, seed=seed) or 1_500 for seed in range(5)]) for chance in (0.2, 0.4, 0.8)]
    assert medians == sorted(medians, reverse=True)


@given(st.lists(st.booleans(), max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_looking_daily_changes_nothing(is_wrong: list[bool], cuts: list[int]) -> None:
    at_once = watch(Monitor(TARGET), audits(is_wrong))
    monitor = Monitor(TARGET)
    places = [0, *sorted(min(cut, len(is_wrong)) for cut in cuts), len(is_wrong)]
    for start, end in itertools.pairwise(places):
        stored = json.loads(json.dumps(monitor.as_json()))
        monitor = watch(Monitor.from_json(stored), audits(is_wrong[start:end]))
    assert monitor == at_once


def test_it_stays_tripped_and_goes_on_counting() -> None:
    monitor = watch(Monitor(TARGET), audits([True] * 30))
    assert monitor.is_tripped
    later = watch(monitor, audits([False] * 500))
    assert later.tripped_at == monitor.tripped_at
    assert (later.n_documents, later.n_wrong) == (530, 30)
    assert later.evidence < monitor.evidence


def test_nothing_seen_is_no_evidence() -> None:
    monitor = watch(Monitor(TARGET), [[], []])
    assert monitor == Monitor(TARGET)
    assert monitor.evidence == -math.inf
    assert not monitor.is_tripped


def test_what_is_looked_at_often_moves_the_wealth_less() -> None:
    rare, often = (
        replace(WRONG, inclusion_probability=0.02, floor=0.02),
        replace(WRONG, inclusion_probability=0.2, floor=0.02),
    )
    evidence = [watch(Monitor(TARGET), [[one]] * 5).evidence for one in (rare, often)]
    assert evidence[0] > evidence[1]
    assert watch(Monitor(TARGET), [[rare]] * 5).evidence == watch(Monitor(TARGET), [[WRONG]] * 5).evidence


def test_a_document_that_is_wrong_in_every_row_counts_as_one_document() -> None:
    rows = [replace(WRONG, field_path=f"/rows/{n}") for n in range(8)]
    whole = watch(Monitor(TARGET, most_per_document=8), [rows] * 3)
    assert whole.evidence == pytest.approx(watch(Monitor(TARGET), audits([True] * 3)).evidence)
    assert whole.n_wrong == 24
    # More rows than count in full change nothing, and a single row counts as an eighth.
    more = [replace(WRONG, field_path=f"/rows/{n}") for n in range(40)]
    assert watch(Monitor(TARGET, most_per_document=8), [more] * 3).evidence == pytest.approx(whole.evidence)
    assert watch(Monitor(TARGET, most_per_document=8), [rows[:1]] * 3).evidence < whole.evidence


def test_rows_that_are_wrong_together_raise_no_alarm_while_the_target_is_kept() -> None:
    n_tripped = 0
    for seed in range(40):
        is_wrong = np.random.default_rng(seed).random(200) < TARGET
        documents = [
            [replace(WRONG if wrong else RIGHT, field_path=f"/rows/{n}") for n in range(8)] for wrong in is_wrong
        ]
        n_tripped += watch(Monitor(TARGET, most_per_document=8), documents).is_tripped
    assert n_tripped <= 40 * 0.05 + 2 * math.sqrt(40 * 0.05 * 0.95)


@pytest.mark.parametrize("target", [0.001, 0.005, 0.05, 0.2, 0.4])
def test_no_document_can_take_all_the_money(target: float) -> None:
    stakes = thetas(target)
    assert stakes == tuple(sorted(set(stakes)))
    assert all(0 < stake < 1 for stake in stakes)
    assert math.isfinite(watch(Monitor(target), audits([False] * 100)).evidence)


@pytest.mark.parametrize(
    "values",
    [{"target": 0.0}, {"target": 0.5}, {"target": 0.1, "false_alarm": 0.0}, {"target": 0.1, "false_alarm": 1.0},
     {"target": 0.1, "most_per_document": 0}],
)  # fmt: skip
def test_a_monitor_that_can_watch_nothing_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="a monitor needs"):
        Monitor(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [{"log_wealth": [0.0]}, {"log_wealth": "?"}, {"log_wealth": [None] * 3}, {"target": 7}, {"colour": "red"}],
)
def test_a_state_that_is_none_is_refused(change: dict[str, object]) -> None:
    state = watch(Monitor(TARGET), audits([False])).as_json()
    with pytest.raises(MonitorError):
        Monitor.from_json({**state, **change})
    with pytest.raises(MonitorError):
        Monitor.from_json({name: value for name, value in state.items() if name != "log_wealth"})
