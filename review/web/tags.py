"""The template tags and filters of the pages (`{% load stet %}`)."""

import json
import math
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


@register.filter
def status_in_words(status: str) -> str:
    """Return a status in words."""
    return words.say(words.STATUSES, status)


@register.filter
def status_hint(status: str) -> str:
    """Return what a status means for whoever waits."""
    return words.say(words.STATUS_HINTS, status)


@register.simple_tag
def standing(document: Document, status: str) -> str:
    """Return why a document stands where it stands."""
    return words.standing_in_words(status, document.band, document.reasons)


@register.filter
def act_in_words(action: str) -> str:
    """Return an act on a document in words."""
    return words.say(words.ACTS, action)


@register.filter
def reason_in_words(code: str) -> str:
    """Return why a document was routed as it was, in words."""
    return words.say(words.REASONS, code)


@register.filter
def age_class_in_words(code: str) -> str:
    """Return how long something has waited, in words."""
    return words.say(words.AGES, code)


@register.filter
def policy_part(code: str) -> str:
    """Return the name of a part of a policy."""
    return words.say(words.POLICY_PARTS, code)


@register.filter
def price_name(code: str) -> str:
    """Return the name of a price."""
    return words.say(words.PRICES, code)


@register.filter
def cost_part(code: str) -> str:
    """Return the name of a part of the cost."""
    return words.say(words.COST_PARTS, code)


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
def left_out(code: str) -> str:
    """Return why documents are no part of a snapshot."""
    return words.say(words.LEFT_OUT, code)


@register.filter
def field_state(code: str) -> str:
    """Return what a person said of a field last."""
    return words.say(words.FIELD_STATES, code)


@register.filter
def export_failure(code: str) -> str:
    """Return why an export failed, and what to do."""
    return words.say(words.EXPORT_FAILURES, code)


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
