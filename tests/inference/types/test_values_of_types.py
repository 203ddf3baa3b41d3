"""Values are held against their document type, and no message repeats them."""

from hypothesis import given
from hypothesis import strategies as st

from inference.types import (
    SchemaProblem,
    validate_values,
)
from tests.inference.types.schemas import a_schema

VALUES = {"name": "Acme", "total": "1.50", "items": [{"text": "a", "count": "3"}]}


def test_values_that_fit_have_no_problems() -> None:
    assert validate_values(a_schema(), VALUES) == []


def test_a_missing_required_value_is_reported_at_its_own_path() -> None:
    found = validate_values(a_schema(), {"items": [{"count": "1"}]})
    assert [(item.field_path, item.code) for item in found] == [("/items/0/text", "required"), ("/name", "required")]


def test_null_counts_as_absent() -> None:
    assert SchemaProblem("/name", "required", "is required and absent") in validate_values(
        a_schema(), {**VALUES, "name": None}
    )
    assert validate_values(a_schema(), {**VALUES, "total": None}) == []


def test_number_strings_satisfy_number_types_and_other_strings_do_not() -> None:
    assert validate_values(a_schema(), {**VALUES, "items": [{"text": "a", "count": "12"}]}) == []
    found = validate_values(a_schema(), {**VALUES, "items": [{"text": "a", "count": "1.5"}]})
    assert [(item.field_path, item.code) for item in found] == [("/items/0/count", "type")]
    found = validate_values(a_schema(), {**VALUES, "items": [{"text": "a", "count": "NaN"}]})
    assert [item.code for item in found] == ["type"]


def test_bounds_are_checked_on_canonical_number_strings() -> None:
    schema = a_schema()
    schema["properties"]["items"]["items"]["properties"]["count"]["minimum"] = 5
    found = validate_values(schema, VALUES)
    assert found == [SchemaProblem("/items/0/count", "minimum", "breaks minimum: 5")]


def test_formats_and_patterns_are_checked() -> None:
    schema = a_schema()
    schema["properties"]["name"] |= {"pattern": "^B", "format": "date"}
    assert [item.code for item in validate_values(schema, VALUES)] == ["format", "pattern"]


def test_unknown_values_are_reported_when_the_type_forbids_them() -> None:
    schema = a_schema(additionalProperties=False)
    assert [item.code for item in validate_values(schema, {**VALUES, "extra": "x"})] == ["additionalProperties"]


@given(st.text(min_size=6).map(lambda text: "§" + text))
def test_messages_never_repeat_the_document_text(secret: str) -> None:
    schema = a_schema()
    schema["properties"]["name"] |= {"pattern": "^\\d{40}$", "maxLength": 5, "enum": ["only"]}
    messages = [item.message for item in validate_values(schema, {**VALUES, "name": secret})]
    assert len(messages) == 3
    assert not any("§" in message for message in messages)
