"""What goes into an engine (`PageImage`) and what comes out of one (`PageReading`)."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import east_asian_width

import numpy as np
import numpy.typing as npt

from inference.types.answers import PageAnswer
from inference.types.geometry import BBox

_NOT_WHITE = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, eq=False)
class PageImage:
    """One upright raster: `pixels` is uint8 RGB of shape (height, width, 3); `page_number` starts at 1."""

    pixels: npt.NDArray[np.uint8]
    page_number: int = 1

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return int(self.pixels.shape[1]), int(self.pixels.shape[0])


@dataclass(frozen=True, slots=True)
class Word:
    """A run of text as the OCR reader delivers it (a word or a whole line), its box and its score in 0-1."""

    text: str
    bbox: BBox
    score: float

    def parts(self) -> "tuple[Word, ...]":
        """Return what stands between white space, each part with its share of the box; wide characters count twice."""
        if _NOT_WHITE.fullmatch(self.text):
            return (self,)
        ends: Sequence[int] = range(len(self.text) + 1)
        if not self.text.isascii():
            widths = (2 if east_asian_width(character) in "WF" else 1 for character in self.text)
            ends = [0, *itertools.accumulate(widths)]
        step = self.bbox.width / max(ends[-1], 1)
        return tuple(
            Word(
                found[0],
                self.bbox._replace(x0=self._at(ends[found.start()], step), x1=self._at(ends[found.end()], step)),
                self.score,
            )
            for found in _NOT_WHITE.finditer(self.text)
        )

    def _at(self, n_before: int, step: float) -> float:
        return min(self.bbox.x0 + n_before * step, self.bbox.x1)


@dataclass(frozen=True, slots=True)
class PageReading:
    """What one engine read on one page: words in reading order, pixel size of the raster, CPU seconds spent.

    `quality` holds measures of the image (see `inference.imaging.quality`), each a float. `answer` is what a language
    model said of the page, where one read it.
    """

    width: int
    height: int
    words: tuple[Word, ...]
    cpu_seconds: float
    quality: Mapping[str, float] = field(default_factory=dict)
    answer: PageAnswer | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON data; `from_json` is its inverse."""
        return {
            "width": self.width,
            "height": self.height,
            "words": [[word.text, *word.bbox, word.score] for word in self.words],
            "cpu_seconds": self.cpu_seconds,
            "quality": dict(self.quality),
            **({} if self.answer is None else {"answer": self.answer.as_json()}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PageReading":
        """Rebuild a reading from what `as_json` returned."""
        return cls(
            width=data["width"],
            height=data["height"],
            words=tuple(Word(row[0], BBox(*row[1:5]), row[5]) for row in data["words"]),
            cpu_seconds=data["cpu_seconds"],
            quality=data["quality"],
            answer=PageAnswer.from_json(data["answer"]) if "answer" in data else None,
        )
