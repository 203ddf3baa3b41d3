"""The cost of 1,000 pages: each part by its formula, and nothing made up where nothing was measured."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.accuracy.costs import NAMES, Costs, Measured, PriceError, Prices, costs_per_1000_pages, parse_prices

MEASURED = Measured(cpu_seconds=3.6, gpu_seconds=0.36, n_bytes=200_000, person_seconds=4.0, n_pages_month=100_000)
PRICES = Prices(
    cpu_hour=0.05, gpu_hour=2.0, storage_gb_month=0.02, storage_months=12, person_hour=36.0, operations_month=500.0
)


def test_each_part_is_price_times_what_was_measured() -> None:
    costs = costs_per_1000_pages(PRICES, MEASURED)
    assert costs.cpu == pytest.approx(0.05)
    assert costs.gpu == pytest.approx(0.2)
    assert costs.storage == pytest.approx(0.048)
    assert costs.people == pytest.approx(40.0)
    assert costs.operations == pytest.approx(5.0)
    assert costs.total == pytest.approx(45.298)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("cpu_seconds", "cpu"),
        ("gpu_seconds", "gpu"),
        ("n_bytes", "storage"),
        ("person_seconds", "people"),
        ("n_pages_month", "operations"),
    ],
)
def test_what_was_not_measured_leaves_its_part_and_the_whole_unknown(name: str, part: str) -> None:
    costs = costs_per_1000_pages(PRICES, replace(MEASURED, **{name: None}))
    assert getattr(costs, part) is None
    assert costs.total is None
    assert sum(one is None for one in costs.as_mapping().values()) == 1


def test_what_costs_nothing_need_not_be_measured() -> None:
    costs = costs_per_1000_pages(replace(PRICES, gpu_hour=0.0), replace(MEASURED, gpu_seconds=None))
    assert costs.gpu == 0
    assert costs.total is not None


def test_no_pages_a_month_is_no_division_by_nothing() -> None:
    assert costs_per_1000_pages(PRICES, replace(MEASURED, n_pages_month=0.0)).operations is None


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_twice_the_price_is_twice_the_cost(price: float, seconds: float) -> None:
    measured = replace(MEASURED, person_seconds=seconds)
    once = costs_per_1000_pages(replace(PRICES, person_hour=price), measured).people
    twice = costs_per_1000_pages(replace(PRICES, person_hour=2 * price), measured).people
    assert once is not None
    assert twice is not None
    assert math.isclose(twice, 2 * once, abs_tol=1e-300)


def test_the_parts_come_in_the_order_in_which_they_are_shown() -> None:
    assert list(Costs(1, 2, 3, 4, 5).as_mapping()) == ["cpu", "gpu", "storage", "people", "operations"]
    assert Costs(1, 2, 3, 4, 5).total == 15


def test_prices_left_out_keep_their_defaults() -> None:
    assert parse_prices({}) == Prices()
    assert parse_prices({"person_hour": 31.5}) == Prices(person_hour=31.5)
    assert "currency" in NAMES


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ({"cpu_hour": -1}, ["cpu_hour"]),
        ({"cpu_hour": float("nan")}, ["cpu_hour"]),
        ({"cpu_hour": float("inf")}, ["cpu_hour"]),
        ({"cpu_hour": True}, ["cpu_hour"]),
        ({"cpu_hour": "1"}, ["cpu_hour"]),
        ({"currency": "euro"}, ["currency"]),
        ({"currency": "eur"}, ["currency"]),
        ({"currency": "€€€"}, ["currency"]),
        ({"currency": 7}, ["currency"]),
        ({"tea": 1}, ["tea"]),
        ({"tea": 1, "gpu_hour": None, "person_hour": 2e9}, ["tea", "gpu_hour", "person_hour"]),
    ],
)
def test_wrong_prices_are_refused_with_every_problem(data: dict[str, Any], names: list[str]) -> None:
    with pytest.raises(PriceError) as refused:
        parse_prices(data)
    assert [name for name, _message in refused.value.problems] == names
