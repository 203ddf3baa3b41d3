from typing import Any

import pytest

from inference.types import FieldSpec, ValueType
from review.actions._verdicts import FieldVerdict, Settled, reason_text, settle, typed_value
from review.exceptions import InvalidInputError
from review.models import FieldPrediction, Verdict
from review.selectors.review_tasks import TaskField


def field(predicted: str | None, value_type: ValueType = ValueType.TEXT) -> TaskField:
    prediction = FieldPrediction(field_path="/x", value=predicted)
    return TaskField("/x", FieldSpec(path="/x", value_type=value_type), prediction, None, None)


def settled(predicted: str | None, verdict: str, value: object = None) -> tuple[str, str | None]:
    result = settle(field(predicted), FieldVerdict("/x", verdict, value))
    return result.verdict.value, result.value


@pytest.mark.parametrize(
    ("predicted", "verdict", "value", "expected"),
    [
        ("9.00", "confirmed", "9.00", ("confirmed", "9.00")),
        ("9.00", "confirmed", None, ("confirmed", "9.00")),
        (None, "confirmed", None, ("confirmed", None)),
        ("9.00", "corrected", "8.00", ("corrected", "8.00")),
        ("9.00", "corrected", "  8.00\n", ("corrected", "8.00")),
        ("9.00", "corrected", "9.00", ("confirmed", "9.00")),
        (None, "corrected", "8.00", ("missing", "8.00")),
        (None, "missing", "8.00", ("missing", "8.00")),
        ("9.00", "missing", "8.00", ("corrected", "8.00")),
        ("9.00", "missing", "9.00", ("confirmed", "9.00")),
        ("9.00", "spurious", None, ("spurious", None)),
        ("9.00", "spurious", "  ", ("spurious", None)),
        (None, "spurious", None, ("confirmed", None)),
        ("9.00", "illegible", None, ("illegible", None)),
        (None, "illegible", None, ("illegible", None)),
    ],
)
def test_a_verdict_follows_from_what_was_read_and_what_the_page_shows(
    predicted: str | None, verdict: str, value: object, expected: tuple[str, str | None]
) -> None:
    assert settled(predicted, verdict, value) == expected


@pytest.mark.parametrize(
    ("predicted", "verdict", "value"),
    [
        ("9.00", "confirmed", "8.00"),
        (None, "confirmed", "8.00"),
        ("9.00", "corrected", None),
        ("9.00", "corrected", "   "),
        (None, "missing", None),
        ("9.00", "spurious", "8.00"),
        ("9.00", "illegible", "8.00"),
        ("9.00", "perhaps", "8.00"),
        ("9.00", "", "8.00"),
        ("9.00", "CONFIRMED", "9.00"),
    ],
)
def test_a_verdict_that_contradicts_itself_is_refused_at_its_field(
    predicted: str | None, verdict: str, value: object
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        settled(predicted, verdict, value)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/x"]


@pytest.mark.parametrize("value_type", [ValueType.AMOUNT, ValueType.NUMBER])
def test_the_same_amount_written_otherwise_confirms_what_was_read(value_type: ValueType) -> None:
    result = settle(field("9.00", value_type), FieldVerdict("/x", "corrected", 9))
    assert result == Settled(Verdict.CONFIRMED, "9.00")


@pytest.mark.parametrize(
    ("predicted", "value", "value_type"),
    [
        ("9.00", "9.0", ValueType.TEXT),
        ("9.00", "9.0", ValueType.ID),
        ("nine", "9.00", ValueType.AMOUNT),
    ],
)
def test_other_texts_are_other_values(predicted: str, value: str, value_type: ValueType) -> None:
    result = settle(field(predicted, value_type), FieldVerdict("/x", "corrected", value))
    assert result == Settled(Verdict.CORRECTED, value)


def test_a_cell_without_a_prediction_is_one_that_the_reader_missed() -> None:
    empty = TaskField("/x", FieldSpec(path="/x", value_type=ValueType.TEXT), None, None, None)
    assert settle(empty, FieldVerdict("/x", "corrected", "Tea")) == Settled(Verdict.MISSING, "Tea")


@pytest.mark.parametrize(
    ("verdict", "is_correct"),
    [
        (Verdict.CONFIRMED, True),
        (Verdict.CORRECTED, False),
        (Verdict.MISSING, False),
        (Verdict.SPURIOUS, False),
        (Verdict.ILLEGIBLE, None),
    ],
)
def test_only_a_confirmation_says_that_the_reader_was_right(verdict: Verdict, is_correct: bool | None) -> None:
    assert Settled(verdict, None).is_correct is is_correct


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (None, None),
        ("", None),
        (" \n\t", None),
        ("壹万贰仟", "壹万贰仟"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        (0, "0"),
        (-12, "-12"),
        (9.5, "9.5"),
        (1e22, "10000000000000000000000"),
        (1e-7, "0.0000001"),
    ],
)
def test_text_and_numbers_are_kept_as_text(value: object, kept: str | None) -> None:
    assert typed_value(value, "/x") == kept


