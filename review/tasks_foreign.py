"""Fields as another program read them: in the form of ours, checked by the same rules, never trusted for sure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils import timezone

from inference.fields.answer_score import NOT_GROUNDED
from inference.fields.cross_rules import cross_findings
from inference.fields.normalise.values import normalise
from inference.fields.standing import Said, Standing, stand
from inference.types import BBox, DocumentTypeSpec, FieldReading, PageReading
from review.models import ExtractionRun
from review.selectors.foreign import foreign_fields_of
from review.selectors.schemas import field_spec_at

NOT_FOUND = "not_found"


def fields_sent_with(
    run: ExtractionRun, spec: DocumentTypeSpec, readings: Sequence[PageReading]
) -> tuple[FieldReading, ...] | None:
    """Return the fields that came with a run's document; None where the run is an engine's of ours.

    What the other engine does not mention is not found. A confidence that is not given is none, which sends a
    required field to a person. A value that came without a box is looked for among the words that were read here.
    """
    sent = foreign_fields_of(run)
    if sent is None:
        return None
    by_path = {field["field_path"]: field for field in sent}
    paths = [*dict.fromkeys([*(field.path for field in spec.fields), *by_path])]
    fields = [_reading(path, by_path.get(path), spec, run.document.n_pages) for path in paths]
    placed = _placed(tuple(one for one in fields if one is not None), spec, readings)
    return cross_findings(placed, spec, timezone.localdate())


def _placed(
    fields: tuple[FieldReading, ...], spec: DocumentTypeSpec, readings: Sequence[PageReading]
) -> tuple[FieldReading, ...]:
    """Give the values without a box the place where they stand; a value that stands nowhere among the words says so."""
    said: dict[str, Said] = {}
    for one in fields:
        wanted = field_spec_at(spec, one.field_path)
        if one.raw_text is not None and one.bbox is None and wanted is not None:
            said[one.field_path] = Said(one.raw_text, wanted, one.page_number)
    if not said or not any(reading.words for reading in readings):
        return fields
    found = stand(readings, spec, said)
    return tuple(_at(one, found.get(one.field_path)) if one.field_path in said else one for one in fields)


def _at(one: FieldReading, place: Standing | None) -> FieldReading:
    if place is not None:
        return replace(one, page_number=place.page_number, bbox=place.bbox)
    return replace(one, findings=(*one.findings, NOT_GROUNDED)) if one.value is not None else one


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
