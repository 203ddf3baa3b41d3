"""One frozen record as the formats of trainers see it: its pages, and what each field is and where it stands."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.files.storage import default_storage

from inference.imaging.pages import decode_page, encode_page
from inference.types import BBox, PageImage, Word
from inference.types.nesting import nested
from review.exports.rows import Row
from review.selectors.snapshots import MODEL, FrozenPage, FrozenRecord


class PageChangedError(Exception):
    """The picture of a page is missing, or its file is no longer what was opened.

    `document_id` and `page_number` say which.
    """

    def __init__(self, document_id: int, page_number: int) -> None:
        super().__init__(f"page {page_number} of document {document_id}")
        self.document_id = document_id
        self.page_number = page_number


Pixels = tuple[float, float, float, float]
_INSIDE = 0.5
_PAINT = 0


@dataclass(frozen=True, slots=True)
class Truth:
    """One field: the accepted value, its text as printed, where it stands (None: nobody knows), and by whose word.

    `state` is the last verdict of a person, or "model". `predicted` is the reader's own text, None for nothing.
    """

    path: str
    value: Any
    text: str | None
    predicted: str | None
    confidence: float | None
    state: str
    page_number: int | None
    bbox: BBox | None

    @property
    def is_settled(self) -> bool:
        """Whether a person said what it is."""
        return self.state not in (MODEL, "illegible")

    @property
    def name(self) -> str:
        """The path without its row numbers, as a class of boxes: "line_items.amount"."""
        return ".".join(token for token in self.path.split("/")[1:] if not token.isdecimal())


@dataclass(frozen=True, slots=True)
class SamplePage:
    """One page: its number, its raster's size in pixels, and the words that are left when personal ones are gone."""

    document_id: int
    number: int
    width: int
    height: int
    image: str
    image_sha256: str
    words: tuple[Word, ...]
    covered: tuple[BBox, ...]

    def jpeg(self) -> bytes:
        """Return the page as it is stored, with what is personal painted over; raise PageChangedError, OSError."""
        try:
            with default_storage.open(self.image) as file:
                data = bytes(file.read())
        except FileNotFoundError:
            raise PageChangedError(self.document_id, self.number) from None
        if self.image_sha256 and hashlib.sha256(data).hexdigest() != self.image_sha256:
            raise PageChangedError(self.document_id, self.number)
        if not self.covered:
            return data
        pixels = decode_page(data, self.number).pixels.copy()
        for box in self.covered:
            x0, y0, x1, y1 = whole_pixels(box, self.width, self.height)
            pixels[y0:y1, x0:x1] = _PAINT
        return encode_page(PageImage(np.ascontiguousarray(pixels), self.number))

    def pixels(self, box: BBox) -> Pixels:
        """Return a box in pixels of this page: x0, y0, x1, y1, not rounded."""
        return box.x0 * self.width, box.y0 * self.height, box.x1 * self.width, box.y1 * self.height


@dataclass(frozen=True, slots=True)
class Sample:
    """One record of a snapshot; `row` is its line of JSON."""

    row: Row
    pages: tuple[SamplePage, ...]
    truths: tuple[Truth, ...]

    @property
    def split(self) -> str:
        """The side it stands on."""
        return str(self.row["split"])

    def picture(self, page: SamplePage) -> str:
        """Return a page's file name."""
        return f"{self.row['document']['id']:08d}-{page.number:03d}.jpg"

    def on(self, page: SamplePage) -> Iterator[tuple[Truth, BBox]]:
        """Yield the fields of which it is known where on a page they stand."""
        for truth in self.truths:
            if truth.bbox is not None and truth.page_number == page.number and truth.text is not None:
                yield truth, truth.bbox


def sample_of(record: FrozenRecord) -> Sample:
    """Return a frozen record as a sample."""
    row = json.loads(record.line)
    covered = {page["page_number"]: tuple(BBox(*box) for box in page["covered"]) for page in row["pages"]}
    document_id = int(row["document"]["id"])
    pages = tuple(_page(document_id, page, covered.get(page.page_number, ())) for page in record.pages)
    return Sample(row, pages, tuple(_truth(field, pages) for field in row["fields"]))


