import json
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


@pytest.mark.parametrize("character", ["\0", "\x07", "\x0b", "\r", "\x1b", "\x1f", "\ud800", "\ude00\ud83d"])
@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        ({"seller": "AC%sME"}, "/seller"),
        ({"buyer": {"phone": "1%s2"}}, "/buyer/phone"),
        ({"items": [{"text": "tea"}, {"text": "t%sea"}]}, "/items/1/text"),
        ({"items": "| Text | Amount |\n|---|---|\n| t%sea | 1.00 |"}, "/items"),
    ],
)
def test_a_value_that_cannot_be_kept_as_text_is_named_and_none(answer: Any, pointer: str, character: str) -> None:
    fitted = fit(json.loads(json.dumps(answer).replace("%s", json.dumps(character)[1:-1])), bill())
    assert [path for path, _ in fitted.not_text] == [pointer]
    assert character not in repr(fitted.values)


@pytest.mark.parametrize("character", ["\t", "\n", "é", "茶", "😀", "\x7f", "\ue000"])
def test_tabs_newlines_and_all_characters_of_unicode_are_text(character: str) -> None:
    fitted = fit({"seller": f"AC{character}ME"}, bill())
    assert fitted.values == {"seller": f"AC{character}ME"}
    assert not fitted.not_text


@pytest.mark.parametrize("name", ["colour\ud800", "total\0"])
@pytest.mark.parametrize("given", [{}, all_names()])
def test_a_name_that_cannot_be_kept_as_text_is_told_without_it(given: dict[str, Any], name: str) -> None:
    fitted = fit(given | {name: "red"}, bill())
    assert [path for path, _ in fitted.not_text] == [""]
    assert not fitted.unknown
    assert str(fitted.not_text).isprintable()
