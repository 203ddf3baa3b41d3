"""Fields as another program read them: in the form of ours, checked by the same rules, never trusted for sure."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from inference.fields.cross_rules import cross_findings
from inference.fields.normalise.values import normalise
from inference.types import BBox, DocumentTypeSpec, FieldReading
from review.models import ExtractionRun
from review.selectors.foreign import foreign_fields_of
from review.selectors.schemas import field_spec_at

NOT_FOUND = "not_found"


def fields_sent_with(run: ExtractionRun, spec: DocumentTypeSpec) -> tuple[FieldReading, ...] | None:
    """Return the fields that came with a run's document; None where the run is an engine's of ours.

    What the other engine does not mention is not found. A confidence that is not given is none, which sends a
    required field to a person.
    """
    sent = foreign_fields_of(run)
    if sent is None:
        return None
    by_path = {field["field_path"]: field for field in sent}
    paths = [*dict.fromkeys([*(field.path for field in spec.fields), *by_path])]
    readings = [_reading(path, by_path.get(path), spec, run.document.n_pages) for path in paths]
    return cross_findings(tuple(one for one in readings if one is not None), spec, timezone.localdate())


def _reading(path: str, field: Mapping[str, Any] | None, spec: DocumentTypeSpec, n_pages: int) -> FieldReading | None:
    wanted = field_spec_at(spec, path)
    if wanted is None:
        # The document type was changed between the upload and the reading.
        return None
    if field is None or field["value"] is None:
        return FieldReading(path, None, None, None, {}, (NOT_FOUND,))
    found = normalise(field["value"], wanted.value_type, wanted.locale)
    is_on_a_page = field["page_number"] is not None and field["page_number"] <= n_pages
    confidence = field["confidence"]
    return FieldReading(
        field_path=path,
        raw_text=field["value"],
        value=found.value,
        confidence=confidence,
        evidence={} if confidence is None else {"foreign": float(confidence)},
        findings=found.findings,
        page_number=field["page_number"] if is_on_a_page else None,
        bbox=BBox(*field["bbox"]) if is_on_a_page and field["bbox"] is not None else None,
    )
