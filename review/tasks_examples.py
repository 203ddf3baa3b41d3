"""Which reviewed pages a language model is shown before the one to read (R3): few, and of the same layout.

Never a page of a regression set nor one that looks like it: the set would say nothing any more. Where it is not known
what the pages of a set look like, nothing is shown.
"""

from collections.abc import Callable, Sequence
from typing import Any

from inference.fields.layout_similarity import SAME_LAYOUT, layout_similarity
from inference.types import Example, PageReading
from inference.types.nesting import nested
from review.models import ExtractionRun, Page
from review.selectors.examples import ReviewedPage, first_page, pages_by_id, reviewed_pages
from review.selectors.held_out import held_out_of
from review.tasks_files import load_page

MAX_EXAMPLES = 2


def choose_examples(run: ExtractionRun, read_words: Callable[[Page], PageReading]) -> list[dict[str, Any]]:
    """Return the examples for a run, best first: {"page": id, "values": as the schema has them}.

    By the look of the document's first page, whose words `read_words` finds; that is not asked where there is nothing
    to choose from. The same rows always give the same examples.
    """
    candidates = _allowed(run)
    page = first_page(run) if candidates else None
    if page is None:
        return []
    words = read_words(page).words
    ranked = sorted(
        ((layout_similarity(words, one.reading.words), one.page.pk, one) for one in candidates),
        key=lambda ranked: ranked[:2],
        reverse=True,
    )
    chosen = [one for share, _, one in ranked[:MAX_EXAMPLES] if share >= SAME_LAYOUT]
    return [{"page": one.page.pk, "values": nested(one.values)} for one in chosen]


def _allowed(run: ExtractionRun) -> list[ReviewedPage]:
    candidates = reviewed_pages(run)
    held_out = held_out_of(run.document.project) if candidates else None
    return [one for one in candidates if held_out is not None and not held_out.is_alike(one.page.perceptual_hash)]


def content_of_examples(chosen: Sequence[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return (content hash, values) of chosen examples, all of them that a request depends on."""
    pages = pages_by_id([one["page"] for one in chosen])
    return [(pages[one["page"]].content_hash, one["values"]) for one in chosen]


def load_examples(chosen: Sequence[dict[str, Any]]) -> tuple[Example, ...]:
    """Return chosen examples with their rasters; raise UnreadableFileError, OSError where one is gone."""
    pages = pages_by_id([one["page"] for one in chosen])
    return tuple(
        Example(load_page(str(page.image.name), 1), one["values"], page.content_hash)
        for one in chosen
        for page in [pages[one["page"]]]
    )
