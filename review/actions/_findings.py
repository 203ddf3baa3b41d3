"""What a document's schema has to say about the values that were read (B2)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inference.types import DocumentTypeSpec, FieldReading, validate_values
from inference.types.nesting import nested
from review.routing.decide import FieldEvidence
from review.routing.reasons import Reason, in_order, reason_for_finding

# Said by the missing value itself; as a finding it would make an absent optional field a broken rule.
_NOT_FOUND = "not_found"


def without_groups(
    fields: Sequence[FieldReading], spec: DocumentTypeSpec
) -> tuple[list[FieldReading], tuple[Reason, ...]]:
    """Part the fields from what is said of a whole group: no field can bear it, so it is a reason for the document."""
    groups = {group.path for group in spec.groups}
    reasons = [
        reason_for_finding(code) for reading in fields if reading.field_path in groups for code in reading.findings
    ]
    return [reading for reading in fields if reading.field_path not in groups], in_order(reasons)


def with_schema_findings(
    fields: Sequence[FieldReading], schema: Mapping[str, Any]
) -> tuple[list[FieldReading], tuple[Reason, ...]]:
    """Add a finding such as "schema_pattern" to each field that breaks its schema.

    What concerns no single field (a group without rows, say) becomes a reason for the whole document.
    """
    paths = {reading.field_path for reading in fields}
    missing = {reading.field_path for reading in fields if reading.value is None}
    broken: dict[str, list[str]] = {}
    is_document_broken = False
    for problem in validate_values(schema, nested({reading.field_path: reading.value for reading in fields})):
        if problem.field_path in missing:
            # Absent is a reason of its own.
            continue
        if problem.field_path in paths:
            code = re.sub(r"(?<!^)(?=[A-Z])", "_", problem.code).lower()
            broken.setdefault(problem.field_path, []).append(f"schema_{code}")
        else:
            is_document_broken = True
    checked = [
        replace(reading, findings=(*reading.findings, *broken.get(reading.field_path, ()))) for reading in fields
    ]
    return checked, (Reason.SCHEMA_INVALID,) if is_document_broken else ()


def evidence_of(reading: FieldReading, spec: DocumentTypeSpec) -> FieldEvidence:
    """Return what routing may know of a field."""
    known = spec.spec_of(reading.field_path)
    groups = {group.path: group.is_required for group in spec.groups}
    group = next((path for path in groups if reading.field_path.startswith(f"{path}/")), None)
    return FieldEvidence(
        field_path=reading.field_path,
        confidence=reading.confidence,
        has_value=reading.value is not None,
        # A column that each row needs is required of the document only where rows are.
        is_required=known is not None and known.is_required and groups.get(group or "", True),
        findings=tuple(finding for finding in reading.findings if finding != _NOT_FOUND),
    )
