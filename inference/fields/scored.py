"""One field's spans on a document's pages, each with its features and its score: what a choice is made from."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from inference.fields.features import FeatureMaker
from inference.fields.keywords import KeywordIndex
from inference.fields.layout import PageLayout
from inference.fields.normalise import TYPED, folded
from inference.fields.prior import Scorer
from inference.fields.score import Choice, choose
from inference.fields.spans import Span, spans_for
from inference.types import BBox, Candidate, FieldSpec

KEPT_CANDIDATES = 20
CLAIMED_OVERLAP = 0.5


class ScoredField(NamedTuple):
    """One field's spans with features and scores, best score first."""

    spec: FieldSpec
    spans: list[Span]
    features: list[dict[str, float]]
    scores: list[float]

    def keys(self) -> list[str]:
        """Return what makes two spans the same value, a string a span."""
        return [span_key(span, self.spec) for span in self.spans]

    def choice(self) -> Choice | None:
        """Return the value that wins among the spans."""
        return choose(self.scores, self.keys())

    def without(self, claimed: Iterable[Span]) -> "ScoredField":
        """Return the same without spans that other fields have claimed; unchanged where nothing would be left."""
        taken = list(claimed)
        kept = [row for row, span in enumerate(self.spans) if not any(_overlap(span, other) for other in taken)]
        return self._rows(kept) if kept else self

    def _rows(self, rows: Sequence[int]) -> "ScoredField":
        return ScoredField(
            self.spec,
            [self.spans[row] for row in rows],
            [self.features[row] for row in rows],
            [self.scores[row] for row in rows],
        )

    def candidates(self) -> tuple[Candidate, ...]:
        """Return the best spans as candidates, each with the share of belief that it would have alone."""
        shares = _shares(self.scores[:KEPT_CANDIDATES])
        found = (candidate for row, share in enumerate(shares) for candidate in _candidates(self, row, share))
        return tuple(islice(found, KEPT_CANDIDATES))


def score_field(
    pages: Sequence[PageLayout], spec: FieldSpec, index: KeywordIndex, scorer: Scorer, also: Sequence[Span] = ()
) -> ScoredField:
    """Score all spans that may be a field's value, and those in `also`, which may stand anywhere on the pages."""
    spans = [*(span for page in pages for span in spans_for(page, spec, index)), *also]
    maker = FeatureMaker(spec, index, spans)
    features = [maker.features(span) for span in spans]
    scores = scorer.score(spec, features)
    order = sorted(range(len(spans)), key=lambda row: -scores[row])
    return ScoredField(
        spec, [spans[row] for row in order], [features[row] for row in order], [scores[row] for row in order]
    )


def settle(scored: dict[str, ScoredField]) -> dict[str, tuple[ScoredField, Choice | None]]:
    """Choose a value for each field, the surest first; running text once claimed is lost to the others."""
    chosen: dict[str, tuple[ScoredField, Choice | None]] = {}
    claimed: list[Span] = []
    choices = {path: field.choice() for path, field in scored.items()}
    for path in sorted(scored, key=lambda path: -_share(choices[path])):
        field, choice = scored[path], choices[path]
        if field.spec.value_type not in TYPED and claimed:
            field = field.without(claimed)
            choice = field.choice()
        chosen[path] = field, choice
        if choice is not None and is_answer(choice, field.spec) and field.spec.value_type not in TYPED:
            claimed.append(field.spans[choice.position])
    return chosen


def is_answer(choice: Choice, spec: FieldSpec) -> bool:
    """Say whether a choice is believed: an optional field may stay empty, a required one shows its best guess."""
    return spec.is_required or choice.margin >= 0


def _share(choice: Choice | None) -> float:
    return choice.share if choice is not None else 0.0


def _shares(scores: Sequence[float]) -> list[float]:
    return [choice.share for row in range(len(scores)) if (choice := choose(scores[row : row + 1], [""])) is not None]


def _candidates(field: ScoredField, row: int, share: float) -> Iterator[Candidate]:
    """Yield a span as a candidate, or one for each value that it may mean, for a person to choose from."""
    span = field.spans[row]
    for value in span.normalised.alternatives or (span.normalised.value,):
        yield Candidate(span.text, value, span.page.page_number, span.bbox, field.features[row], round(share, 6))


def span_key(span: Span, spec: FieldSpec) -> str:
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
