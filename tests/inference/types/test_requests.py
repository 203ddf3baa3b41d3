"""What makes two readings the same reading: everything that may change one, and nothing else."""

from typing import Any

import pytest

from inference.types import BBox, Example, PageRequest, Word, page_digest, request_digest
from inference.types import requests as requests_module
from tests.inference.serving.asking import SCHEMA, VALUES, a_page, a_request


def example(content_hash: str = "e" * 64, values: Any = VALUES) -> Example:
    return Example(a_page(), values, content_hash)


def asked(**changes: Any) -> PageRequest:
    return a_request(**{"words_version": "w" * 64, "examples": (example(),), **changes})


def test_the_same_question_about_the_same_words_is_the_same_request() -> None:
    assert asked().digest == asked().digest
    assert len(asked().digest) == 64


def test_words_that_were_found_on_a_page_follow_from_the_page_and_who_reads_it() -> None:
    assert asked(words=(Word("other", BBox(0, 0, 1, 1), 0.5),)).digest == asked().digest


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": {**SCHEMA, "title": "other"}},
        {"examples": ()},
        {"examples": (example("f" * 64),)},
        {"examples": (example(values={**VALUES, "total": "13.50"}),)},
        {"examples": (example(), example("f" * 64))},
        {"words_version": "v" * 64},
        {"words_version": ""},
    ],
)
def test_whatever_may_change_a_reading_makes_another_request(changes: dict[str, Any]) -> None:
    assert asked(**changes).digest != asked().digest


def test_other_code_that_makes_questions_makes_another_request(monkeypatch: pytest.MonkeyPatch) -> None:
    before = asked().digest
    monkeypatch.setattr(requests_module, "QUESTION_VERSION", requests_module.QUESTION_VERSION + 1)
    assert asked().digest != before


def test_the_digest_needs_no_rasters() -> None:
    assert request_digest(SCHEMA, [("e" * 64, VALUES)], "w" * 64) == asked().digest


def test_later_pages_are_kept_apart_from_the_first_and_together() -> None:
    """An answer without any value is a failure on the first page, and a reading on the others."""
    digest = asked().digest
    assert page_digest(digest, 1) == digest
    assert page_digest(digest, 2) == page_digest(digest, 3) != digest
    assert len(page_digest(digest, 2)) == 64


@pytest.mark.parametrize("page_number", [1, 2])
def test_an_ocr_reader_is_asked_nothing_on_any_page(page_number: int) -> None:
    assert page_digest("", page_number) == ""
