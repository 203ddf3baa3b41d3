from decimal import Decimal
from typing import Any

import pytest

from inference.types import CrossRule, RuleKind, parse_document_type
from inference.types.cross_rules import is_in_rows, parse_rules, parse_tolerance, with_messages
from inference.types.fields import FieldSpec, ValueType
from tests.inference.types.schemas import a_schema, label

MESSAGE = {"en": "do not add up", "zh": "不符"}
ROWS = {"rule": "sum", "name": "rows_add_up", "of": ["/items/*/count"], "equals": "/total", "message": MESSAGE}


def parsed(**changes: Any) -> CrossRule:
    (rule,) = parse_rules({"x-rules": [{**ROWS, **changes}]})
    return rule


def test_a_schema_without_rules_has_none() -> None:
    assert parse_rules({}) == ()
    assert parse_document_type(a_schema()).rules == ()


def test_a_sum_is_parsed_with_its_parts() -> None:
    assert parsed(tolerance="0.01") == CrossRule(
        "rows_add_up", RuleKind.SUM, ("/items/*/count",), "/total", Decimal("0.01"), 0, MESSAGE
    )


def test_a_rule_of_one_field_has_that_field_as_its_operand() -> None:
    rule = {"rule": "not_in_future", "name": "past", "field": "/date", "days": 2, "message": MESSAGE}
    (past,) = parse_rules({"x-rules": [rule]})
    assert (past.operands, past.result, past.days) == (("/date",), None, 2)
    assert past.paths == ("/date",)


def test_the_finding_of_a_rule_bears_its_name() -> None:
    assert parsed().code == "rule:rows_add_up"
    assert parsed().paths == ("/items/*/count", "/total")


@pytest.mark.parametrize(
    ("kind", "operands", "result", "group"),
    [
        (RuleKind.SUM, ("/items/*/count",), "/total", None),
        (RuleKind.SUM, ("/net", "/tax"), "/gross", None),
        (RuleKind.PRODUCT, ("/items/*/a", "/rate"), "/items/*/b", "/items"),
        (RuleKind.NOT_IN_FUTURE, ("/items/*/date",), None, "/items"),
        (RuleKind.IN_ORDER, ("/date", "/items/*/date"), None, "/items"),
        (RuleKind.IN_ORDER, ("/date", "/due"), None, None),
    ],
)
def test_a_rule_holds_row_by_row_where_its_result_is_a_column(
    kind: RuleKind, operands: tuple[str, ...], result: str | None, group: str | None
) -> None:
    assert CrossRule("name", kind, operands, result).group == group


@pytest.mark.parametrize(("path", "is_in"), [("/items/*/count", True), ("/total", False), ("/a*/b", False)])
def test_a_star_alone_stands_for_the_rows(path: str, is_in: bool) -> None:
    assert is_in_rows(path) == is_in


@pytest.mark.parametrize(
    ("written", "tolerance"),
    [("0.01", Decimal("0.01")), (0, Decimal(0)), (0.05, Decimal("0.05")), (2, Decimal(2)), ("1e-3", Decimal("0.001"))],
)
def test_a_tolerance_keeps_its_decimals(written: object, tolerance: Decimal) -> None:
    assert parse_tolerance(written) == tolerance


@pytest.mark.parametrize("written", [-1, "-0.01", "a lot", "NaN", "Infinity", True, None, [1]])
def test_what_is_no_tolerance_is_none(written: object) -> None:
    assert parse_tolerance(written) is None


def test_only_the_fields_that_a_rule_names_know_its_message() -> None:
    spec = FieldSpec("/total", ValueType.AMOUNT)
    assert with_messages(spec, "/total", [parsed()]).rule_messages == {"rule:rows_add_up": MESSAGE}
    assert with_messages(spec, "/tax", [parsed()]) is spec


def test_a_parsed_type_tells_each_field_and_column_of_its_rules() -> None:
    spec = parse_document_type(a_schema(**{"x-rules": [ROWS]}))
    told = {path: spec.spec_of(path) for path in ("/total", "/items/7/count", "/items/7/text", "/name")}
    assert {path: dict(one.rule_messages) for path, one in told.items() if one is not None} == {
        "/total": {"rule:rows_add_up": MESSAGE},
        "/items/7/count": {"rule:rows_add_up": MESSAGE},
        "/items/7/text": {},
        "/name": {},
    }
    assert [rule.name for rule in spec.rules] == ["rows_add_up"]


def test_labels_are_left_as_they_were() -> None:
    assert parse_document_type(a_schema(**{"x-rules": [ROWS]})).groups[0].labels == label("Items")