@pytest.mark.parametrize(
    "value",
    [
        True,
        [],
        {},
        b"9",
        float("nan"),
        float("inf"),
        10**40,
        "x" * 10_001,
        "nul \x00 inside",
        "escape \x1b inside",
        "half a pair \ud800",
    ],
)
def test_what_no_keyboard_types_and_no_database_keeps_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        typed_value(value, "/x")
    assert caught.value.details["problems"][0]["pointer"] == "/x"


def test_a_reason_is_stripped() -> None:
    assert reason_text("  torn in two ") == "torn in two"


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "nul \x00"])
def test_a_reason_is_needed_and_short(reason: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        reason_text(reason)
    assert caught.value.details["problems"][0]["pointer"] == "/reason"


@pytest.mark.parametrize(
    ("value_type", "typed", "kept"),
    [
        (ValueType.DATE, "25/12/2018", "2018-12-25"),
        (ValueType.DATE, "25 Dec 2018", "2018-12-25"),
        (ValueType.AMOUNT, "RM 1,234.5", "1234.50"),
        (ValueType.NUMBER, "1,000", "1000"),
        (ValueType.NAME, "Book Ta .K", "Book Ta .K"),
        (ValueType.ADDRESS, "12,  Jalan 3", "12,  Jalan 3"),
        (ValueType.ID, "???", "???"),
    ],
)
def test_what_is_typed_is_kept_in_the_form_in_which_readers_give_it(
    value_type: ValueType, typed: str, kept: str
) -> None:
    spec = FieldSpec(path="/x", value_type=value_type, locale="en-MY")
    settled_ = settle(TaskField("/x", spec, None, None, None), FieldVerdict("/x", "corrected", typed))
    assert settled_ == Settled(Verdict.MISSING, kept)


def test_the_same_date_in_another_spelling_is_no_correction() -> None:
    answer = FieldVerdict("/x", "corrected", "25/12/2018")
    prediction = FieldPrediction(field_path="/x", value="2018-12-25")
    spec = FieldSpec(path="/x", value_type=ValueType.DATE, locale="en-MY")
    assert settle(TaskField("/x", spec, prediction, None, None), answer) == Settled(Verdict.CONFIRMED, "2018-12-25")


@pytest.mark.parametrize(
    ("typed", "locale", "said"),
    [
        ("03/04/2018", "en", "Day and month could be the other way round."),
        ("03/04/2018", "zh-CN", "Day and month could be the other way round."),
        ("29/11/69", "th-TH", "The year could be of another calendar."),
    ],
)
def test_what_a_person_meant_is_asked_and_not_guessed(typed: str, locale: str, said: str) -> None:
    spec = FieldSpec(path="/x", value_type=ValueType.DATE, locale=locale)
    with pytest.raises(InvalidInputError) as caught:
        settle(TaskField("/x", spec, None, None, None), FieldVerdict("/x", "missing", typed))
    assert str(caught.value.details["problems"][0]["message"]).startswith(said)
    clear = settle(TaskField("/x", spec, None, None, None), FieldVerdict("/x", "missing", "2018-04-03"))
    assert clear == Settled(Verdict.MISSING, "2018-04-03")


@pytest.mark.parametrize("value_type", [ValueType.DATE, ValueType.AMOUNT, ValueType.NUMBER])
def test_a_typed_value_that_its_type_cannot_hold_is_refused_with_an_example(value_type: ValueType) -> None:
    with pytest.raises(InvalidInputError) as caught:
        settle(field(None, value_type), FieldVerdict("/x", "missing", "soon"))
    problem = caught.value.details["problems"][0]
    assert problem["pointer"] == "/x"
    assert "such as" in str(problem["message"])
