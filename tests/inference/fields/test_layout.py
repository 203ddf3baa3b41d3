import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.layout import PageLayout
from inference.types import BBox, PageReading, Word
from tests.inference.fields.pages import page, reading, texts, word


def test_words_on_one_height_are_a_row_from_left_to_right() -> None:
    layout = page(("right", 600, 100), ("left", 100, 104), ("below", 100, 140))
    assert texts(layout) == [["left", "right"], ["below"]]


def test_a_narrow_gap_joins_words_and_a_wide_one_parts_them() -> None:
    layout = page(("Acme", 100, 100), ("Ltd", 150, 100), ("12.00", 400, 100))
    assert texts(layout) == [["Acme Ltd", "12.00"]]


def test_a_slanted_row_stays_together_where_each_word_is_level_with_its_neighbour() -> None:
    layout = page(("a", 0, 100), ("b", 250, 109), ("c", 500, 118), ("d", 750, 127))
    assert texts(layout) == [["a", "b", "c", "d"]]


def test_lines_close_together_stay_apart() -> None:
    layout = page(("first line", 100, 100), ("second line", 100, 114))
    assert texts(layout) == [["first line"], ["second line"]]


def test_words_over_each_other_are_no_row() -> None:
    layout = page(("stamped", 100, 100), ("over", 110, 105))
    assert sorted(len(row) for row in layout.rows) == [1, 1]


def test_words_of_white_space_disappear() -> None:
    assert page(("  ", 100, 100), ("a", 300, 100)).runs[0].text == "a"


def test_an_empty_page_has_a_layout() -> None:
    layout = page()
    assert layout.rows == ()
    assert layout.content == BBox(0.0, 0.0, 1.0, 1.0)


def test_rows_and_columns_are_numbered() -> None:
    layout = page(("a", 100, 100), ("b", 500, 100), ("c", 100, 200))
    assert [(run.row, run.column) for run in layout.runs] == [(0, 0), (0, 1), (1, 0)]


def test_run_text_is_cleaned_and_its_offsets_fit() -> None:
    (run,) = page(("ＡＢ", 100, 100), ("CD", 125, 100)).runs
    assert run.text == "AB CD"
    assert [run.text[start:] for start in run.starts] == ["AB CD", "CD"]


def test_a_part_of_a_word_gets_its_share_of_the_box() -> None:
    (run,) = page(("Date: 12", 100, 100)).runs
    box = run.box_of(6, 8)
    assert box.x0 == pytest.approx(0.160)
    assert box.x1 == pytest.approx(0.180)
    assert (box.y0, box.y1) == (0.1, 0.12)


def test_a_part_over_two_words_spans_both() -> None:
    (run,) = page(("ab", 100, 100), ("cd", 130, 100)).runs
    box = run.box_of(1, 4)
    assert [box.x0, box.x1] == pytest.approx([0.11, 0.14])
    assert run.box_of(0, 5) == run.bbox


def test_scores_belong_to_the_words_that_are_touched() -> None:
    (run,) = page(word("good", 100, 100, score=0.9), word("bad", 145, 100, score=0.4)).runs
    assert run.ocr_score == 0.4
    assert run.score_of(0, 4) == 0.9
    assert run.score_of(5, 8) == 0.4
    assert run.score_of(0, 8) == 0.4


def test_gap_is_measured_in_text_heights_whatever_the_page_shape() -> None:
    words = (Word("a", BBox(0.1, 0.1, 0.2, 0.12), 1.0), Word("b", BBox(0.3, 0.1, 0.4, 0.12), 1.0))
    square = PageLayout(PageReading(1000, 1000, words, 0.0), 1)
    tall = PageLayout(PageReading(500, 1000, words, 0.0), 1)
    assert square.gap(words[0].bbox, words[1].bbox) == pytest.approx(5.0)
    assert tall.gap(words[0].bbox, words[1].bbox) == pytest.approx(2.5)


def test_places_are_shares_of_the_printed_area() -> None:
    layout = page(("x", 200, 200), ("y", 790, 780))
    inner = layout.within_content(BBox(0.5, 0.5, 0.8, 0.8))
    assert inner == pytest.approx((0.5, 0.5, 1.0, 1.0))


def test_the_run_above_is_the_nearest_that_shares_columns() -> None:
    layout = page(("Invoice Number", 100, 100), ("Date", 500, 100), ("A10493", 100, 130), ("17/03/2023", 500, 130))
    above = {run.text: (over.text if (over := layout.above(run)) else None) for run in layout.runs}
    assert above == {"Invoice Number": None, "Date": None, "A10493": "Invoice Number", "17/03/2023": "Date"}


def test_the_next_line_is_near_and_in_the_same_columns() -> None:
    layout = page(("first", 100, 100), ("second", 100, 125), ("far away", 100, 200), ("aside", 500, 125))
    by_text = {run.text: run for run in layout.runs}
    assert layout.next_line(by_text["first"]) is by_text["second"]
    assert layout.next_line(by_text["second"]) is None
    assert layout.next_line(by_text["aside"]) is None


def test_content_holds_every_word() -> None:
    layout = page(("a", 50, 60), ("bb", 300, 900))
    assert layout.content == BBox(0.05, 0.06, 0.32, 0.92)


BOXES = st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)).map(
    lambda t: BBox(min(t[0], t[2]), min(t[1], t[3]), max(t[0], t[2]), max(t[1], t[3]))
)
WORDS = st.lists(st.builds(Word, st.text(min_size=1, max_size=8), BOXES, st.floats(0, 1)), max_size=12)


@given(WORDS)
def test_every_word_with_text_is_in_exactly_one_run(words: list[Word]) -> None:
    layout = PageLayout(PageReading(600, 900, tuple(words), 0.0), 1)
    kept = [item for run in layout.runs for item in run.words]
    assert len(kept) == len(set(map(id, kept)))
    assert len(kept) == sum(len(run.starts) for run in layout.runs)
    assert all(run.text.strip() for run in layout.runs)


@given(WORDS, st.integers(0, 10), st.integers(0, 10))
def test_any_part_of_any_run_has_a_box_within_it(words: list[Word], start: int, end: int) -> None:
    layout = PageLayout(PageReading(600, 900, tuple(words), 0.0), 1)
    for run in layout.runs:
        box = run.box_of(min(start, end), max(start, end))
        assert run.bbox.x0 - 1e-9 <= box.x0 <= box.x1 <= run.bbox.x1 + 1e-9
        assert 0.0 <= run.score_of(min(start, end), max(start, end)) <= 1.0


@given(WORDS)
def test_above_is_never_in_the_same_row_or_below(words: list[Word]) -> None:
    layout = PageLayout(reading(*words), 1)
    for run in layout.runs:
        over = layout.above(run)
        assert over is None or over.row < run.row
