"""Two readers on the same documents: exact p, intervals that cover, and a gate that a fall cannot pass."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.accuracy.comparison import PairedField, compare, mcnemar_p, mean_difference, paired_difference


def pairs(n_both: int, n_lost: int, n_won: int, n_neither: int = 0, path: str = "/total") -> list[PairedField]:
    kinds = [(True, True)] * n_both + [(True, False)] * n_lost + [(False, True)] * n_won + [(False, False)] * n_neither
    return [PairedField(f"d{n}", path, a, b) for n, (a, b) in enumerate(kinds)]


@pytest.mark.parametrize(
    ("n_lost", "n_won", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (0, 5, 2 / 32),
        (5, 0, 2 / 32),
        (1, 9, 2 * 11 / 1024),
        (10, 1, 2 * 12 / 2048),
    ],
)
def test_p_is_the_exact_one(n_lost: int, n_won: int, p: float) -> None:
    assert mcnemar_p(n_lost, n_won) == pytest.approx(p)


def test_a_field_is_compared_on_what_changed() -> None:
    field = compare(pairs(80, 5, 10, 5), {}).fields["/total"]
    assert (field.n, field.n_lost, field.n_won) == (100, 5, 10)
    assert (field.accuracy_a, field.accuracy_b) == (0.85, 0.9)
    assert field.difference.point == pytest.approx(0.05)
    assert field.difference.lower < 0.05 < field.difference.upper
    assert field.p == mcnemar_p(5, 10)
    assert (field.cost, field.is_fallen) == (1.0, False)


@pytest.mark.parametrize(
    ("n", "n_lost", "is_fallen"), [(200, 1, False), (199, 1, True), (1_000, 5, False), (1_000, 6, True), (10, 1, True)]
)
def test_a_field_may_fall_by_half_a_point_and_no_more(n: int, n_lost: int, is_fallen: bool) -> None:
    found = compare(pairs(n - n_lost, n_lost, 0), {})
    assert found.fields["/total"].is_fallen is found.is_blocked is is_fallen


def test_what_is_won_makes_up_for_what_is_lost_in_the_same_field_only() -> None:
    assert not compare(pairs(90, 5, 5), {}).is_blocked
    both = compare(pairs(90, 0, 10) + pairs(90, 10, 0, path="/date"), {})
    assert both.fallen == ("/date",)


def test_a_field_whose_errors_cost_nothing_blocks_nothing() -> None:
    found = compare(pairs(50, 50, 0, path="/note"), {"/note": 0.0})
    assert found.fields["/note"].difference.point == -0.5
    assert not found.is_blocked
    assert found.cost.point == 0


def test_costs_weigh_the_fields_of_a_document() -> None:
    # In ten of a hundred documents B loses a total worth 5 and wins a date worth 1.
    some = pairs(90, 10, 0) + pairs(90, 0, 10, path="/date")
    found = compare(some, {"/total": 5.0, "/date": 1.0})
    assert found.n_documents == 100
    assert found.cost.point is not None
    assert found.cost.point == pytest.approx(0.0 + 0.1 * 5 - 0.1 * 1, abs=1e-12)
    assert found.cost.lower < found.cost.point < found.cost.upper


def test_errors_that_move_within_a_document_make_the_cost_no_less_sure_than_documents_are() -> None:
    together = compare([*pairs(90, 10, 0), *pairs(90, 10, 0, path="/b")], {}).cost
    apart = compare([*pairs(90, 10, 0), *(PairedField(f"d{99 - n}", "/b", True, n >= 90) for n in range(100))], {}).cost
    assert together.upper - together.lower > 1.2 * (apart.upper - apart.lower)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 200))
def test_an_interval_holds_its_point_and_turns_with_the_readers(n_lost: int, n_won: int, n_same: int) -> None:
    n = n_lost + n_won + n_same
    one, other = paired_difference(n_lost, n_won, n), paired_difference(n_won, n_lost, n)
    if n == 0:
        assert one.point is None
        return
    assert one.point is not None
    assert -1 <= one.lower <= one.point + 1 / (n + 2)
    assert one.point - 1 / (n + 2) <= one.upper <= 1
    assert one.lower == pytest.approx(-other.upper)


@pytest.mark.parametrize(("chance_lost", "chance_won"), [(0.02, 0.02), (0.01, 0.05), (0.1, 0.2), (0.002, 0.001)])
@pytest.mark.parametrize("n", [50, 300])
def test_the_95_percent_interval_covers_the_true_difference(n: int, chance_lost: float, chance_won: float) -> None:
    random = np.random.default_rng([n, int(1_000 * chance_lost)])
    kinds = random.multinomial(n, [chance_lost, chance_won, 1 - chance_lost - chance_won], size=2_000)
    intervals = [paired_difference(int(lost), int(won), n) for lost, won, _ in kinds]
    covered = np.mean([one.lower <= chance_won - chance_lost <= one.upper for one in intervals])
    assert covered >= 0.935


def test_the_mean_difference_has_students_interval() -> None:
    found = mean_difference([1.0, 2.0, 3.0, 6.0])
    assert found.point == 3
    # t with 3 degrees of freedom at 97.5 % is 3.1824; the standard error is sqrt(14/3)/2.
    assert found.upper - 3 == pytest.approx(3.18245 * math.sqrt(14 / 3) / 2, rel=1e-4)
    assert mean_difference([2.0]).upper == math.inf
    assert mean_difference([]).point is None


def test_readers_on_no_common_document_are_not_compared_and_block_nothing() -> None:
    found = compare([], {})
    assert (found.fields, found.n_documents, found.cost.point, found.is_blocked) == ({}, 0, None, False)


def test_a_comparison_is_plain_data() -> None:
    for some in (pairs(1, 0, 0), pairs(80, 5, 10) + pairs(3, 1, 0, path="/a")):
        found = compare(some, {"/a": 2.0})
        data = json.loads(json.dumps(found.as_json(), allow_nan=False))
        assert data["is_blocked"] == found.is_blocked
        assert list(data["fields"]) == sorted(data["fields"])
        assert data["fields"]["/total"]["difference"]["point"] == found.fields["/total"].difference.point


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        compare(pairs(1, 0, 0) * 2, {})
    with pytest.raises(ValueError, match="cost"):
        compare(pairs(1, 0, 0), {"/total": -1.0})
    with pytest.raises(ValueError, match="no more fields"):
        paired_difference(3, 3, 5)
    with pytest.raises(ValueError, match="level"):
        compare(pairs(1, 0, 0), {}, level=1.0)
