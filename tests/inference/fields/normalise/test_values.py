import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.normalise import TYPED, clean_text, find_values, normalise
from inference.types import ValueType

FREE_TEXT = {ValueType.TEXT, ValueType.NAME, ValueType.ADDRESS}


@pytest.mark.parametrize(
    ("value_type", "text", "value"),
    [
        (ValueType.AMOUNT, "RM 1,234.5", "1234.50"),
        (ValueType.NUMBER, "1,234.50", "1234.5"),
        (ValueType.DATE, "19 MAR 2018", "2018-03-19"),
        (ValueType.ID, "inv 12", "INV12"),
        (ValueType.PHONE, "07-355 2616", "073552616"),
        (ValueType.CURRENCY, "RM", "MYR"),
        (ValueType.TEXT, " a  b ", "a b"),
        (ValueType.NAME, "Acme Ltd,", "Acme Ltd"),
        (ValueType.ADDRESS, "1 High St,", "1 High St"),
    ],
)
def test_each_value_type_has_its_normaliser(value_type: ValueType, text: str, value: str) -> None:
    assert normalise(text, value_type, "en-MY").value == value


def test_typed_and_free_text_types_make_up_all_types() -> None:
    assert frozenset(ValueType) - FREE_TEXT == TYPED


@pytest.mark.parametrize("value_type", sorted(FREE_TEXT))
def test_free_text_is_not_searched_for(value_type: ValueType) -> None:
    assert find_values("anything 12.00", value_type) == []


@pytest.mark.parametrize(
    ("value_type", "text", "found"),
    [
        (ValueType.AMOUNT, "a 5.00 b", ["5.00"]),
        (ValueType.NUMBER, "a 5.00 b", ["5"]),
        (ValueType.DATE, "on 1/2/2018", ["2018-02-01"]),
        (ValueType.ID, "no A12", ["A12"]),
        (ValueType.PHONE, "tel 07-355 2616", ["073552616"]),
        (ValueType.CURRENCY, "in RM", ["MYR"]),
    ],
)
def test_each_typed_value_is_found_in_text(value_type: ValueType, text: str, found: list[str]) -> None:
    assert [item.normalised.value for item in find_values(text, value_type, "en-MY")] == found


@given(st.text(max_size=60), st.sampled_from(sorted(TYPED)), st.sampled_from(["en", "en-US", "de-DE", "zh-CN"]))
def test_found_spans_lie_in_the_text_and_never_overlap(text: str, value_type: ValueType, locale: str) -> None:
    cleaned = clean_text(text)
    end = 0
    for item in find_values(cleaned, value_type, locale):
        assert end <= item.start < item.end <= len(cleaned)
        end = item.end


@given(st.text(max_size=60), st.sampled_from(sorted(ValueType)))
def test_no_text_breaks_a_normaliser(text: str, value_type: ValueType) -> None:
    outcome = normalise(text, value_type, "en-MY")
    assert outcome.value is None or outcome.value.strip()
