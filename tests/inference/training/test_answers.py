import pytest

from inference.answers.parse import understand
from inference.training.answers import NotTeachableError, training_answer, understood_strictly
from inference.types import RawAnswer
from tests.inference.serving.asking import SCHEMA, VALUES


def schema_of(**properties: dict[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def test_an_answer_is_compact_and_in_the_order_of_the_schema() -> None:
    shuffled = {name: VALUES[name] for name in reversed(VALUES)}
    assert training_answer(shuffled, SCHEMA) == (
        '{"company":"ACME SDN BHD","total":"12.50",'
        '"items":[{"text":"Tea","amount":"4.50"},{"text":"Rice","amount":"8.00"}]}'
    )


def test_what_is_not_printed_is_null_and_there_are_no_rows() -> None:
    assert training_answer({"total": "1.00"}, SCHEMA) == '{"company":null,"total":"1.00","items":[]}'


def test_a_row_has_all_its_columns() -> None:
    assert training_answer({"items": [{"text": "Tea"}]}, SCHEMA).endswith('"items":[{"text":"Tea","amount":null}]}')


def test_an_answer_is_understood_without_repairs_and_gives_the_values_back() -> None:
    read = understand(RawAnswer(training_answer(VALUES, SCHEMA), "stop"), SCHEMA, may_be_empty=False)
    assert (read.values, read.is_repaired, read.problems) == (VALUES, False, ())


def test_characters_stay_as_they_are() -> None:
    said = training_answer({"company": '茶 "屋"\té\\'}, SCHEMA)
    assert '"茶 \\"屋\\"\\té\\\\"' in said


def test_a_number_stays_as_it_is_printed() -> None:
    schema = schema_of(total={"type": ["number", "null"]})
    assert training_answer({"total": "12.50"}, schema) == '{"total":12.50}'


@pytest.mark.parametrize("printed", ["1,234.50", "12.", "０", "RM 3", "NaN", "1e", "007"])
def test_what_is_no_number_as_printed_teaches_no_number(printed: str) -> None:
    with pytest.raises(NotTeachableError, match="number_not_as_printed"):
        training_answer({"total": printed}, schema_of(total={"type": "number"}))


def test_a_value_that_the_schema_forbids_is_not_taught() -> None:
    with pytest.raises(NotTeachableError, match="answer_breaks_the_schema"):
        training_answer({"kind": "c"}, schema_of(kind={"type": "string", "enum": ["a", "b"]}))


def test_a_value_that_is_no_text_is_not_taught() -> None:
    with pytest.raises(NotTeachableError, match="answer_unreadable"):
        training_answer({"company": "a\x00b"}, SCHEMA)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('```json\n{"total":"1"}\n```', "answer_needs_repairs"),
        ("no JSON at all", "answer_unreadable"),
        ('{"total":"1","total":"2"}', "answer_unreadable"),
        ("", "answer_empty"),
    ],
)
def test_an_answer_that_would_have_to_be_mended_is_none_to_learn_from(text: str, why: str) -> None:
    with pytest.raises(NotTeachableError, match=why):
        understood_strictly(text, SCHEMA)
