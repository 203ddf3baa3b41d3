"""One document as its page shows it: fields with their words, boxes in pixels of their page, revisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from review import words
from review.models import Page, Record
from review.selectors.documents import DocumentDetail, FieldView

MADE_OF_FINDINGS = {"missing_value", "rule_failed", "ambiguous_value", "schema_invalid", "low_quality"}


@dataclass(frozen=True, slots=True)
class Box:
    """Where a field stands on its page, in the page's pixels."""

    field_id: str
    label: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field: `state` is a word of the desk (ok, doubtful, broken, missing, person), `source` who decided.

    `sureness` is "" for what a person decided: nobody's choice has a probability.
    """

    field_id: str
    label: str
    value_type: str
    value: str
    is_accepted: bool
    raw_text: str | None
    state: str
    sureness: str
    source: str
    why: list[str]
    evidence: list[tuple[str, str]]
    page_number: int | None
    has_box: bool


@dataclass(frozen=True, slots=True)
class PageView:
    """One page image with the boxes on it."""

    page: Page
    boxes: list[Box]


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of the record: who made it, and what it changed against the one before."""

    record: Record
    by: str
    changes: list[tuple[str, str, str]]


def field_rows(detail: DocumentDetail) -> list[FieldRow]:
    """Return the rows of all fields, in the schema's order."""
    return [_row(number, field, has_record=detail.record is not None) for number, field in enumerate(detail.fields)]


def page_views(detail: DocumentDetail) -> list[PageView]:
    """Return the pages, each with the boxes of the fields found on it."""
    return [PageView(page, _boxes(page, detail.fields)) for page in detail.pages]


def revisions(records: list[Record], fields: list[FieldRow], paths: list[str]) -> list[Revision]:
    """Return the revisions, newest first, with the values that each changed."""
    labels = dict(zip(paths, (field.label for field in fields), strict=True))
    older: list[Record | None] = [*records[1:], None]
    return [_revision(record, before, labels) for record, before in zip(records, older, strict=False)]


def _row(number: int, field: FieldView, *, has_record: bool) -> FieldRow:
    state = "person" if (field.provenance or {}).get("source") == "person" else _state(field)
    return FieldRow(
        field_id=f"field-{number}",
        label=words.label_of(field.labels, field.path),
        value_type=words.say(words.VALUE_TYPES, field.value_type),
        value=_as_text(field.accepted if has_record else field.value),
        is_accepted=has_record,
        raw_text=field.raw_text,
        state=state,
        sureness="" if state == "person" else words.confidence_in_words(field.confidence),
        source=_source(field.provenance),
        why=[] if state in {"person", "ok"} else words.reasons_in_words(_why(field), field.rule_messages),
        evidence=_evidence(field),
        page_number=field.page_number,
        has_box=field.bbox is not None,
    )


def _state(field: FieldView) -> str:
    if field.value is None:
        return "missing"
    if "rule_failed" in field.reasons:
        return "broken"
    return "doubtful" if field.findings or field.band == "review" else "ok"


def _why(field: FieldView) -> list[str]:
    """Return what to say about a field: a finding says more than the kind of reason that was made of it."""
    said = [code for code in field.findings if code != "not_found"]
    return [*said, *(code for code in field.reasons if not (field.findings and code in MADE_OF_FINDINGS))]


def _source(provenance: Mapping[str, Any] | None) -> str:
    if not provenance:
        return ""
    if provenance.get("source") == "person":
        verdict = words.say(words.VERDICTS, str(provenance.get("verdict", "")))
        return _("%(name)s: %(verdict)s") % {"name": provenance.get("reviewer", ""), "verdict": verdict}
    if provenance.get("policy") is None:
        return _("as read")
    return _("as read, by policy %(number)s") % {"number": provenance["policy"]}


def _evidence(field: FieldView) -> list[tuple[str, str]]:
    """Return what the confidence was made from, and the number itself: for whoever opens the details."""
    lines = [(words.say(words.EVIDENCE, name), f"{number:.2f}") for name, number in field.evidence.items()]
    return lines if field.confidence is None else [*lines, (_("confidence"), f"{field.confidence:.2f}")]


def _boxes(page: Page, fields: tuple[FieldView, ...]) -> list[Box]:
    boxes = []
    for number, field in enumerate(fields):
        if field.bbox is None or field.page_number != page.page_number:
            continue
        x0, y0, x1, y1 = field.bbox
        label = words.label_of(field.labels, field.path)
        left, top, right, bottom = x0 * page.width, y0 * page.height, x1 * page.width, y1 * page.height
        boxes.append(Box(f"field-{number}", label, round(left), round(top), round(right - left), round(bottom - top)))
    return boxes


def _revision(record: Record, before: Record | None, labels: Mapping[str, str]) -> Revision:
    old = before.values if before is not None else {}
    changes = [
        (labels.get(path, path), _as_text(old.get(path)), _as_text(value))
        for path, value in record.values.items()
        if old.get(path) != value
    ]
    by = record.reviewer.get_username() if record.reviewer is not None else _("stored as read")
    return Revision(record, by, changes)


def _as_text(value: Any) -> str:  # noqa: ANN401 - whatever JSON a record holds
    return "" if value is None else str(value)
