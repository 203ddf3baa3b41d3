"""What each field is and where it stands, from the frozen line and the words of the pages."""

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from inference.types import BBox, Word
from review.exports.samples import Sample, quad, sample_of, values_on, whole_pixels
from review.selectors.snapshots import FrozenPage, FrozenRecord

SHARE = st.floats(0, 1, allow_nan=False)


def sample(*fields: dict[str, Any], words: tuple[Word, ...] = (), n_pages: int = 1, covered: Any = ()) -> Sample:
    pages = [{"page_number": n, "covered": [list(box) for box in covered]} for n in range(1, n_pages + 1)]
    row = {"document": {"id": 7}, "split": "train", "fields": list(fields), "pages": pages}
    frozen = tuple(FrozenPage(n, f"{n}.jpg", 200, 300, words if n == 1 else ()) for n in range(1, n_pages + 1))
    return sample_of(FrozenRecord(json.dumps(row), frozen))


def field(path: str, value: Any, *, state: str = "confirmed", **prediction: Any) -> dict[str, Any]:
    read = {"value": value, "raw_text": value, "page_number": 1, "bbox": [0.1, 0.1, 0.4, 0.2], "confidence": 0.9}
    return {"field_path": path, "value": value, "state": state, "prediction": read | prediction}


def word(text: str, x0: float = 0.5, y0: float = 0.5) -> Word:
    return Word(text, BBox(x0, y0, x0 + 0.2, y0 + 0.05), 0.9)


def test_a_value_that_was_read_right_is_as_printed_and_where_it_was_read() -> None:
    (truth,) = sample(field("/date", "2018-12-25", raw_text="25/12/2018")).truths
    assert (truth.text, truth.bbox, truth.page_number) == ("25/12/2018", BBox(0.1, 0.1, 0.4, 0.2), 1)


def test_a_value_that_a_person_typed_is_never_where_the_wrong_one_stood() -> None:
    wrong = field("/total", "9.10", state="corrected") | {"value": "8.00"}
    (truth,) = sample(wrong).truths
    assert (truth.text, truth.bbox, truth.page_number) == ("8.00", None, None)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((word("8.00"),), True),
        ((word("TOTAL 8.00"),), True),
        ((word("8.00"), word("8.00", y0=0.7)), False),
        ((word("18.00"),), False),
        ((), False),
    ],
)
def test_a_typed_value_stands_on_the_only_word_that_says_the_same(words: tuple[Word, ...], *, found: bool) -> None:
    wrong = field("/total", "9.10", state="corrected") | {"value": "8.00"}
    (truth,) = sample(wrong, words=words).truths
    assert (truth.bbox is not None) is found


@pytest.mark.parametrize(
    ("state", "is_settled"), [("confirmed", True), ("missing", True), ("model", False), ("illegible", False)]
)
def test_a_value_is_settled_by_a_person_who_could_read_it(state: str, *, is_settled: bool) -> None:
    (truth,) = sample(field("/total", "9.00", state=state)).truths
    assert truth.is_settled is is_settled


def test_a_field_without_a_value_or_a_prediction_breaks_nothing() -> None:
    nothing = {"field_path": "/total", "value": None, "state": "model", "prediction": None}
    found = sample(nothing)
    assert (found.truths[0].text, found.truths[0].bbox) == (None, None)
    assert list(found.on(found.pages[0])) == []


def test_the_class_of_a_cell_has_no_row() -> None:
    (truth,) = sample(field("/line_items/12/amount", "1.00")).truths
    assert truth.name == "line_items.amount"


def test_rows_of_other_pages_leave_no_gap() -> None:
    total, first, second = field("/total", "3.00"), field("/rows/0/sum", "1.00"), field("/rows/1/sum", "2.00")
    for one in (total, second):
        one["prediction"]["page_number"] = 2
    found = sample(total, first, second, n_pages=2)
    assert [values_on(found, page) for page in found.pages] == [
        {"total": None, "rows": [{"sum": "1.00"}]},
        {"total": "3.00", "rows": [{"sum": "2.00"}]},
    ]


def test_words_under_a_covered_box_are_gone() -> None:
    found = sample(words=(word("Jane"), word("TOTAL", y0=0.8)), covered=[BBox(0.45, 0.45, 0.75, 0.6)])
    assert [one.text for one in found.pages[0].words] == ["TOTAL"]


@given(st.tuples(SHARE, SHARE, SHARE, SHARE), st.integers(1, 5000), st.integers(1, 5000))
def test_whole_pixels_hold_the_box_and_lie_on_the_page(
    edges: tuple[float, float, float, float], width: int, height: int
) -> None:
    box = BBox(min(edges[0], edges[2]), min(edges[1], edges[3]), max(edges[0], edges[2]), max(edges[1], edges[3]))
    x0, y0, x1, y1 = whole_pixels(box, width, height)
    assert 0 <= x0 < x1 <= width
    assert 0 <= y0 < y1 <= height
    assert x0 <= box.x0 * width <= width
    assert x1 >= min(box.x1 * width, width) - 1e-6
    assert y1 >= min(box.y1 * height, height) - 1e-6


@given(st.tuples(SHARE, SHARE, SHARE, SHARE))
def test_a_box_comes_back_from_pixels_as_it_was(edges: tuple[float, float, float, float]) -> None:
    box = BBox(min(edges[0], edges[2]), min(edges[1], edges[3]), max(edges[0], edges[2]), max(edges[1], edges[3]))
    page = sample().pages[0]
    x0, y0, x1, y1 = page.pixels(box)
    assert (x0 / page.width, y0 / page.height, x1 / page.width, y1 / page.height) == pytest.approx(tuple(box))


def test_corners_go_clockwise_from_the_top_left() -> None:
    assert quad(sample().pages[0], BBox(0.1, 0.1, 0.5, 0.2)) == [[20, 30], [100, 30], [100, 60], [20, 60]]
