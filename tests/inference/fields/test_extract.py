from inference.document_types import shipped_document_type
from inference.fields.answered import read_fields
from inference.fields.extract import extract
from inference.fields.locate import locate
from tests.inference.fields.answers import answered
from tests.inference.fields.pages import reading

RECEIPT = shipped_document_type("receipt")
LINES = (("ACME TRADING", 100, 100), ("TOTAL", 100, 300), ("14.10", 400, 300))


def test_pages_without_answers_are_read_from_their_words() -> None:
    pages = [reading(*LINES), reading()]
    assert extract(pages, RECEIPT) == locate(pages, RECEIPT)


def test_one_answer_among_the_pages_is_enough_to_go_by_answers() -> None:
    pages = [reading(*LINES), answered({"total": "14.10"}, *LINES)]
    found = extract(pages, RECEIPT)
    assert found == read_fields(pages, RECEIPT)
    assert {one.field_path: one.value for one in found} == {
        "/company": None,
        "/date": None,
        "/address": None,
        "/total": "14.10",
    }


def test_a_document_without_pages_has_no_values() -> None:
    assert {one.value for one in extract([], RECEIPT)} == {None}
