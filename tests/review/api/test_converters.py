"""Ids that no database could hold never reach it."""

import re

import pytest

from review.api.converters import IdConverter, NumberConverter


@pytest.mark.parametrize("text", ["1", "17", "9" * 18])
def test_an_id_is_a_positive_integer_of_64_bits(text: str) -> None:
    assert re.fullmatch(IdConverter.regex, text)
    assert 0 < IdConverter().to_python(text) < 2**63


@pytest.mark.parametrize("text", ["0", "01", "-1", "+1", "1.0", "1e3", "9" * 19, "", " 1", "1\n", "٣", "x"])
def test_nothing_else_is_an_id(text: str) -> None:
    assert not re.fullmatch(IdConverter.regex, text)


@pytest.mark.parametrize(("text", "is_number"), [("1", True), ("9" * 9, True), ("9" * 10, False), ("0", False)])
def test_a_number_fits_31_bits(text: str, is_number: bool) -> None:
    assert bool(re.fullmatch(NumberConverter.regex, text)) is is_number
    assert not is_number or int(text) < 2**31
