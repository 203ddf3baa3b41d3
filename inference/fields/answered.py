"""What a language model answered becomes `FieldReading`s: merged, normalised, grounded in words, weighed (R5, B6)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from inference.fields.answer_score import (
    FIELD_WEIGHTS,
    NOT_GROUNDED,
    answer_confidence,
    place_evidence,
    standing_evidence,
)
from inference.fields.answered_document import REPAIRED, AnsweredDocument
from inference.fields.answered_rows import read_rows
from inference.fields.ground import Place, ground
from inference.fields.normalise import TYPED, Normalised, folded, normalise
from inference.fields.prior import PriorScorer, Scorer
from inference.fields.rules import findings_of
from inference.fields.score import Choice, confidence_from, evidence_for
from inference.fields.scored import ScoredField, is_answer, score_field, settle, span_key
from inference.types import DocumentTypeSpec, FieldReading, PageReading

LEFT_OUT = "left_out"
SURE = 0.8


class _Claim(NamedTuple):
    """One value of the answer: what was said, where it stands, and the field's spans, that place among them."""

    text: str
    normalised: Normalised
    place: Place | None
    field: ScoredField


def read_fields(
    readings: Sequence[PageReading], spec: DocumentTypeSpec, scorer: Scorer | None = None
) -> tuple[FieldReading, ...]:
    """Return one reading for each single field, in schema order, then the cells that the answers gave, row by row.

    `readings` are a document's pages, some or all with an answer. A page's values are looked for among its own words;
    what the locator would have chosen from these is the second opinion (`scorer` as in `locate`).
    """
    judge = PriorScorer() if scorer is None else scorer
    document = AnsweredDocument.of(readings, spec)
    scored = {field.path: score_field(document.layouts, field, document.index, judge) for field in spec.fields}
    chosen = settle(scored)
    singles = []
    for field in spec.fields:
        claim = _claim(document, scored[field.path], judge)
        own_field, own_choice = chosen[field.path]
        if claim is None:
            singles.append(_absent(document, own_field, own_choice))
        else:
            singles.append(_reading(document, claim, own_field, own_choice))
    return (*singles, *read_rows(document))


def _claim(document: AnsweredDocument, field: ScoredField, judge: Scorer) -> _Claim | None:
    spec = field.spec
    said = document.said(spec.path)
    if said is None:
        return None
    text, page = said
    normalised = normalise(text, spec.value_type, spec.locale)
    found = [span for span in field.spans if span.page is page.layout]
    place = next(iter(ground(text, normalised, spec, page, found)), None)
    if place is None:
        return _Claim(text, normalised, None, field)
    known = next((span for span in found if span.is_same_text(place.span)), None)
    if known is not None:
        return _Claim(text, normalised, replace(place, span=known), field)
    return _Claim(
        text, normalised, place, score_field(document.layouts, spec, document.index, judge, also=[place.span])
    )


def _reading(
    document: AnsweredDocument, claim: _Claim, own_field: ScoredField, own_choice: Choice | None
) -> FieldReading:
    spec, place = claim.field.spec, claim.place
    evidence = place_evidence(place, spec)
    if place is not None:
        evidence |= standing_evidence(place, claim.field)
    evidence["readers_agree"] = _agreement(claim.normalised.value, own_field, own_choice)
    evidence |= document.token_evidence(spec.path)
    findings = list(findings_of(spec, claim.text, claim.normalised))
    if claim.normalised.value is not None and (place is None or not place.is_grounded):
        findings.append(NOT_GROUNDED)
    findings += document.findings(spec.path)
    return FieldReading(
        field_path=spec.path,
        raw_text=claim.text,
        value=claim.normalised.value,
        confidence=answer_confidence(evidence, findings, FIELD_WEIGHTS),
        evidence=evidence,
        findings=tuple(findings),
        page_number=place.span.page.page_number if place is not None else document.merged.values[spec.path][1],
        bbox=place.span.bbox if place is not None else None,
        candidates=own_field.candidates(),
    )


def _agreement(value: str | None, field: ScoredField, choice: Choice | None) -> float:
    """Return how far the locator chose the same value: 0 or 1 for typed ones, by characters for running text."""
    if value is None or choice is None:
        return 0.0
    theirs = span_key(field.spans[choice.position], field.spec)
    if field.spec.value_type in TYPED:
        return float(theirs == value)
    return Levenshtein.normalized_similarity(folded(value), theirs)


def _absent(document: AnsweredDocument, field: ScoredField, choice: Choice | None) -> FieldReading:
    """Report a field that the model left empty; where the locator is sure of a value, that is a finding."""
    findings = ["not_found"]
    if choice is not None and is_answer(choice, field.spec) and _locator_confidence(field, choice) >= SURE:
        findings.append(LEFT_OUT)
    if document.is_repaired:
        findings.append(REPAIRED)
    return FieldReading(field.spec.path, None, None, None, {}, tuple(findings), candidates=field.candidates())


def _locator_confidence(field: ScoredField, choice: Choice) -> float:
    span = field.spans[choice.position]
    evidence = evidence_for(
        field.features[choice.position],
        choice,
        span.page.reading.quality,
        is_typed=field.spec.value_type in TYPED,
    )
    return confidence_from(evidence, findings_of(field.spec, span.text, span.normalised))
