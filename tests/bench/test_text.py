"""Lines of print are held against what was read where they stand."""

import json
from pathlib import Path

import pytest

from inference.types import BBox, PageReading, Word
from tests.bench.text import Line, Score, lines_of, printed_lines, stored_reading

TOTAL = Line("TOTAL 12.50", 0, 0, 110, 10)


def score(printed: list[Line], read: list[Line]) -> Score:
    made = Score()
    made.add(printed, read)
    return made


@pytest.mark.parametrize("text", ["TOTAL 12.50", "Total: 12.50", "TOTAL12.50"])
def test_case_white_space_and_punctuation_do_not_count(text: str) -> None:
    made = score([TOTAL], [TOTAL._replace(text=text)])
    assert (made.found_share, made.cer) == (1, 0)


def test_a_wrong_letter_is_a_line_not_found_and_one_letter_of_all() -> None:
    made = score([TOTAL], [TOTAL._replace(text="TOTAL 12.58")])
    assert (made.n_found, made.n_wrong, made.n_letters) == (0, 1, 9)


def test_a_line_that_was_read_elsewhere_was_not_read_here() -> None:
    made = score([TOTAL], [TOTAL._replace(y0=50, y1=60)])
    assert (made.found_share, made.cer) == (0, 1)


def test_a_line_read_in_two_parts_is_joined_from_left_to_right() -> None:
    parts = [Line("12.50", 60, 0, 110, 10), Line("TOTAL", 0, 0, 50, 10)]
    assert score([TOTAL], parts).found_share == 1


def test_two_lines_read_as_one_are_both_found() -> None:
    left, right = Line("TOTAL", 0, 0, 50, 10), Line("12.50", 60, 0, 110, 10)
    assert score([left, right], [TOTAL]).n_found == 2


def test_a_line_without_letters_or_digits_is_none() -> None:
    assert score([TOTAL._replace(text="----")], []).n_lines == 0


def test_no_more_letters_are_wrong_than_were_printed() -> None:
    assert score([TOTAL], [TOTAL._replace(text="x" * 99)]).cer == 1


def test_boxes_and_texts_come_out_of_files_and_readings(tmp_path: Path) -> None:
    boxes, reading = tmp_path / "a.csv", tmp_path / "a.json"
    boxes.write_text("10,20,60,22,60,30,10,28,67,JLN MEWAH,\n", encoding="utf-8")
    assert list(printed_lines(boxes)) == [Line("67,JLN MEWAH,", 10, 20, 60, 30)]
    line = {"box": [[10, 20], [50, 20], [50, 40], [10, 40]], "text": "A", "score": 1}
    reading.write_text(json.dumps({"size": [100, 200], "lines": [line]}))
    page = stored_reading(reading, {"contrast": 1.0})
    assert page == PageReading(100, 200, (Word("A", BBox(0.1, 0.1, 0.5, 0.2), 1),), 0.0, {"contrast": 1.0})
    assert list(lines_of(page)) == [Line("A", 10, 20, 50, 40)]


def test_fields_found_are_held_against_what_is_printed() -> None:
    words = [("TOTAL", 0.1, 0.3), ("12.50", 0.6, 0.3), ("DATE", 0.1, 0.2), ("25/12/2018", 0.6, 0.2)]
    page = PageReading(600, 900, tuple(Word(text, BBox(x, y, x + 0.2, y + 0.03), 0.99) for text, x, y in words), 0.0)
    made = Score()
    made.add_fields({"total": "RM 12.50", "date": "2018-12-24", "company": ""}, page)
    assert (made.n_fields, made.n_right) == (2, 1)
