import json
from typing import Any

import pytest

from inference.training.errors import TrainingError
from inference.training.plan import TrainingPlan

GIVEN: dict[str, Any] = {"weights_folder": "/w", "data_folder": "/d", "out_folder": "/o", "max_length": 4096}


def test_a_plan_survives_json() -> None:
    plan = TrainingPlan(**GIVEN, steps=5, learning_rate=3e-4)
    assert TrainingPlan.from_json(json.loads(json.dumps(plan.as_json()))) == plan


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": 0},
        {"steps": True},
        {"steps": 1.5},
        {"rank": 0},
        {"rank": 513},
        {"batch_size": 0},
        {"gradient_accumulation": 0},
        {"seed": -1},
        {"seed": 2**32},
        {"max_length": 10},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"learning_rate": float("inf")},
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"weights_folder": ""},
    ],
)
def test_what_nothing_can_be_trained_with_is_refused_by_name(changed: dict[str, Any]) -> None:
    [name] = changed
    with pytest.raises(TrainingError, match=f"^{name}: must ") as refused:
        TrainingPlan(**{**GIVEN, **changed})
    assert refused.value.code == "training_plan_invalid"


@pytest.mark.parametrize("changed", [{"rank": 1}, {"rank": 512}, {"seed": 0}, {"seed": 2**32 - 1}, {"dropout": 0.0}])
def test_the_ends_of_a_range_are_within_it(changed: dict[str, Any]) -> None:
    assert TrainingPlan(**{**GIVEN, **changed})


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(TrainingError, match=r"steps: must .*; rank: must "):
        TrainingPlan(**GIVEN, steps=0, rank=0)


def test_keys_that_are_unknown_or_missing_are_named() -> None:
    with pytest.raises(TrainingError, match="epochs: is not a known key; out_folder: is required"):
        TrainingPlan.from_json({"epochs": 3, **{name: GIVEN[name] for name in GIVEN if name != "out_folder"}})


def test_a_reason_that_nobody_knows_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="unknown reason"):
        TrainingError("because", "")
