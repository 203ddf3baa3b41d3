"""How much of what is printed the reader finds: our engine beside RapidOCR as it comes, on pages with known lines.

A folder holds `img/NAME.jpg`, `box/NAME.csv` (`x1,y1,…,x4,y4,text`: one line of print a row, clockwise from the top
left), `key/NAME.json` (the fields of a receipt as printed) and `readings/NAME.json` (`size`, `lines` with `box`, `text`
and `score`: RapidOCR's own reading of the same file).
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from inference import bench, registry
from inference.document_types import shipped_document_type
from inference.fields.locate import locate
from inference.fields.normalise import folded
from inference.fields.normalise.comparison import comparable
from inference.types import BBox, PageReading, Word
from tests.bench.report import Budget, finish, ratio

# The cheaper reading must not be a worse one: it may lose at most this share of the lines that RapidOCR finds.
LARGEST_LOSS = 0.01
RECEIPT = shipped_document_type("receipt")


class Line(NamedTuple):
    """A line of text with the middle of its left edge and its extent, in pixels."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, other: "Line") -> bool:
        """Whether the other line's middle lies in this one's box."""
        x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


@dataclass(slots=True)
class Score:
    """Printed lines and those read letter by letter, their letters and the wrong ones, fields and the right ones."""

    n_lines: int = 0
    n_found: int = 0
    n_letters: int = 0
    n_wrong: int = 0
    n_fields: int = 0
    n_right: int = 0

    def add(self, printed: Sequence[Line], read: Sequence[Line]) -> None:
        """Hold one page's lines against those read where they stand; case, white space and punctuation do not count.

        A printed line with nothing read in it is not found, and its letters are all wrong.
        """
        for line in printed:
            wanted = folded(line.text)
            if not wanted:
                continue
            here = sorted((one for one in read if line.holds(one) or one.holds(line)), key=lambda one: one.x0)
            got = folded("".join(one.text for one in here))
            # Two printed lines may have been read as one: then the printed one must stand in it.
            is_found = wanted in got
            self.n_lines += 1
            self.n_found += is_found
            self.n_letters += len(wanted)
            self.n_wrong += 0 if is_found else min(Levenshtein.distance(wanted, got), len(wanted))

    def add_fields(self, key: Mapping[str, str], reading: PageReading) -> None:
        """Find a receipt's fields in a reading and hold them against what is printed; an empty text is no truth."""
        for found in locate([reading], RECEIPT):
            spec, printed = RECEIPT.spec_of(found.field_path), key.get(found.field_path.removeprefix("/"))
            if spec is None or not printed:
                continue
            wanted = comparable(printed, spec.value_type, spec.locale)
            self.n_fields += 1
            self.n_right += found.value is not None and comparable(found.value, spec.value_type, spec.locale) == wanted

    @property
    def found_share(self) -> float:
        """Share of printed lines that were read letter by letter."""
        return ratio(self.n_found, self.n_lines)

    @property
    def cer(self) -> float:
        """Wrong letters a letter printed."""
        return ratio(self.n_wrong, self.n_letters)


def printed_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of print that a CSV file of boxes names; the text may hold commas."""
    for row in path.read_text(encoding="utf-8").splitlines():
        *corners, text = row.split(",", 8)
        xs, ys = [float(x) for x in corners[0::2]], [float(y) for y in corners[1::2]]
        yield Line(text, min(xs), min(ys), max(xs), max(ys))


def lines_of(reading: PageReading) -> Iterator[Line]:
    """Yield the lines of a reading in pixels."""
    for word in reading.words:
        box = word.bbox
        yield Line(
            word.text,
            box.x0 * reading.width,
            box.y0 * reading.height,
            box.x1 * reading.width,
            box.y1 * reading.height,
        )


def stored_reading(path: Path, quality: Mapping[str, float]) -> PageReading:
    """Return RapidOCR's own reading, stored as JSON; the measures of the image are those of the other reading."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    width, height = stored["size"]
    words = []
    for line in stored["lines"]:
        xs, ys = zip(*line["box"], strict=True)
        box = BBox(max(min(xs) / width, 0), max(min(ys) / height, 0), min(max(xs) / width, 1), min(max(ys) / height, 1))
        words.append(Word(line["text"], box, line["score"]))
    return PageReading(width, height, tuple(words), 0.0, quality)


def measure(files: Iterable[Path]) -> dict[str, Score]:
    """Read each page and score both readings."""
    scores = {"ours": Score(), "as it comes": Score()}
    engine = registry.build_engine("rapidocr")
    for path in files:
        folder = path.parent.parent
        (page,) = bench.load_pages([path])
        ours = engine.read_page(page)
        readings = {
            "ours": ours,
            "as it comes": stored_reading(folder / "readings" / f"{path.stem}.json", ours.quality),
        }
        printed = list(printed_lines(folder / "box" / f"{path.stem}.csv"))
        key = json.loads((folder / "key" / f"{path.stem}.json").read_text(encoding="utf-8"))
        for name, reading in readings.items():
            scores[name].add(printed, list(lines_of(reading)))
            scores[name].add_fields(key, reading)
    return scores


def main(arguments: Sequence[str]) -> int:
    """Measure, print, return the exit status."""
    parser = argparse.ArgumentParser(prog="text", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="folder with img/, box/, key/ and readings/")
    parser.add_argument("--limit", type=int, help="read at most so many pages")
    options = parser.parse_args(arguments)
    scores = measure(bench.image_files(options.dir / "img", options.limit))
    ours, theirs = scores["ours"], scores["as it comes"]
    rows = [(name, one.n_lines, one.found_share, one.cer, one.n_fields, one.n_right) for name, one in scores.items()]
    budgets = [
        Budget("share of lines lost against RapidOCR as it comes", theirs.found_share - ours.found_share, LARGEST_LOSS),
        Budget("fields right, ours - as it comes", ours.n_right - theirs.n_right, 0, is_floor=True),
    ]
    header = ("reader", "lines", "found letter by letter", "CER", "fields", "right")
    return finish("text", header, rows, budgets, {"readers": {name: asdict(one) for name, one in scores.items()}})
