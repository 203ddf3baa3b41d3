"""Readings of receipts with what is printed on them, kept in one small file: what was read once need not be read again.

`receipts_test.json.gz` holds the hundred receipts of the test part of ICDAR 2019 SROIE (CC BY 4.0, see
samples/README.md), read by the engine of this project; boxes are in pixels.
"""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from inference.bench import image_files, load_pages
from inference.engine import Engine
from inference.types import BBox, PageReading, Word
from tests.bench.planting import Truth

STORED = Path(__file__).with_name("receipts_test.json.gz")


def read_folder(folder: Path, engine: Engine) -> Iterator[Truth]:
    """Read every `img/NAME.jpg` of a folder; what is printed is in `key/NAME.json`. An empty text is no truth."""
    files = image_files(folder / "img")
    for path, page in zip(files, load_pages(files), strict=True):
        key = json.loads((folder / "key" / f"{path.stem}.json").read_text(encoding="utf-8"))
        yield Truth(path.stem, engine.read_page(page), {f"/{name}": text for name, text in key.items() if text})


def store(truths: Sequence[Truth], path: Path = STORED) -> None:
    """Write readings to a file; the same readings make the same bytes."""
    data = [truth_as_json(truth) for truth in truths]
    path.write_bytes(gzip.compress(json.dumps(data, ensure_ascii=False).encode(), mtime=0))


def load(path: Path = STORED) -> list[Truth]:
    """Return the readings that a file holds."""
    return [truth_from_json(item) for item in json.loads(gzip.decompress(path.read_bytes()))]


def truth_as_json(truth: Truth) -> dict[str, Any]:
    """Return a reading and its truth as plain JSON data, the words' boxes in pixels."""
    reading = truth.reading
    width, height = reading.width, reading.height
    return {
        "name": truth.name,
        "size": [width, height],
        "quality": {name: round(value, 4) for name, value in reading.quality.items()},
        "values": dict(truth.values),
        "words": [
            [
                word.text,
                round(word.bbox.x0 * width),
                round(word.bbox.y0 * height),
                round(word.bbox.x1 * width),
                round(word.bbox.y1 * height),
                round(word.score, 3),
            ]
            for word in reading.words
        ],
    }


def truth_from_json(item: dict[str, Any]) -> Truth:
    """Return what `truth_as_json` was given, but for rounding."""
    width, height = item["size"]
    words = tuple(
        Word(text, BBox(x0 / width, y0 / height, x1 / width, y1 / height), score)
        for text, x0, y0, x1, y1, score in item["words"]
    )
    return Truth(item["name"], PageReading(width, height, words, 0.0, item["quality"]), item["values"])
