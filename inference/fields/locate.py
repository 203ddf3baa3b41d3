"""From words with boxes to one `FieldReading` a field: candidates, scores, the best value and how sure it is."""

from collections.abc import Sequence

from inference.fields.groups import locate_groups
from inference.fields.keywords import KeywordIndex
from inference.fields.layout import PageLayout
from inference.fields.normalise import TYPED
from inference.fields.prior import PriorScorer, Scorer
from inference.fields.rules import findings_of
from inference.fields.score import Choice, confidence_from, evidence_for
from inference.fields.scored import ScoredField, is_answer, score_field, settle
from inference.types import DocumentTypeSpec, FieldReading, PageReading


def document_keywords(spec: DocumentTypeSpec) -> KeywordIndex:
    """Return an index of every keyword in a document type."""
    columns = [column for group in spec.groups for column in group.columns]
    return KeywordIndex(
        word
        for field in (*spec.fields, *columns)
        for word in (*field.keywords, *field.keywords_against, *field.keywords_inside)
    )


def locate(
    readings: Sequence[PageReading], spec: DocumentTypeSpec, scorer: Scorer | None = None
) -> tuple[FieldReading, ...]:
    """Find every field of a document type in a document's pages, in schema order; then the rows of its groups.

    There is one answer for each single field, found or not. Rows of a group have paths such as /line_items/0/amount.
    """
    judge = PriorScorer() if scorer is None else scorer
    pages = [PageLayout(reading, number) for number, reading in enumerate(readings, 1)]
    index = document_keywords(spec)
    index.prepare(run.text for page in pages for run in page.runs)
    chosen = settle({field.path: score_field(pages, field, index, judge) for field in spec.fields})
    answers = [_answer(*chosen[field.path]) for field in spec.fields]
    return (*answers, *locate_groups(pages, spec, index))


def _answer(field: ScoredField, choice: Choice | None) -> FieldReading:
    """Report a field's best candidate. An optional field may stay empty; a required one shows its best guess."""
    spec = field.spec
    candidates = field.candidates()
    if choice is None or not is_answer(choice, spec):
        return FieldReading(spec.path, None, None, None, {}, ("not_found",), candidates=candidates)
    span, features = field.spans[choice.position], field.features[choice.position]
    findings = findings_of(spec, span.text, span.normalised)
    evidence = evidence_for(features, choice, span.page.reading.quality, is_typed=spec.value_type in TYPED)
    return FieldReading(
        field_path=spec.path,
        raw_text=span.text,
        value=span.normalised.value,
        confidence=confidence_from(evidence, findings),
        evidence=evidence,
        findings=findings,
        page_number=span.page.page_number,
        bbox=span.bbox,
        candidates=candidates,
    )
