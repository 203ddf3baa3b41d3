"""From words with boxes to one `FieldReading` a field: candidates, scores, the best value and how sure it is."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inference.fields.features import FeatureMaker
from inference.fields.groups import locate_groups
from inference.fields.keywords import KeywordIndex
from inference.fields.layout import PageLayout
from inference.fields.normalise import TYPED, folded
from inference.fields.prior import PriorScorer, Scorer
from inference.fields.rules import findings_of
from inference.fields.score import Choice, choose, confidence_from, evidence_for
from inference.fields.spans import Span, spans_for
from inference.types import BBox, Candidate, DocumentTypeSpec, FieldReading, FieldSpec, PageReading

KEPT_CANDIDATES = 20
CLAIMED_OVERLAP = 0.5


class _Scored(NamedTuple):
    """One field's spans with features and scores, best score first."""

    spec: FieldSpec
    spans: list[Span]
    features: list[dict[str, float]]
    scores: list[float]

    def choice(self) -> Choice | None:
        """Return the value that wins among the spans."""
        return choose(self.scores, [_key(span, self.spec) for span in self.spans])

    def without(self, claimed: Iterable[Span]) -> "_Scored":
        """Return the same without spans that other fields have claimed; unchanged where nothing would be left."""
        taken = list(claimed)
        kept = [row for row, span in enumerate(self.spans) if not any(_overlap(span, other) for other in taken)]
        if not kept:
            return self
        return _Scored(
            self.spec,
            [self.spans[row] for row in kept],
            [self.features[row] for row in kept],
            [self.scores[row] for row in kept],
        )


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
    scored = {field.path: _score(pages, field, index, judge) for field in spec.fields}
    chosen = _settle(scored)
    answers = [_answer(*chosen[field.path]) for field in spec.fields]
    return (*answers, *locate_groups(pages, spec, index))


def _score(pages: Sequence[PageLayout], spec: FieldSpec, index: KeywordIndex, scorer: Scorer) -> _Scored:
    spans = [span for page in pages for span in spans_for(page, spec, index)]
    maker = FeatureMaker(spec, index, spans)
    features = [maker.features(span) for span in spans]
    scores = scorer.score(spec, features)
    order = sorted(range(len(spans)), key=lambda row: -scores[row])
    return _Scored(
        spec, [spans[row] for row in order], [features[row] for row in order], [scores[row] for row in order]
    )


def _settle(scored: dict[str, _Scored]) -> dict[str, tuple[_Scored, Choice | None]]:
    """Choose a value for each field, the surest first; running text once claimed is lost to the others."""
    chosen: dict[str, tuple[_Scored, Choice | None]] = {}
    claimed: list[Span] = []
    choices = {path: field.choice() for path, field in scored.items()}
    for path in sorted(scored, key=lambda path: -_share(choices[path])):
        field, choice = scored[path], choices[path]
        if field.spec.value_type not in TYPED and claimed:
            field = field.without(claimed)
            choice = field.choice()
        chosen[path] = field, choice
        if choice is not None and _is_answer(choice, field.spec) and field.spec.value_type not in TYPED:
            claimed.append(field.spans[choice.position])
    return chosen


def _is_answer(choice: Choice, spec: FieldSpec) -> bool:
    return spec.is_required or choice.margin >= 0


def _share(choice: Choice | None) -> float:
    return choice.share if choice is not None else 0.0


def _answer(field: _Scored, choice: Choice | None) -> FieldReading:
    """Report a field's best candidate. An optional field may stay empty; a required one shows its best guess."""
    spec = field.spec
    candidates = tuple(
        _candidate(field, row, share) for row, share in enumerate(_shares(field.scores[:KEPT_CANDIDATES]))
    )
    if choice is None or not _is_answer(choice, spec):
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


def _shares(scores: Sequence[float]) -> list[float]:
    return [choice.share for row in range(len(scores)) if (choice := choose(scores[row : row + 1], [""])) is not None]


def _candidate(field: _Scored, row: int, share: float) -> Candidate:
    span = field.spans[row]
    return Candidate(
        span.text, span.normalised.value, span.page.page_number, span.bbox, field.features[row], round(share, 6)
    )


def _key(span: Span, spec: FieldSpec) -> str:
    """Return what makes two spans the same value; text that does not normalise stands for itself."""
    value = span.normalised.value
    if value is None:
        return f"?{span.text}"
    return value if spec.value_type in TYPED else folded(value)


def _overlap(one: Span, other: Span) -> bool:
    if one.page is not other.page:
        return False
    shared = BBox(
        max(one.bbox.x0, other.bbox.x0),
        max(one.bbox.y0, other.bbox.y0),
        min(one.bbox.x1, other.bbox.x1),
        min(one.bbox.y1, other.bbox.y1),
    )
    if shared.width <= 0 or shared.height <= 0:
        return False
    smaller = min(one.bbox.width * one.bbox.height, other.bbox.width * other.bbox.height)
    return shared.width * shared.height > CLAIMED_OVERLAP * smaller
