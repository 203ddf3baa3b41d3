import json
from collections.abc import Sequence

import pytest

from review.accuracy.evaluation import FieldCase, field_result
from review.accuracy.intervals import wilson


def cases(*rows: tuple[str | None, str | None, float | None]) -> list[FieldCase]:
    return [FieldCase(*row) for row in rows]


@pytest.mark.parametrize(
    ("truth", "prediction", "is_correct"),
    [("a", "a", True), ("a", "b", False), ("a", None, False), (None, "a", False), (None, None, True)],
)
def test_right_is_what_the_page_shows(truth: str | None, prediction: str | None, is_correct: bool) -> None:
    assert FieldCase(truth, prediction, None).is_correct is is_correct


def test_every_figure_of_a_small_set() -> None:
    result = field_result(
        cases(("1.00", "1.00", 0.99), ("2.00", "2.50", 0.98), ("3.00", None, None), (None, None, None))
    )
    assert result.n == 4
    assert result.exact_match == wilson(2, 4)
    # One letter of four is wrong, then four are missing: five of twelve.
    assert result.cer == pytest.approx(5 / 12)
    assert result.missing_share == pytest.approx(1 / 3)
    assert result.coverage_at_99.share == pytest.approx(1 / 4)
    assert result.coverage_at_99.threshold == 0.99


@pytest.mark.parametrize(("n_right", "share"), [(99, 1.0), (98, 0.98)])
def test_coverage_is_over_all_documents(n_right: int, share: float) -> None:
    rows: list[tuple[str | None, str | None, float | None]] = [("a", "a", 0.9)] * n_right
    rows += [("a", "b", 0.1 * (1 + number % 2)) for number in range(100 - n_right)]
    assert field_result(cases(*rows)).coverage_at_99.share == pytest.approx(share)


def test_nothing_gives_figures_of_nothing() -> None:
    result = field_result([])
    assert (result.n, result.exact_match.point, result.cer, result.missing_share) == (0, None, None, None)
    assert result.coverage_at_99.share == 0.0


@pytest.mark.parametrize(
    "rows",
    [(), (("a", "a", 0.5),), (("a", None, None),), ((None, "a", 0.2),)],
    ids=["none", "right", "missed", "spurious"],
)
def test_the_keys_are_those_of_the_command(rows: Sequence[tuple[str | None, str | None, float | None]]) -> None:
    data = field_result(cases(*rows)).as_json()
    assert {"n", "exact_match", "cer", "missing_share", "coverage_at_99"} <= data.keys()
    assert data["exact_match"].keys() == {"point", "lower", "upper"}
    assert isinstance(data["coverage_at_99"], float)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
