"""A line as read falls apart into words, each with its share of the box."""

import pytest

from inference.types import BBox, PageReading, Word

LINE = BBox(0.1, 0.5, 0.5, 0.6)


def parts(text: str) -> list[tuple[str, float, float]]:
    return [(part.text, round(part.bbox.x0, 6), round(part.bbox.x1, 6)) for part in Word(text, LINE, 0.9).parts()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9.00", [("9.00", 0.1, 0.5)]),
        ("TO 90", [("TO", 0.1, 0.26), ("90", 0.34, 0.5)]),
        (" a  b ", [("a", 0.166667, 0.233333), ("b", 0.366667, 0.433333)]),
        ("总计 90", [("总计", 0.1, 0.328571), ("90", 0.385714, 0.5)]),
        ("a\u3000b", [("a", 0.1, 0.2), ("b", 0.4, 0.5)]),
        ("", []),
        ("   ", []),
    ],
)
def test_parts_take_as_much_room_as_they_have_letters(text: str, expected: list[tuple[str, float, float]]) -> None:
    assert parts(text) == expected


def test_parts_keep_height_score_and_never_leave_the_line() -> None:
    found = Word("TOTAL (RM) 1,234.50 合计", LINE, 0.73).parts()
    assert [part.text for part in found] == ["TOTAL", "(RM)", "1,234.50", "合计"]
    assert {part.score for part in found} == {0.73}
    assert {(part.bbox.y0, part.bbox.y1) for part in found} == {(0.5, 0.6)}
    assert found[0].bbox.x0 == LINE.x0
    assert found[-1].bbox.x1 <= LINE.x1
    edges = [edge for part in found for edge in (part.bbox.x0, part.bbox.x1)]
    assert edges == sorted(edges)


def test_a_reading_survives_json() -> None:
    reading = PageReading(800, 1600, (Word("9.00", LINE, 0.5),), 1.5, {"contrast": 0.3})
    assert PageReading.from_json(reading.as_json()) == reading
