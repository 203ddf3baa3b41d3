"""A value that a language model claims is looked for among the words that the OCR reader found (R5).

Typed values (dates, amounts, …) are compared as values, so that "2018-03-19" is found where "19 MAR 2018" is printed;
failing that as printed, letters that readers take for digits included. Free text is aligned with the lines of the page
character by character. What stands on the page only in part, or a digit apart, is not found: it is shown where it
nearly stands, with a similarity that says so.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from inference.fields.folding import FoldedPage, Passage
from inference.fields.normalise import TYPED, Normalised, clean_text, folded
from inference.fields.spans import Span, lines_span
from inference.types import FieldSpec

AS_VALUE, AS_PRINTED = 1.0, 0.9
# Of what is not the same value: one digit apart is nearly the same text and quite another amount.
NEARLY = 0.5
MIN_NEARLY = 0.7
GROUNDED = 0.75
MIN_FUZZY_LENGTH, MIN_DIGITS = 4, 2
EDGE = 3
MANY_PLACES = 0.05
LOOKS_LIKE = str.maketrans({"o": "0", "q": "0", "i": "1", "l": "1", "|": "1", "s": "5", "b": "8", "z": "2"})
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands, or nearly: `similarity` is 1 for the same value, below `GROUNDED` for another one.

    `n_digit_errors` counts the digits of running text that are printed otherwise there.
    """

    span: Span
    similarity: float
    n_digit_errors: int = 0

    @property
    def is_grounded(self) -> bool:
        """Whether the value stands there."""
        return self.similarity >= GROUNDED


def ground(text: str, normalised: Normalised, spec: FieldSpec, page: FoldedPage, found: Sequence[Span]) -> list[Place]:
    """Return where a claimed value stands on a page, best first; or the place where it nearly does; or nothing.

    `text` is the value as claimed, `found` the values of the field's type on the page, in the order in which places
    are wanted; for running text `found` is not looked at.
    """
    if spec.value_type in TYPED:
        return _ground_typed(text, normalised, page, found)
    return _ground_text(text, spec, page)


def _ground_typed(text: str, normalised: Normalised, page: FoldedPage, found: Sequence[Span]) -> list[Place]:
    value = normalised.value
    if value is None:
        return []
    places = [Place(span, AS_VALUE) for span in found if span.normalised.value == value]
    if not places:
        places = [Place(span, AS_PRINTED) for span in _as_printed({text, value}, normalised, page)]
    return places or _nearly(value, found)


def _nearly(value: str, found: Sequence[Span]) -> list[Place]:
    likeness = [
        (Levenshtein.normalized_similarity(value, span.normalised.value), -order)
        for order, span in enumerate(found)
        if span.normalised.value is not None
    ]
    best, order = max(likeness, default=(0.0, 0))
    return [Place(found[-order], NEARLY * best)] if best >= MIN_NEARLY else []


def _as_printed(forms: set[str], normalised: Normalised, page: FoldedPage) -> Iterator[Span]:
    """Yield where one of the forms is printed, white space aside, with no further digit at either end."""
    needles = {squeezed for form in forms if (squeezed := _squeezed(form))}
    plain = {_without_spaces(form) for form in forms}
    for run in page.layout.runs:
        kept = [position for position, character in enumerate(run.text) if not character.isspace()]
        line = _squeezed(run.text)
        for needle in needles:
            at = line.find(needle) if len(line) == len(kept) else -1
            if at < 0:
                continue
            start, end = kept[at], kept[at + len(needle) - 1] + 1
            printed = run.text[start:end]
            if _is_whole(printed, run.text[:start][::-1], run.text[end:], plain):
                box, score = run.box_of(start, end), run.score_of(start, end)
                yield Span((run,), start, end, printed, box, score, normalised, page.layout)


def _squeezed(text: str) -> str:
    return _without_spaces(text).translate(LOOKS_LIKE)


