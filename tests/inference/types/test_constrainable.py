import json
from pathlib import Path
from typing import Any

import pytest

from inference.types import unsupported

SHIPPED = sorted((Path(__file__).parents[3] / "inference" / "document_types").glob("*.json"))


def a_type(**field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"total": {"type": ["string", "null"], **field}}}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_types_can_be_constrained(path: Path) -> None:
    assert unsupported(json.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("field", "keyword", "part"),
    [
        ({"type": "number", "multipleOf": 0.01}, "multipleOf", "held to"),
        ({"pattern": r"^(?=.*\d)x"}, "pattern", "look-ahead"),
        ({"pattern": r"^(?!x)"}, "pattern", "look-ahead"),
        ({"pattern": r"(?<=a)b"}, "pattern", "look-behind"),
        ({"pattern": r"(a)\1"}, "pattern", "back-reference"),
        ({"pattern": r"\bfoo"}, "pattern", "word boundary"),
        ({"pattern": r"\p{L}+"}, "pattern", "Unicode class"),
        ({"pattern": r"(?i)a"}, "pattern", "flags"),
        ({"format": "regex"}, "format", "'regex'"),
        ({"pattern": "^a+$", "maxLength": 3}, "maxLength", "no effect"),
        ({"format": "date", "minLength": 3}, "minLength", "no effect"),
    ],
)
def test_a_constraint_beyond_the_server_is_named_with_its_place(field: Any, keyword: str, part: str) -> None:
    ((place, message),) = unsupported(a_type(**field))
    assert place == f"/properties/total/{keyword}"
    assert message.startswith(keyword)
    assert part in message


@pytest.mark.parametrize(
    "field",
    [
        {"pattern": r"^\d{4}-\d{2}$"},
        {"pattern": r"^\\1\\b$"},
        {"pattern": r"(?:a|b)+?"},
        {"format": "date"},
        {"maxLength": 30},
        {"type": "number", "minimum": 0},
        {"enum": ["a", None]},
    ],
)
def test_what_the_server_can_constrain_is_no_problem(field: Any) -> None:
    assert unsupported(a_type(**field)) == []


def test_rows_and_their_columns_are_looked_at() -> None:
    rows = {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 2}}},
    }
    assert [place for place, _ in unsupported({"type": "object", "properties": {"rows": rows}})] == [
        "/properties/rows/uniqueItems",
        "/properties/rows/items/properties/a/multipleOf",
    ]
