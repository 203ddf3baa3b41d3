"""Words with boxes to rows of runs: what stands side by side, what stands left of, above and below what."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median

from inference.fields.normalise import clean_text
from inference.types import BBox, PageReading, Word

SAME_ROW_OVERLAP = 0.45
RUN_GAP = 1.2
LINE_GAP = 1.1
MIN_SIDE = 1e-6


@dataclass(frozen=True, eq=False)
class Run:
    """Words of one row without a wide gap between them. `starts` are the words' offsets in `text`.

    `row` numbers the page's rows from the top, `column` the runs of a row from the left.
    """

    words: tuple[Word, ...]
    text: str
    starts: tuple[int, ...]
    bbox: BBox
    page_number: int
    row: int
    column: int

    @property
    def ocr_score(self) -> float:
        """The lowest score among the words."""
        return min(word.score for word in self.words)

    def box_of(self, start: int, end: int) -> BBox:
        """Return the box of `text[start:end]`, as if all characters of a word were equally wide."""
        boxes = []
        for word, offset, stop in zip(self.words, self.starts, (*self.starts[1:], len(self.text) + 1), strict=True):
            length = max(stop - 1 - offset, 1)
            first, last = max(start - offset, 0), min(end - offset, length)
            if first < last:
                x0, step = word.bbox.x0, word.bbox.width / length
                boxes.append(BBox(x0 + first * step, word.bbox.y0, x0 + last * step, word.bbox.y1))
        return BBox.around(boxes or [self.bbox])

    def score_of(self, start: int, end: int) -> float:
        """Return the lowest score among the words that `text[start:end]` touches."""
        first = max(bisect_right(self.starts, start) - 1, 0)
        last = max(bisect_right(self.starts, max(end - 1, start)) - 1, first)
        return min(word.score for word in self.words[first : last + 1])


class PageLayout:
    """One page's runs. `aspect` (width / height) turns horizontal shares into the unit of vertical ones."""

    def __init__(self, reading: PageReading, page_number: int) -> None:
        self.page_number = page_number
        self.reading = reading
        self.aspect = reading.width / max(reading.height, 1)
        words = [word for word in reading.words if clean_text(word.text)]
        heights = [word.bbox.height for word in words]
        self.text_height = max(median(heights), MIN_SIDE) if heights else MIN_SIDE
        self.content = BBox.around([word.bbox for word in words]) if words else BBox(0.0, 0.0, 1.0, 1.0)
        self.rows = tuple(tuple(self._runs(row, number)) for number, row in enumerate(_rows(words)))
        self.runs = tuple(run for row in self.rows for run in row)

    def gap(self, left: BBox, right: BBox) -> float:
        """Return the horizontal gap between two boxes in median text heights (negative where they overlap)."""
        return (right.x0 - left.x1) * self.aspect / self.text_height

    def within_content(self, bbox: BBox) -> BBox:
        """Return a box as shares of the printed area: scans differ in their margins, prints do not."""
        width, height = max(self.content.width, MIN_SIDE), max(self.content.height, MIN_SIDE)
        return BBox(
            (bbox.x0 - self.content.x0) / width,
            (bbox.y0 - self.content.y0) / height,
            (bbox.x1 - self.content.x0) / width,
            (bbox.y1 - self.content.y0) / height,
        )

    def _runs(self, row: Sequence[Word], number: int) -> list[Run]:
        groups: list[list[Word]] = [[row[0]]]
        for before, word in pairwise(row):
            tall = min(before.bbox.height, word.bbox.height)
            if (word.bbox.x0 - before.bbox.x1) * self.aspect > RUN_GAP * max(tall, MIN_SIDE):
                groups.append([])
            groups[-1].append(word)
        return [self._run(group, number, column) for column, group in enumerate(groups)]

    def _run(self, words: Sequence[Word], row: int, column: int) -> Run:
        texts = [clean_text(word.text) for word in words]
        starts, at = [], 0
        for text in texts:
            starts.append(at)
            at += len(text) + 1
        box = BBox.around([word.bbox for word in words])
        return Run(tuple(words), " ".join(texts), tuple(starts), box, self.page_number, row, column)

    @cached_property
    def _above(self) -> dict[Run, Run | None]:
        return {run: self._nearest_above(run) for run in self.runs}

    @cached_property
    def _below(self) -> dict[Run, Run | None]:
        below: dict[Run, Run | None] = dict.fromkeys(self.runs)
        for run in self.runs:
            over = self._above[run]
            if over is not None and (below[over] is None or _shared(over, run) > _shared(over, below[over])):
                below[over] = run
        return below

    def _nearest_above(self, run: Run) -> Run | None:
        for row in reversed(self.rows[max(run.row - 4, 0) : run.row]):
            over = [other for other in row if _shared(other, run) > 0.3]
            if over:
                return max(over, key=lambda other: _shared(other, run))
        return None

    def above(self, run: Run) -> Run | None:
        """Return the nearest run above that shares its columns, or None."""
        return self._above[run]

    def next_line(self, run: Run) -> Run | None:
        """Return the run below that continues the text: same columns, no empty line between, similar height."""
        below = self._below[run]
        if below is None:
            return None
        tall = max(min(run.bbox.height, below.bbox.height), MIN_SIDE)
        is_near = below.bbox.y0 - run.bbox.y1 < LINE_GAP * tall
        return below if is_near else None


def _shared(one: Run, other: Run | None) -> float:
    """Return the share of the narrower run's width that both cover."""
    if other is None:
        return 0.0
    width = min(one.bbox.x1, other.bbox.x1) - max(one.bbox.x0, other.bbox.x0)
    return width / max(min(one.bbox.width, other.bbox.width), MIN_SIDE)


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Chain words from left to right: each joins the row whose last word is level with it (slanted rows included)."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda item: item.bbox.x0):
        best, best_overlap = None, SAME_ROW_OVERLAP
        for row in rows:
            last = row[-1].bbox
            tall = max(min(last.height, word.bbox.height), MIN_SIDE)
            overlap = (min(last.y1, word.bbox.y1) - max(last.y0, word.bbox.y0)) / tall
            covers = last.x1 - word.bbox.x0 > 0.5 * min(last.width, word.bbox.width)
            if overlap > best_overlap and not covers:
                best, best_overlap = row, overlap
        if best is None:
            rows.append([word])
        else:
            best.append(word)
    return sorted(rows, key=lambda row: sum(word.bbox.center[1] for word in row) / len(row))
