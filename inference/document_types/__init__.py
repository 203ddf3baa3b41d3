"""The document types that ship with the product, as data: one JSON Schema a file."""

import json
from functools import cache
from importlib import resources
from typing import Any

from inference.types import DocumentTypeSpec, parse_document_type

SHIPPED = ("receipt", "invoice")


def shipped_schema(name: str) -> dict[str, Any]:
    """Return the schema of a shipped type; raise KeyError when there is none of that name."""
    if name not in SHIPPED:
        raise KeyError(name)
    text = resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@cache
def shipped_document_type(name: str) -> DocumentTypeSpec:
    """Return a shipped type, parsed; raise KeyError when there is none of that name."""
    return parse_document_type(shipped_schema(name))
