"""A document type with a nested object and a repeated group, for tests that need more than a receipt."""

from typing import Any

from review.models import Document, DocumentType
from tests import factories
from tests.factories import FieldPlan


def _leaf(english: str, chinese: str, value_type: str) -> dict[str, Any]:
    return {"type": "string", "x-label": {"en": english, "zh": chinese}, "x-value-type": value_type}


INVOICE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "x-label": {"en": "Invoice", "zh": "发票"},
    "required": ["number"],
    "properties": {
        "number": _leaf("Number", "号码", "id"),
        "seller": {"type": "object", "properties": {"name": _leaf("Seller", "销售方", "name")}},
        "line_items": {
            "type": "array",
            "x-label": {"en": "Line items", "zh": "明细"},
            "items": {
                "type": "object",
                "properties": {
                    "what": _leaf("Description", "名称", "text"),
                    "amount": _leaf("Amount", "金额", "amount"),
                },
            },
        },
    },
}

PLANS = {
    "/number": FieldPlan(value="A-1", confidence=0.3, band="review", reasons=["low_confidence"]),
    "/seller/name": FieldPlan(value="Acme", inclusion_probability=0.1, is_to_examine=False),
    "/line_items/10/amount": FieldPlan(value="10.00", inclusion_probability=0.1, is_to_examine=False),
    "/line_items/2/amount": FieldPlan(value="2.00", inclusion_probability=0.1, is_to_examine=False),
    "/line_items/2/what": FieldPlan(value="Tea", inclusion_probability=0.1, is_to_examine=False),
}


def make_invoice(document_type: DocumentType) -> Document:
    """A routed invoice in review, with rows 2 and 10 of its group."""
    return factories.make_routed(document_type, PLANS)
