"""The template tags and filters of the pages (`{% load stet %}`)."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import localize

from review import words
from review.models import Document, DocumentType, FieldCertificate, FieldMonitor, FieldTarget
from review.selectors.errors import Mark
from review.selectors.operations import Operations
from review.web import field_view, targets_view
from review.web.policy_view import field_paths

register = template.Library()

IN_WORDS: Mapping[str, words.Words] = {
    "status_in_words": words.STATUSES,
    "status_hint": words.STATUS_HINTS,
    "act_in_words": words.ACTS,
    "reason_in_words": words.REASONS,
    "age_class_in_words": words.AGES,
    "policy_part": words.POLICY_PARTS,
    "price_name": words.PRICES,
    "cost_part": words.COST_PARTS,
    "left_out": words.LEFT_OUT,
    "field_state": words.FIELD_STATES,
    "export_failure": words.EXPORT_FAILURES,
}
"""Codes said in words, a filter for each table: `{{ document.status|status_in_words }}`."""


def _saying(known: words.Words) -> Callable[[str], str]:
    return lambda code: words.say(known, code)


for _name, _known in IN_WORDS.items():
    register.filter(_name, _saying(_known))


@register.filter
def type_label(document_type: DocumentType) -> str:
    """Return the document type's label in the reader's language."""
    return words.label_of(document_type.labels, document_type.slug)


@register.filter
def label_in(certificate: FieldCertificate, labels: dict[str, str]) -> str:
    """Return the label of the field that a certificate is about."""
    return labels.get(certificate.field_path, certificate.field_path)


@register.filter
def field_label(watched: FieldMonitor | FieldTarget) -> str:
    """Return the label of the field that a target is about, or a monitor watches."""
    labels = {path: label for path, label, _cost in field_paths(watched.document_type)}
    return labels.get(watched.field_path, watched.field_path)


@register.filter
def certificate_in_words(one: FieldCertificate) -> str:
    """Return what the labels carry, in plain words."""
    return targets_view.certificate_in_words(one)


@register.simple_tag
def standing(document: Document, status: str) -> str:
    """Return why a document stands where it stands."""
    return words.standing_in_words(status, document.band, document.reasons)


@register.simple_tag
def cost_source(code: str, shown: Operations) -> str:
    """Return from which measured figure a part of the cost comes."""
    return words.cost_source(code, shown.measured)


@register.filter
def mark_in_words(mark: Mark) -> str:
    """Return what changed on the day of a mark."""
    return field_view.mark_in_words(mark)


@register.filter
def as_json(data: Any) -> str:  # noqa: ANN401 - whatever a chart is drawn from
    """Return plain data as JSON, for an attribute that a chart reads."""
    return json.dumps(data, ensure_ascii=False)


@register.filter
def reasons_in_words(codes: list[str]) -> str:
    """Return several reasons in one line."""
    return words.joined(words.reasons_in_words(codes or ()))


@register.filter
def bytes_in_words(n_bytes: int) -> str:
    """Return a size with its unit."""
    return words.bytes_in_words(n_bytes)


@register.filter
def seconds_in_words(seconds: float) -> str:
    """Return a duration with its unit."""
    return words.seconds_in_words(seconds)


@register.filter
def bucket_in_words(bucket: str) -> str:
    """Return a confidence bucket in words: from, to, or that there was none."""
    return words.bucket_in_words(bucket)


@register.filter
def percent(share: float | str | None) -> str:
    """Return a share in 0-1 as a percentage with one decimal; nothing, and what a template lacks, is a dash."""
    return f"{number(share)} %" if isinstance(share, int | float) else "–"


@register.filter
def number(share: float) -> str:
    """Return a share in 0-1 as percent without the sign, rounded so that only a whole share says 100."""
    tenths = math.floor(share * 1000 + 0.5)
    return localize((min(tenths, 999) if share < 1 else tenths) / 10)


@register.filter
def points(difference: float | str | None) -> str:
    """Return a difference of shares in percentage points, with its sign; nothing is a dash."""
    if not isinstance(difference, int | float):
        return "–"
    tenths = math.floor(abs(difference) * 1000 + 0.5)
    sign = "−" if difference < 0 and tenths else "+" if tenths else ""
    return f"{sign}{localize(tenths / 10)}"


@register.filter
def unlocalized(number: float) -> str:
    """Return a number as programs write it, for attributes."""
    return str(number)


@register.simple_tag
def age_of(moment: Any) -> str:  # noqa: ANN401 - a datetime, or None
    """Return how long ago a moment was."""
    return words.seconds_in_words(max(0.0, (timezone.now() - moment).total_seconds())) if moment else ""


@register.inclusion_tag("partials/status.html")
def status_mark(status: str, band: str = "") -> dict[str, str]:
    """Show a status as icon and word, never by colour alone."""
    kind, _, _what = status.partition("_for_")
    return {"status": status, "kind": kind, "band": band}
