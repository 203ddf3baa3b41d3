from typing import Any

import pytest

from inference.answers.fit import fit
from tests.inference.answers.types_read import bill

NAMES = list(bill()["properties"])


def all_names(**more: Any) -> dict[str, Any]:
    return dict.fromkeys(NAMES) | more


def test_null_stands_for_an_empty_object_and_for_no_rows() -> None:
    fitted = fit(all_names(), bill())
    assert (fitted.values["buyer"], fitted.values["items"]) == ({}, [])
    assert not fitted.misfits
    assert not fitted.unknown


def test_a_name_beside_all_that_were_asked_for_is_unknown() -> None:
    fitted = fit(all_names(colour="red"), bill())
    assert [path for path, _ in fitted.unknown] == ["/colour"]
    assert not fitted.misfits


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        ({"totals": "1"}, "/totals"),
        (all_names(**{'total": "1", "date': "2"}), '/total": "1", "date'),
        (all_names(buyer={"name": "x"}), "/buyer/name"),
        (all_names(items=[{"text": "tea", "price": "1"}]), "/items/0/price"),
        (all_names(seller=[]), "/seller"),
        (all_names(items=[None, "tea"]), "/items/1"),
        ("x", ""),
        (None, ""),
    ],
)
def test_what_may_be_something_else_is_a_misfit(answer: Any, pointer: str) -> None:
    assert [path for path, _ in fit(answer, bill()).misfits] == [pointer]
