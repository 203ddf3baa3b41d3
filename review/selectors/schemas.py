"""From a frozen schema version to the specs that code works with."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from inference.types import DocumentTypeSpec, FieldSpec, parse_document_type, unsupported
from review.models import SchemaVersion

_ROW = re.compile(r"0|[1-9][0-9]{0,3}")
MAX_PATH_LENGTH = 200


def spec_of(version: SchemaVersion) -> DocumentTypeSpec:
    """Return the specs of a schema version. Parsed once a process: a version never changes."""
    return _parse(json.dumps(version.schema))


@lru_cache(maxsize=256)
def _parse(schema: str) -> DocumentTypeSpec:
    return parse_document_type(json.loads(schema))


def field_spec_at(spec: DocumentTypeSpec, field_path: str) -> FieldSpec | None:
    """Return the spec of a field or of a cell in a row of a group ("/line_items/3/amount"), None for any other path.

    Rows count from 0 to 9999, written without leading zeros, so that each cell has exactly one path.
    """
    found = spec.spec_of(field_path) if len(field_path) <= MAX_PATH_LENGTH else None
    if found is None or found.path == field_path:
        return found
    row = field_path.removesuffix(found.path).rpartition("/")[2]
    return found if _ROW.fullmatch(row) else None


def column_paths(spec: DocumentTypeSpec) -> list[str]:
    """Return the path of every field in the schema's order, cells of a group once with `*` for the row."""
    columns = [f"{group.path}/*{column.path}" for group in spec.groups for column in group.columns]
    return [field.path for field in spec.fields] + columns


def required_paths(spec: DocumentTypeSpec) -> frozenset[str]:
    """Return the paths of the fields that decide about a document, cells of a group with `*` for the row."""
    columns = [
        f"{group.path}/*{column.path}"
        for group in spec.groups
        for column in group.columns
        if group.is_required and column.is_required
    ]
    return frozenset([field.path for field in spec.fields if field.is_required] + columns)


def not_constrained(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (JSON Pointer, message) of each keyword that a language model cannot be held to while it writes.

    Its answers are checked against the whole schema all the same: what breaks it goes to a person.
    """
    return unsupported(schema)
