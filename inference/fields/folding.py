"""A page's lines as letters and digits only, with the way back to the print: what fuzzy search looks through."""

from collections.abc import Iterator, Sequence
from itertools import accumulate

from inference.fields.layout import PageLayout, Run
from inference.fields.normalise import folded

SLACK = 8


class FoldedRun:
    """A run as `folded` leaves it, and for each of those characters its offset in `run.text`."""

    def __init__(self, run: Run) -> None:
        self.run = run
        kept = [(letter, at) for at, character in enumerate(run.text) for letter in folded(character)]
        self.text = "".join(letter for letter, _ in kept)
        self.offsets = [at for _, at in kept]


class Passage:
    """Runs that are read one after the other, as one text."""

    def __init__(self, runs: Sequence[FoldedRun]) -> None:
        self._runs = runs
        self._ends = list(accumulate(len(run.text) for run in runs))
        self.text = "".join(run.text for run in runs)
        self.first_length = len(runs[0].text)

    def back(self, start: int, end: int) -> tuple[list[Run], int, int]:
        """Return the runs that `text[start:end]` touches, where it begins in the first and where it ends in the last.

        What is left out by folding stays with the text before it, as far as the next letter or digit but for spaces.
        """
        first = next(row for row, stop in enumerate(self._ends) if stop > start)
        last = next(row for row, stop in enumerate(self._ends) if stop >= end)
        head, tail = self._runs[first], self._runs[last]
        begins = head.offsets[start - self._ends[first] + len(head.text)]
        ends = tail.offsets[end - self._ends[last] + len(tail.text) - 1] + 1
        return [run.run for run in self._runs[first : last + 1]], begins, ends


class FoldedPage:
    """One page's runs, folded once however many values are looked for."""

    def __init__(self, layout: PageLayout) -> None:
        self.layout = layout
        self._folded = {run: FoldedRun(run) for run in layout.runs}

    def passages(self, length: int) -> Iterator[Passage]:
        """Yield what may hold a text of `length` folded characters: from each run on, down its column and by rows."""
        order = [run for run in self.layout.runs if self._folded[run].text]
        for position, run in enumerate(order):
            down = self._down(run, length)
            yield Passage(down)
            across = self._across(order[position:], length)
            if [one.run for one in across] != [one.run for one in down]:
                yield Passage(across)

    def _down(self, run: Run, length: int) -> list[FoldedRun]:
        chain, after = [self._folded[run]], 0
        below = self.layout.next_line(run)
        while below is not None and after < length + SLACK:
            chain.append(self._folded[below])
            after += len(self._folded[below].text)
            below = self.layout.next_line(below)
        return chain

    def _across(self, runs: Sequence[Run], length: int) -> list[FoldedRun]:
        chain, after = [self._folded[runs[0]]], 0
        for run in runs[1:]:
            if after >= length + SLACK:
                break
            chain.append(self._folded[run])
            after += len(self._folded[run].text)
        return chain
