"""The benchmark of certified thresholds judges methods by the truth, and runs to its end with few worlds."""

import json

import numpy as np
import pytest

from review.routing.thinning import ExaminedValue, Trials
from tests.bench import looks, targets
from tests.bench.targets import Answers, Case
from tests.review.routing.value_worlds import Truth, World

# Half of the values have 0.9 and are right, half 0.4 to 0.5 and are wrong one time in ten.
TRUTH = Truth(
    (0.5, 0.45, 0.05),
    (np.full(1_000, 0.9), np.linspace(0.4, 0.5, 1_000), np.linspace(0.4, 0.5, 1_000)),
    (False, False, True),
)


def case(n_wrong: int, target: float = 0.02) -> Case:
    confidence = np.concatenate([np.full(400, 0.9), np.linspace(0.5, 0.4, 400)])
    is_wrong = np.zeros(800, bool)
    is_wrong[400 : 400 + n_wrong] = True
    return Case(World([], confidence, TRUTH, 1), Trials(confidence, is_wrong), target)


def test_an_answer_is_judged_by_the_truth_and_a_broken_promise_stores_nothing() -> None:
    answers = Answers()
    for threshold in (0.9, 0.4, None):
        answers.add(case(0).world, threshold, 0.02)
    assert answers.stored == [0.5, 0.0, 0.0]
    assert (answers.n_certified, answers.n_broken) == (2, 1)
    assert answers.row("x") == ("x", pytest.approx(1 / 3), pytest.approx(2 / 3), pytest.approx(0.5 / 3))


def test_an_oracle_never_breaks_a_promise_however_lucky_the_labels() -> None:
    lucky = case(0)
    assert targets.fixed_sequence(lucky) == pytest.approx(0.4)
    for method in (targets.oracle, targets.lucky_oracle):
        found = method(lucky)
        assert found is not None
        assert float(TRUTH.at(np.array([found]))[0][0]) <= 0.02


def test_a_fixed_sequence_ends_at_the_first_threshold_that_fails() -> None:
    found = targets.fixed_sequence(case(100))
    assert found is not None
    assert 0.49 < found <= 0.9
    first_is_wrong = case(0)
    first_is_wrong.trials.is_wrong[:30] = True
    assert targets.fixed_sequence(first_is_wrong) is None


def test_mapie_answers_with_a_threshold_or_none() -> None:
    assert targets.mapie_on_trials(case(0)) is not None
    assert targets.mapie_on_trials(case(400, target=0.001)) is None
    assert targets.mapie_on_labels(case(0)) is None


def test_a_monitor_that_sees_nothing_but_errors_trips_and_one_that_sees_few_does_not() -> None:
    assert targets.trips(100.0, 0, 2, 1)[0] == 1
    assert targets.trips(0.1, 0, 2, 1) == (0.0, None)


def asked(confidences: list[float], n_wrong_first: int, way: str, target: float = 0.2) -> looks.Asked:
    """What comes of asking a world of so many documents of 0.9, the first so many of them wrong."""
    values = [ExaminedValue(f"{n:03}", "/a", one, n < n_wrong_first) for n, one in enumerate(confidences)]
    world = World(values, np.array(confidences), TRUTH, 1)
    return looks.ask(world, looks.trials_so_far(world), target, 0.05, looks.WAYS[way])


def test_looks_that_could_not_pass_leave_the_first_share_to_the_one_that_can() -> None:
    # Of 15 trials, all right, 0.8 of the allowance certifies 20 %; the four looks before have 0, 1, 3 and 7.
    assert asked([0.9] * 15, 0, "Stet") == (True, False, 0.5)
    assert asked([0.9] * 15, 0, "evenly") == (False, False, 0.0)
    assert asked([0.9] * 14, 0, "one look") == (True, False, 0.5)


def test_a_promise_broken_at_any_look_stays_broken() -> None:
    # All values are stored from 0.4 on, 5 % of which are wrong in truth; the errors come too late to be seen.
    late = [ExaminedValue(f"{n:03}", "/a", 0.4, n > 150) for n in range(200)]
    world = World(late, np.full(200, 0.4), TRUTH, 1)
    found = looks.ask(world, looks.trials_so_far(world), 0.04, 0.05, looks.WAYS["uncounted"])
    assert found == (True, True, 0.0)


def test_the_benchmark_runs_to_its_end_with_few_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    targets.main(["--worlds", "4", "--runs", "1"])
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["benchmark"] == "targets"
    assert result["n_worlds"] == 4
    assert {row[2] for row in result["rows"]} == set(targets.METHODS)
    assert len(result["again"]) == len(targets.TARGETS) * len(looks.WAYS)
    assert len(result["budgets"]) == 2 * len(targets.TARGETS) + 2