def _without_spaces(text: str) -> str:
    return SPACES.sub("", clean_text(text)).lower()


def _is_whole(printed: str, before: str, after: str, plain: set[str]) -> bool:
    """Say whether what is printed is the value and no part of another one; `before` is read backwards.

    Letters that look like digits are believed among digits only; other letters must be the very ones.
    """
    if _goes_on(before) or _goes_on(after):
        return False
    stands_alone = not before[:1].isalnum() and not after[:1].isalnum()
    return _is_mostly_digits(printed) or (stands_alone and _without_spaces(printed) in plain)


def _is_mostly_digits(printed: str) -> bool:
    """Say whether it is too long and has too many digits to be letters that look like some."""
    n_digits = sum(map(str.isdigit, printed))
    return n_digits >= MIN_DIGITS and 2 * n_digits >= sum(map(str.isalnum, printed))


def _goes_on(rest: str) -> bool:
    """Say whether digits follow, straight away or behind a mark: then it is part of a longer number."""
    return re.match(r"[.,/-]?\d", rest) is not None


def _ground_text(text: str, spec: FieldSpec, page: FoldedPage) -> list[Place]:
    needle = folded(text)
    if not needle:
        return []
    places: list[Place] = []
    best = 0.0
    for passage in page.passages(len(needle)):
        window = _window(needle, passage, max(best - MANY_PLACES, 0.0))
        if window is None:
            continue
        places.append(_place(needle, passage, window, spec, page))
        best = max(best, places[-1].similarity)
    return sorted((one for one in places if one.similarity >= best - MANY_PLACES), key=lambda one: -one.similarity)


def _window(needle: str, passage: Passage, least: float) -> tuple[int, int] | None:
    """Return the part of a passage that is most like the needle, or None where none is or it begins on a later line."""
    text = passage.text
    if len(needle) < MIN_FUZZY_LENGTH:
        at = text.find(needle)
        return (at, at + len(needle)) if 0 <= at < passage.first_length else None
    if len(text) <= len(needle):
        return (0, len(text)) if fuzz.ratio(needle, text) >= 100 * least else None
    found = fuzz.partial_ratio_alignment(needle, text, score_cutoff=100 * least)
    if found is None or found.dest_start >= passage.first_length or found.dest_start == found.dest_end:
        return None
    return _moved_edges(needle, text, found.dest_start, found.dest_end)


def _moved_edges(needle: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Return the window with its edges where it is most like the needle: misread letters shift them."""

    def likeness(edges: tuple[int, int]) -> tuple[int, int]:
        return Levenshtein.distance(needle, text[edges[0] : edges[1]]), abs(edges[0] - start) + abs(edges[1] - end)

    for side in (0, 1):
        tried = []
        for step in range(-EDGE, EDGE + 1):
            edges = (start + step, end) if side == 0 else (start, end + step)
            if 0 <= edges[0] < edges[1] <= len(text):
                tried.append(edges)
        start, end = min(tried, key=likeness)
    return start, end


def _place(needle: str, passage: Passage, window: tuple[int, int], spec: FieldSpec, page: FoldedPage) -> Place:
    printed = passage.text[slice(*window)]
    runs, first, last = passage.back(*window)
    span = lines_span(page.layout, spec, runs, first, last)
    return Place(span, Levenshtein.normalized_similarity(needle, printed), _digit_errors(needle, printed))


def _digit_errors(claimed: str, printed: str) -> int:
    """Count the digits claimed or printed that differ, unless one side has a letter that is taken for that digit."""
    count = 0
    for step in Levenshtein.opcodes(claimed, printed):
        if step.tag == "equal":
            continue
        ours, theirs = claimed[step.src_start : step.src_end], printed[step.dest_start : step.dest_end]
        if step.tag == "replace" and ours.translate(LOOKS_LIKE) == theirs.translate(LOOKS_LIKE):
            continue
        count += max(sum(map(str.isdigit, ours)), sum(map(str.isdigit, theirs)))
    return count
