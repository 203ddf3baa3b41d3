"""Pages for the tests, built from texts with places in pixels on a page of 1000 x 1000."""

from collections.abc import Sequence

from inference.fields.keywords import KeywordIndex
from inference.fields.layout import PageLayout
from inference.types import BBox, FieldSpec, PageReading, ValueType, Word

SIDE = 1000
HEIGHT = 20
CHARACTER = 10

Line = tuple[str, int, int]


def word(text: str, x: int, y: int, *, height: int = HEIGHT, score: float = 0.99) -> Word:
    """Return a word whose characters are 10 pixels wide."""
    box = BBox(x / SIDE, y / SIDE, (x + CHARACTER * len(text)) / SIDE, (y + height) / SIDE)
    return Word(text, box, score)


def reading(*items: Line | Word, quality: dict[str, float] | None = None) -> PageReading:
    """Return a reading of words given as (text, x, y) or ready made."""
    words = tuple(item if isinstance(item, Word) else word(*item) for item in items)
    return PageReading(SIDE, SIDE, words, 0.0, quality or {})


def page(*items: Line | Word, number: int = 1) -> PageLayout:
    """Return the layout of such a reading."""
    return PageLayout(reading(*items), number)


def texts(layout: PageLayout) -> list[list[str]]:
    """Return the texts of all runs, row by row."""
    return [[run.text for run in row] for row in layout.rows]


def field(value_type: ValueType = ValueType.TEXT, **hints: object) -> FieldSpec:
    """Return a field at /field with the given hints."""
    return FieldSpec(**{"path": "/field", "value_type": value_type, "locale": "en-MY", **hints})  # type: ignore[arg-type]


def index_of(*fields: FieldSpec, words: Sequence[str] = ()) -> KeywordIndex:
    """Return an index of all keywords of some fields."""
    return KeywordIndex(
        [*words, *(word for spec in fields for word in (*spec.keywords, *spec.keywords_against, *spec.keywords_inside))]
    )