def _page(document_id: int, page: FrozenPage, covered: tuple[BBox, ...]) -> SamplePage:
    words = tuple(word for word in page.words if not any(_is_inside(word.bbox, box) for box in covered))
    return SamplePage(
        document_id, page.page_number, page.width, page.height, page.image, page.image_sha256, words, covered
    )


def _is_inside(box: BBox, other: BBox) -> bool:
    width = min(box.x1, other.x1) - max(box.x0, other.x0)
    height = min(box.y1, other.y1) - max(box.y0, other.y0)
    return width > 0 and height > 0 and width * height >= _INSIDE * box.width * box.height


def _truth(field: Mapping[str, Any], pages: tuple[SamplePage, ...]) -> Truth:
    prediction, value = field["prediction"] or {}, field["value"]
    read, raw = prediction.get("value"), prediction.get("raw_text")
    is_as_read = value is not None and value == read
    text = raw if is_as_read and raw is not None else str(value) if value is not None else None
    number, box = prediction.get("page_number"), prediction.get("bbox")
    if not is_as_read or box is None:
        number, box = _found(text, pages)
    return Truth(
        path=field["field_path"],
        value=value,
        text=text,
        predicted=raw if raw is not None else read,
        confidence=prediction.get("confidence"),
        state=field["state"],
        page_number=number,
        bbox=BBox(*box) if box is not None else None,
    )


def _found(text: str | None, pages: tuple[SamplePage, ...]) -> tuple[int | None, BBox | None]:
    """Return where a text that a person typed is printed: on the only word that says the same, or nowhere."""
    if text is None:
        return None, None
    wanted = text.strip()
    found = [
        (page.number, part.bbox)
        for page in pages
        for word in page.words
        for part in ((word,) if word.text.strip() == wanted else word.parts())
        if part.text.strip() == wanted
    ]
    return found[0] if len(found) == 1 else (None, None)


def values_on(sample: Sample, page: SamplePage, *, is_predicted: bool = False) -> dict[str, Any] | None:
    """Return what a model should answer for one page, as printed, in the form of the schema.

    On a document of several pages only what stands on this one; None where it is not known on which page a value
    stands. `is_predicted`: what the reader answered instead.
    """
    values: dict[str, Any] = {}
    for truth in sample.truths:
        text = truth.predicted if is_predicted else truth.text
        if len(sample.pages) > 1 and text is not None:
            if truth.page_number is None:
                return None
            if truth.page_number != page.number:
                if not _in_row(truth.path):
                    values[truth.path] = None
                continue
        values[truth.path] = text
    return {key: _without_gaps(child) for key, child in nested(values).items()}


def _in_row(path: str) -> bool:
    return any(token.isdecimal() for token in path.split("/"))


def _without_gaps(node: Any) -> Any:  # noqa: ANN401 - a tree of mappings and lists
    """Drop the rows that stand on other pages."""
    if isinstance(node, dict):
        return {key: _without_gaps(child) for key, child in node.items()}
    return [_without_gaps(row) for row in node if row] if isinstance(node, list) else node


def whole_pixels(box: BBox, width: int, height: int) -> tuple[int, int, int, int]:
    """Return the smallest box in whole pixels that holds `box`, within the page and not empty."""
    x0, y0 = min(int(box.x0 * width), width - 1), min(int(box.y0 * height), height - 1)
    x1, y1 = max(x0 + 1, -int(-box.x1 * width // 1)), max(y0 + 1, -int(-box.y1 * height // 1))
    return x0, y0, min(x1, width), min(y1, height)


def quad(page: SamplePage, box: BBox) -> list[list[int]]:
    """Return the four corners of a box in whole pixels, clockwise from the top left."""
    x0, y0, x1, y1 = whole_pixels(box, page.width, page.height)
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
