import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from inference.answers.schema import constrained, validation_message
from inference.types import SchemaProblem
from tests.inference.answers.types_read import LABEL, bill, leaf


def field_of(**field: Any) -> dict[str, Any]:
    schema = constrained(bill(one={"x-label": LABEL, **field}))
    found: dict[str, Any] = schema["properties"]["one"]
    return found


def test_every_property_is_asked_for_and_nothing_else_allowed() -> None:
    schema = constrained(bill())
    assert schema["required"] == list(bill()["properties"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["buyer"]["required"] == ["phone"]
    assert schema["properties"]["items"]["items"]["required"] == ["text", "amount"]


def test_no_hint_and_no_description_is_left() -> None:
    text = json.dumps(constrained(bill(one=leaf(title="One", default="x") | {"x-keywords": ["a"]})))
    assert "x-" not in text
    assert "title" not in text
    assert "default" not in text


def test_what_one_page_lacks_may_be_null() -> None:
    assert field_of(type="string")["type"] == ["string", "null"]
    assert field_of(type=["integer", "null"])["type"] == ["integer", "null"]
    assert field_of(type="string", enum=["a"])["enum"] == ["a", None]
    assert field_of(type="string", const="a")["enum"] == ["a", None]


def test_what_a_server_cannot_constrain_is_left_out() -> None:
    assert field_of(type="number", multipleOf=0.01, minimum=0) == {"type": ["number", "null"], "minimum": 0}
    assert "pattern" not in field_of(type="string", pattern="(?=a)")


def test_rows_that_a_document_must_have_are_not_asked_of_every_page() -> None:
    rows = {"type": "array", "minItems": 1, "maxItems": 9, "items": {"type": "object", "properties": {"a": leaf()}}}
    assert set(field_of(**rows)) == {"type", "items", "maxItems"}


def test_it_is_json_schema() -> None:
    Draft202012Validator.check_schema(constrained(bill()))


@pytest.mark.parametrize(
    "problem", [SchemaProblem("/total", "type", "breaks type: 'number'"), ("/total", "breaks type: 'number'")]
)
def test_the_message_for_the_retry_names_each_place(problem: Any) -> None:
    assert "- /total breaks type: 'number'" in validation_message([problem])


def test_the_whole_answer_is_named_by_a_slash() -> None:
    assert "- / must be an object" in validation_message([("", "must be an object")])
