"""Rules between fields (B4), declared at the root of a document type as `x-rules`; `rule_problems` checks them.

Each rule names fields by JSON Pointer; "*" stands for every row of a group, as in "/line_items/*/amount":

    {"rule": "sum", "name": "rows_add_up", "of": ["/line_items/*/amount"], "equals": "/net", "tolerance": "0.01", …}
    {"rule": "product", "name": "row_amount", "of": ["/rows/*/count", "/rows/*/price"], "equals": "/rows/*/amount", …}
    {"rule": "in_order", "name": "due_later", "of": ["/date", "/due_date"], …}
    {"rule": "not_in_future", "name": "date_past", "field": "/date", "days": 1, …}

and has a `message` for people, by language. A result with a "*" makes the rule hold within each row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any

from inference.types.fields import FieldSpec

CODE_PREFIX = "rule:"
ANY_ROW = "/*/"


class RuleKind(StrEnum):
    """What a rule says of its fields."""

    SUM = "sum"
    PRODUCT = "product"
    IN_ORDER = "in_order"
    NOT_IN_FUTURE = "not_in_future"

    @property
    def is_of_dates(self) -> bool:
        """Whether the rule compares dates; the others calculate."""
        return self in {RuleKind.IN_ORDER, RuleKind.NOT_IN_FUTURE}


@dataclass(frozen=True, slots=True)
class CrossRule:
    """One rule. `operands` and `result` are field paths, with "*" for every row of a group.

    `tolerance` is the largest difference that still counts as equal, in the unit of the result. `days` is how far
    past today a date may lie. `messages` say by language what is wrong when the rule is broken.
    """

    name: str
    kind: RuleKind
    operands: tuple[str, ...]
    result: str | None = None
    tolerance: Decimal = Decimal(0)
    days: int = 0
    messages: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """The finding of a field that takes part in the rule when it is broken."""
        return CODE_PREFIX + self.name

    @property
    def paths(self) -> tuple[str, ...]:
        """Every field path that the rule names."""
        return self.operands if self.result is None else (*self.operands, self.result)

    @property
    def group(self) -> str | None:
        """The group within each of whose rows the rule holds by itself, or None where it holds once a document."""
        deciding = self.result if self.result is not None else next(filter(is_in_rows, self.operands), self.operands[0])
        return deciding.partition(ANY_ROW)[0] if is_in_rows(deciding) else None


def is_in_rows(path: str) -> bool:
    """Whether a rule's path names a column of a group rather than a single field."""
    return ANY_ROW in path


def parse_tolerance(value: object) -> Decimal | None:
    """Return a tolerance as written, a number or a string of one, or None where it is none from 0 on."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and number >= 0 else None


def parse_rules(schema: Mapping[str, Any]) -> tuple[CrossRule, ...]:
    """Return the rules of a schema that `rule_problems` finds nothing wrong with."""
    return tuple(
        CrossRule(
            name=rule["name"],
            kind=RuleKind(rule["rule"]),
            operands=tuple(rule["of"]) if "of" in rule else (rule["field"],),
            result=rule.get("equals"),
            tolerance=parse_tolerance(rule.get("tolerance", 0)) or Decimal(0),
            days=int(rule.get("days", 0)),
            messages=dict(rule["message"]),
        )
        for rule in schema.get("x-rules", ())
    )


def with_messages(spec: FieldSpec, path: str, rules: Sequence[CrossRule]) -> FieldSpec:
    """Return a field's spec with what to say of each rule that names it; `path` has "*" for the row of a column."""
    messages = {rule.code: rule.messages for rule in rules if path in rule.paths}
    return replace(spec, rule_messages=messages) if messages else spec
