import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.answers.parse import Understood, understand
from inference.errors import AnswerError
from inference.types import RawAnswer
from tests.inference.answers.types_read import bill, leaf

WHOLE = {"seller": "ACME", "total": "12.50", "items": [{"text": "tea", "amount": "12.50"}]}


def read(
    text: str, *, finish_reason: str = "stop", may_be_empty: bool = False, printed: str = "", **more: Any
) -> Understood:
    return understand(RawAnswer(text, finish_reason), bill(**more), may_be_empty=may_be_empty, printed=printed)


def refusal(text: str, **options: Any) -> AnswerError:
    with pytest.raises(AnswerError) as caught:
        read(text, **options)
    return caught.value


def test_a_clean_answer_is_read_as_it_stands_and_not_marked() -> None:
    assert read(json.dumps(WHOLE)) == Understood(values=WHOLE)


def test_a_number_stays_the_text_that_was_written() -> None:
    assert read('{"total": 12.50, "pages": 2}').values == {"total": "12.50", "pages": "2"}


def test_white_space_alone_is_no_value() -> None:
    assert read('{"total": " ", "seller": "A"}').values == {"total": None, "seller": "A"}


def test_a_mended_answer_is_marked_with_what_was_mended() -> None:
    understood = read("```json\n" + json.dumps(WHOLE) + "\n```")
    assert understood == Understood(values=WHOLE, is_repaired=True, repairs=("unfenced",))


def test_an_answer_cut_short_is_a_failure_of_its_own_even_where_it_could_be_mended() -> None:
    error = refusal(json.dumps(WHOLE), finish_reason="length")
    assert error.code == "answer_cut_short"


def test_a_loop_is_told_from_a_long_answer() -> None:
    error = refusal('{"total": "' + "0" * 500, finish_reason="length")
    assert error.code == "answer_repeats"


def test_a_receipt_with_eleven_equal_rows_is_read_where_the_page_has_them() -> None:
    answer = {**WHOLE, "items": [{"text": "KOPI O AIS", "amount": "2.20"}] * 11}
    assert read(json.dumps(answer), printed="KOPI O AIS 2.20 " * 11).values == answer
    assert read(json.dumps(answer)).values == answer
    assert refusal(json.dumps(answer), printed="KOPI O AIS 2.20").code == "answer_repeats"
    assert refusal(json.dumps(answer), printed="KOPI O AIS " * 11, finish_reason="length").code == "answer_repeats"


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_text_is_a_failure_even_where_the_page_may_be_empty(text: str) -> None:
    assert refusal(text, may_be_empty=True).code == "answer_empty"


@pytest.mark.parametrize("text", ["{}", '{"total": null}', '{"items": []}', '{"items": [{"text": null}]}'])
def test_an_answer_without_a_value_is_a_failure_where_the_page_has_text(text: str) -> None:
    assert refusal(text).code == "answer_empty"
    assert read(text, may_be_empty=True).problems == ()


def test_a_key_that_stands_twice_is_refused() -> None:
    error = refusal('{"total": "1", "total": "2"}')
    assert error.code == "answer_unreadable"
    assert error.problems == [("", "has the same key twice in one object")]


def test_a_refusal_keeps_the_raw_answer_and_tells_nothing_of_it() -> None:
    error = refusal("My secret is 42")
    assert error.code == "answer_unreadable"
    assert [attempt.text for attempt in error.attempts] == ["My secret is 42"]
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('["ACME"]', ""),
        ('{"total": {"value": "1"}}', "/total"),
        ('{"total": true}', "/total"),
        ('{"items": "tea"}', "/items"),
        ('{"items": {"text": "tea"}}', "/items"),
        ('{"items": ["tea"]}', "/items/0"),
        ('{"buyer": "ACME"}', "/buyer"),
    ],
)
def test_a_place_of_the_wrong_kind_is_named(text: str, pointer: str) -> None:
    error = refusal(text)
    assert error.code == "answer_invalid"
    assert [path for path, _ in error.problems] == [pointer]


def test_a_value_that_breaks_the_schema_is_a_problem_and_stays() -> None:
    understood = read('{"code": "x1"}', code=leaf(pattern="^[0-9]+$"))
    assert understood.values == {"code": "x1"}
    assert [(problem.field_path, problem.code) for problem in understood.problems] == [("/code", "pattern")]


def test_a_text_in_the_place_of_a_number_is_a_problem() -> None:
    assert [problem.field_path for problem in read('{"pages": "two"}').problems] == ["/pages"]


@pytest.mark.parametrize(
    "text",
    [
        r'{"seller": "AC\u0000ME"}',
        r'{"seller": "AC\ud83dME"}',
        r'{"items": [{"text": "\u001b[31mtea"}]}',
        '{"seller": "AC\x01ME"}',
        '{"seller": "AC\ud800ME"}',
        '```\n{"seller": "AC\x02ME"}\n```',
        r'{"sell\u0000er": "ACME"}',
    ],
)
def test_what_cannot_be_kept_as_text_is_refused_however_it_was_written(text: str) -> None:
    error = refusal(text)
    assert error.code == "answer_unreadable"
    assert str(error).isprintable()


def test_a_pair_of_surrogates_is_one_character_and_lines_stay() -> None:
    assert read(r'{"seller": "A\ud83d\ude00\n\tB"}').values == {"seller": "A😀\n\tB"}


@given(st.text(st.characters(codec=None), max_size=20))
def test_whatever_is_read_can_be_kept(text: str) -> None:
    for written in (json.dumps({"seller": text}), json.dumps({"seller": text}, ensure_ascii=False)):
        try:
            kept = read(written, may_be_empty=True).values["seller"] or ""
        except AnswerError:
            continue
        assert kept.encode().decode() == kept
        assert not set(kept) & (set(map(chr, range(0x20))) - {"\t", "\n"})


def test_names_that_nobody_asked_for_are_dropped_marked_and_a_problem() -> None:
    whole = dict.fromkeys(bill()["properties"]) | {"total": "1", "colour": "red"}
    understood = read(json.dumps(whole))
    assert understood.values["total"] == "1"
    assert "colour" not in understood.values
    assert understood.repairs == ("unknown_names_dropped",)
    assert [(problem.field_path, problem.code) for problem in understood.problems] == [
        ("/colour", "additionalProperties")
    ]


def test_a_name_that_nobody_asked_for_in_the_place_of_one_that_was_is_refused() -> None:
    error = refusal('{"totals": "1"}')
    assert error.code == "answer_invalid"
    assert error.problems == [("/totals", "is not asked for")]


@pytest.mark.parametrize("around", ["[%s]", '{"bill": %s}', '{"answer": [%s]}'])
def test_an_answer_inside_something_else_is_taken_out_and_marked(around: str) -> None:
    assert read(around % json.dumps(WHOLE)) == Understood(WHOLE, is_repaired=True, repairs=("unwrapped",))


def test_two_answers_in_an_array_are_refused() -> None:
    assert refusal(json.dumps([WHOLE, WHOLE])).code == "answer_invalid"


def test_what_one_page_lacks_is_no_problem() -> None:
    schema = bill() | {"required": ["seller", "total"]}
    assert understand(RawAnswer('{"total": "1"}', "stop"), schema, may_be_empty=False).problems == ()


def test_rows_that_were_written_as_a_table_are_read_and_marked() -> None:
    understood = read(json.dumps({"items": "| Text | Amount |\n|---|---|\n| tea | 1.00 |"}))
    assert understood.values == {"items": [{"text": "tea", "amount": "1.00"}]}
    assert understood.repairs == ("table_read",)
