"""Spans of words that may be a field's value: typed parts of a run, whole runs, and several lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from inference.fields.keywords import KeywordIndex
from inference.fields.layout import PageLayout, Run
from inference.fields.normalise import TYPED, Normalised, find_values, normalise
from inference.types import BBox, FieldSpec, ValueType

LABEL_MARKS = " :：#.-*="
MAX_TEXT = 400
CODES = (r"\([^()]*\d{2}[^()]*\)?", r"\(?\b[\w.:\-·]*\d{3,}[\w.\-·]*\s*[)\]]", r"\s\(?\d{4,}[ \-]?[A-Z]?\)?")
TRAILING_CODE = re.compile(rf"[\s,]*(?:{'|'.join(CODES)})\W*(?:\(\w+\)\W*)?$")


@dataclass(frozen=True, eq=False)
class Span:
    """Text that may be a value: characters [start, end) of one run, or several `runs` whole (from `start` on)."""

    runs: tuple[Run, ...]
    start: int
    end: int
    text: str
    bbox: BBox
    ocr_score: float
    normalised: Normalised
    page: PageLayout

    @property
    def run(self) -> Run:
        """The first run."""
        return self.runs[0]

    def is_same_text(self, other: "Span") -> bool:
        """Say whether both are the same characters of the same page."""
        return (self.runs, self.start, self.end) == (other.runs, other.start, other.end)


def typed_spans(page: PageLayout, spec: FieldSpec) -> list[Span]:
    """Return every date, amount, … in the page's runs."""
    spans = []
    for run in page.runs:
        for found in find_values(run.text, spec.value_type, spec.locale):
            text = run.text[found.start : found.end].strip()
            box = run.box_of(found.start, found.end)
            score = run.score_of(found.start, found.end)
            spans.append(Span((run,), found.start, found.end, text, box, score, found.normalised, page))
    return spans


def lines_span(page: PageLayout, spec: FieldSpec, runs: Sequence[Run], start: int, end: int) -> Span:
    """Return the lines from `start` of the first to `end` of the last as one span, whatever they hold."""
    edges = _edges(runs, start, end)
    text = " ".join(run.text[first:last].strip() for run, first, last in edges)
    box = BBox.around(run.box_of(first, last) for run, first, last in edges)
    score = min(run.score_of(first, last) for run, first, last in edges)
    return Span(tuple(runs), start, end, text, box, score, normalise(text, spec.value_type, spec.locale), page)


def _edges(runs: Sequence[Run], start: int, end: int) -> list[tuple[Run, int, int]]:
    last = len(runs) - 1
    return [(run, start if row == 0 else 0, end if row == last else len(run.text)) for row, run in enumerate(runs)]


def _candidate(page: PageLayout, spec: FieldSpec, runs: Sequence[Run], start: int, end: int) -> Span | None:
    """Return such a span where it may be a value: something in every line, and not too long."""
    if not all(run.text[first:last].strip() for run, first, last in _edges(runs, start, end)):
        return None
    span = lines_span(page, spec, runs, start, end)
    return span if span.normalised.value is not None and len(span.text) <= MAX_TEXT else None


def _label_end(text: str, spec: FieldSpec, index: KeywordIndex) -> int:
    """Return where the value starts after a label such as "Bill to:", or 0 where the run has none."""
    colon = max(text.find(":"), 0)
    head = text[:colon]
    if head and len(head) <= 40 and index.strength(head, index.positions(spec.keywords)) > 0:
        return colon + len(text[colon:]) - len(text[colon:].lstrip(LABEL_MARKS))
    lowered = text.casefold()
    for keyword in spec.keywords:
        if lowered.startswith(keyword.casefold()):
            rest = text[len(keyword) :]
            if not rest[:1].isalnum() or not keyword.isascii():
                return len(text) - len(rest.lstrip(LABEL_MARKS))
    return 0


def _code_starts(text: str) -> set[int]:
    """Return where a registration number behind a name begins, if one is there: "Acme Ltd (123456-X)"."""
    match = TRAILING_CODE.search(text)
    return {match.start()} if match and match.start() > 2 else set()


def text_spans(page: PageLayout, spec: FieldSpec, index: KeywordIndex) -> Iterator[Span]:
    """Yield every run, what follows a label in it, and both continued over up to `max_lines` lines."""
    for run in page.runs:
        chain = [run]
        starts = {0, _label_end(run.text, spec, index)}
        while True:
            ends = {len(chain[-1].text)} | (
                _code_starts(chain[-1].text) if spec.value_type is ValueType.NAME else set()
            )
            for start, end in product(starts, ends):
                span = _candidate(page, spec, chain, start, end)
                if span is not None:
                    yield span
            below = page.next_line(chain[-1])
            if below is None or len(chain) >= spec.max_lines:
                break
            chain.append(below)


def spans_for(page: PageLayout, spec: FieldSpec, index: KeywordIndex) -> list[Span]:
    """Return all spans that may be the value of `spec` on one page."""
    return typed_spans(page, spec) if spec.value_type in TYPED else list(text_spans(page, spec, index))
