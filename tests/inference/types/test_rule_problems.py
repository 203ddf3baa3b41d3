"""A wrong rule is named when the type is saved: which one, what is wrong, what would be right."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.document_types import SHIPPED, shipped_schema
from inference.errors import DocumentTypeError
from inference.types import validate_document_type
from inference.types.rule_problems import rule_problems
from tests.inference.types.schemas import label


def leaf(value_type: str) -> dict[str, Any]:
    return {"type": "string", "x-label": label(), "x-value-type": value_type}


def group(*columns: str) -> dict[str, Any]:
    properties = {name: leaf(name) for name in columns}
    return {"type": "array", "x-label": label(), "items": {"type": "object", "properties": properties}}


def a_type(*rules: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "x-label": label(),
        "x-rules": list(rules),
        "properties": {
            "net": leaf("amount"),
            "gross": leaf("amount"),
            "date": leaf("date"),
            "due": leaf("date"),
            "name": leaf("name"),
            "party": {"type": "object", "properties": {"fee": leaf("amount")}},
            "rows": group("amount", "number", "date", "text"),
            "taxes": group("amount"),
        },
    }


def a_rule(**changes: Any) -> dict[str, Any]:
    message = {"en": "do not add up"}
    rule = {"rule": "sum", "name": "sums", "of": ["/net"], "equals": "/gross", "message": message, **changes}
    return {key: value for key, value in rule.items() if value is not None}


def dates(**changes: Any) -> dict[str, Any]:
    return a_rule(**{"rule": "not_in_future", "of": None, "equals": None, "field": "/date", **changes})


@pytest.mark.parametrize(
    "rule",
    [
        a_rule(),
        a_rule(tolerance="0.01"),
        a_rule(tolerance=0),
        a_rule(of=["/rows/*/amount", "/party/fee"], equals="/gross"),
        a_rule(of=["/rows/*/amount", "/taxes/*/amount"]),
        a_rule(of=["/rows/*/number"], equals="/rows/*/amount"),
        a_rule(rule="product", of=["/rows/*/number", "/net"], equals="/rows/*/amount"),
        a_rule(rule="product", of=["/net", "/net"]),
        a_rule(rule="in_order", of=["/date", "/due"], equals=None),
        a_rule(rule="in_order", of=["/date", "/rows/*/date"], equals=None),
        dates(),
        dates(days=0),
        dates(days=3, field="/rows/*/date"),
    ],
)
def test_a_sound_rule_has_no_problem(rule: dict[str, Any]) -> None:
    assert rule_problems(a_type(rule)) == []
    validate_document_type(a_type(rule))


@pytest.mark.parametrize(
    ("rule", "at", "message"),
    [
        ("sum", "", "a rule must be an object"),
        (
            a_rule(rule="sums"),
            "/rule",
            "unknown rule 'sums' (did you mean 'sum'?); known: sum, product, in_order, not_in_future",
        ),
        (a_rule(rule=None), "/rule", "unknown rule None; known: sum, product, in_order, not_in_future"),
        (
            a_rule(name=None),
            "/name",
            "name must be lower-case letters, digits and _, at most 40, such as rows_add_up",
        ),
        (
            a_rule(name="Rows add up"),
            "/name",
            "name must be lower-case letters, digits and _, at most 40, such as rows_add_up",
        ),
        (a_rule(message=None), "/message", "message must be an object of language code to text"),
        (a_rule(message={"zh": "不符"}), "/message", "message needs a text for: en"),
        (a_rule(equals=None), "/equals", "sum needs 'equals'"),
        (a_rule(of=None), "/of", "sum needs 'of'"),
        (
            a_rule(tolerence="0.01"),
            "/tolerence",
            "sum has no 'tolerence' (did you mean 'tolerance'?); known: rule, name, message, of, equals, tolerance",
        ),
        (a_rule(days=1), "/days", "sum has no 'days'; known: rule, name, message, of, equals, tolerance"),
        (a_rule(tolerance="-1"), "/tolerance", 'tolerance must be a number from 0 on, such as "0.01"'),
        (a_rule(of="/net"), "/of", "of must be a list of at least 1 field paths"),
        (a_rule(rule="product"), "/of", "of must be a list of at least 2 field paths"),
        (
            a_rule(of=["/rows/*/amuont"]),
            "/of/0",
            "no field has the path '/rows/*/amuont' (did you mean '/rows/*/amount'?)",
        ),
        (
            a_rule(of=["/rows/0/amount"]),
            "/of/0",
            "no field has the path '/rows/0/amount' (did you mean '/rows/*/amount'?)",
        ),
        (a_rule(of=["/rows"]), "/of/0", "no field has the path '/rows'"),
        (a_rule(of=[7]), "/of/0", "no field has the path 7"),
        (a_rule(equals="/date"), "/equals", "/date must have the x-value-type amount or number for sum"),
        (dates(field="/net"), "/field", "/net must have the x-value-type date for not_in_future"),
        (dates(days=-1), "/days", "days must be an integer from 0 on"),
        (dates(days="1"), "/days", "days must be an integer from 0 on"),
        (dates(field=None), "/field", "not_in_future needs 'field'"),
        (
            a_rule(rule="product", of=["/rows/*/number", "/net"]),
            "",
            'a product of columns needs a column as its result: "equals" with a "*"',
        ),
        (
            a_rule(of=["/rows/*/number"], equals="/taxes/*/amount"),
            "",
            "a rule within rows may name columns of one group only, not of /rows, /taxes",
        ),
    ],
)  # fmt: skip
def test_each_mistake_is_named_at_its_place(rule: Any, at: str, message: str) -> None:
    found = rule_problems(a_type(rule))
    assert found[0][0] == f"/x-rules/0{at}"
    assert found[0][1].startswith(message)


def test_two_rules_of_one_name_are_told_apart_by_nobody() -> None:
    assert rule_problems(a_type(a_rule(), dates(name="sums"))) == [
        ("/x-rules/1/name", "another rule is named 'sums' already")
    ]


def test_rules_that_are_no_list_are_named() -> None:
    assert rule_problems({**a_type(), "x-rules": {}}) == [("/x-rules", "x-rules must be a list of rules")]


def test_saving_a_type_with_a_wrong_rule_is_refused_together_with_its_other_problems() -> None:
    schema = a_type(a_rule(equals="/total"))
    del schema["properties"]["name"]["x-label"]
    with pytest.raises(DocumentTypeError) as caught:
        validate_document_type(schema)
    assert [at for at, _ in caught.value.problems] == ["/properties/name/x-label", "/x-rules/0/equals"]


def test_rules_have_no_place_at_a_field() -> None:
    schema = a_type()
    schema["properties"]["net"]["x-rules"] = []
    with pytest.raises(DocumentTypeError) as caught:
        validate_document_type(schema)
    assert [at for at, _ in caught.value.problems] == ["/properties/net/x-rules"]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_rules_that_ship_are_sound_and_speak_both_languages(name: str) -> None:
    schema = shipped_schema(name)
    assert rule_problems(schema) == []
    assert schema["x-rules"]
    assert all(set(rule["message"]) == {"en", "zh"} for rule in schema["x-rules"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["rule", "name", "of", "equals", "field", "days", "tolerance", "message", "more"])


@given(st.dictionaries(KEYS, JSON | st.sampled_from(["sum", "product", "in_order", "not_in_future", "/net", "/date"])))
def test_whatever_is_written_there_is_answered_with_places_and_words(rule: dict[str, Any]) -> None:
    for at, message in rule_problems(a_type(rule)):
        assert at.startswith("/x-rules/0")
        assert message


@given(JSON)
def test_a_broken_schema_around_the_rules_breaks_nothing(properties: Any) -> None:
    assert rule_problems({"x-rules": [a_rule()], "properties": properties})
