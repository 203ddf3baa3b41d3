"""Document types that the tests of answers read."""

from typing import Any

LABEL = {"en": "Field", "zh": "字段"}


def leaf(value_type: str = "text", **more: Any) -> dict[str, Any]:
    return {"type": ["string", "null"], "x-label": LABEL, "x-value-type": value_type, **more}


def bill(**more: Any) -> dict[str, Any]:
    """A bill: two single fields, a number, a nested field, rows; `more` are further properties."""
    return {
        "type": "object",
        "x-label": LABEL,
        "x-locale": "en-GB",
        "properties": {
            "seller": leaf("name"),
            "date": leaf("date"),
            "total": leaf("amount"),
            "pages": {"type": ["integer", "null"], "x-label": LABEL},
            "buyer": {"type": "object", "properties": {"phone": leaf("phone")}},
            "items": {
                "type": "array",
                "x-label": LABEL,
                "items": {"type": "object", "properties": {"text": leaf(), "amount": leaf("amount")}},
            },
            **more,
        },
    }
