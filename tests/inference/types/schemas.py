"""Schemas that the tests of document types begin with."""

from typing import Any


def label(text: str = "Field") -> dict[str, str]:
    return {"en": text, "zh": "字段"}


def a_schema(**changes: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "x-label": label("Thing"),
        "x-locale": "en-MY",
        "x-output-limit": 512,
        "properties": {
            "name": {"type": "string", "x-label": label(), "x-value-type": "name", "x-max-lines": 2},
            "total": {
                "type": ["string", "null"],
                "x-label": label("Total"),
                "x-value-type": "amount",
                "x-error-cost": 20,
                "x-keywords": ["total", "合计"],
                "x-keywords-against": ["subtotal"],
                "x-keywords-inside": ["RM"],
                "x-region": [0.5, 0.4, 1, 1],
                "x-pattern": r"\d",
            },
            "party": {
                "type": "object",
                "properties": {"phone": {"type": "string", "x-label": label(), "x-value-type": "phone"}},
                "required": ["phone"],
            },
            "items": {
                "type": "array",
                "x-label": label("Items"),
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "x-label": label()},
                        "count": {"type": "integer", "x-label": label()},
                    },
                    "required": ["text"],
                },
            },
        },
        "required": ["name", "items"],
    }
    schema.update(changes)
    return schema


def with_leaf(**hints: Any) -> dict[str, Any]:
    schema = a_schema()
    schema["properties"]["name"] = {"type": "string", "x-label": label(), **hints}
    return schema
