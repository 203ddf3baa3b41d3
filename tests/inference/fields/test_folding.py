import pytest

from inference.fields.folding import FoldedPage, FoldedRun, Passage
from tests.inference.fields.pages import page

COLUMNS = page(("ACME", 100, 100), ("12 High St.", 100, 125), ("Invoice No: 7", 600, 100), ("Date", 600, 125))


def passages(length: int) -> list[str]:
    return [passage.text for passage in FoldedPage(COLUMNS).passages(length)]


def test_each_folded_character_knows_where_it_is_printed() -> None:
    run = page(("Ä1-ｶﾞ 号", 100, 100)).runs[0]
    folded = FoldedRun(run)
    assert len(folded.text) == len(folded.offsets)
    assert folded.offsets == sorted(folded.offsets)
    assert [run.text[at].casefold() for at in folded.offsets[:2]] == list(folded.text[:2]) == ["ä", "1"]
    assert run.text[folded.offsets[-1]] == folded.text[-1] == "号"


def test_text_is_read_down_its_column_and_across_its_row() -> None:
    found = passages(10)
    assert found[0] == "acme12highst"
    assert found[1].startswith("acmeinvoiceno7")


@pytest.mark.parametrize(("length", "longest"), [(1, 2), (100, 4)])
def test_no_more_lines_are_joined_than_a_text_of_that_length_needs(length: int, longest: int) -> None:
    whole = page(("one twenty", 100, 100), ("two", 100, 125), ("three four", 100, 150), ("five", 100, 175))
    first = next(FoldedPage(whole).passages(length))
    assert len(first.back(0, len(first.text))[0]) == longest + (length == 1)


def test_a_part_of_a_passage_is_led_back_to_runs_and_places() -> None:
    upper, lower = (FoldedRun(run) for run in page(("A-1 (B)", 100, 100), ("no. 2/3", 100, 125)).runs)
    passage = Passage([upper, lower])
    assert passage.text == "a1bno23"
    runs, start, end = passage.back(2, 6)
    assert runs == [upper.run, lower.run]
    assert (upper.run.text[start:], lower.run.text[:end]) == ("B)", "no. 2")
    assert passage.back(0, 3) == ([upper.run], 0, len("A-1 (B"))


def test_lines_without_a_letter_or_digit_begin_no_passage() -> None:
    lines = page(("----", 100, 100), ("total", 100, 125))
    assert [passage.text for passage in FoldedPage(lines).passages(5)] == ["total"]
