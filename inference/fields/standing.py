"""Where values stand that come without a place: another program's readings, looked for among the words of the page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from inference.fields.answered_document import AnsweredDocument
from inference.fields.folding import FoldedPage
from inference.fields.ground import Place, ground
from inference.fields.normalise import normalise
from inference.fields.prior import PriorScorer
from inference.fields.scored import ScoredField, score_field
from inference.types import BBox, DocumentTypeSpec, FieldSpec, PageReading


class Said(NamedTuple):
    """A value as somebody read it, what it is a value of, and on which page (from 1; None: they do not say)."""

    text: str
    spec: FieldSpec
    page_number: int | None


class Standing(NamedTuple):
    """Where a value stands: page from 1, and box in shares of it."""

    page_number: int
    bbox: BBox


def stand(readings: Sequence[PageReading], spec: DocumentTypeSpec, said: Mapping[str, Said]) -> dict[str, Standing]:
    """Return by field path where values stand among the words of a document's pages; what is not found is left out.

    The value of a field is where the prior looks for the field first. A cell of a table, whose value other rows may
    say as well, must stand in one place only.
    """
    document = AnsweredDocument.of(readings, spec)
    judge = PriorScorer()
    # By the spec itself: the columns of two groups, and a field, may have one path.
    scored: dict[int, ScoredField] = {}
    found: dict[str, Standing] = {}
    for path, one in said.items():
        field = scored.get(id(one.spec)) or score_field(document.layouts, one.spec, document.index, judge)
        scored[id(one.spec)] = field
        places = [place for page in _pages(document, one) for place in _grounded(one, field, page)]
        order = {id(span): rank for rank, span in enumerate(field.spans)}
        # Sorting keeps the order of what the prior does not know, as passages of running text.
        places.sort(key=lambda place: (-place.similarity, order.get(id(place.span), len(order))))
        if places and (one.spec.path == path or len(places) == 1):
            span = places[0].span
            found[path] = Standing(span.page.page_number, span.bbox)
    return found


def _pages(document: AnsweredDocument, one: Said) -> Iterator[FoldedPage]:
    for number, page in enumerate(document.pages, 1):
        if one.page_number in (None, number):
            yield page


def _grounded(one: Said, field: ScoredField, page: FoldedPage) -> Iterator[Place]:
    normalised = normalise(one.text, one.spec.value_type, one.spec.locale)
    spans = [span for span in field.spans if span.page is page.layout]
    places = ground(one.text, normalised, one.spec, page, spans)
    yield from (place for place in places if place.is_grounded)
