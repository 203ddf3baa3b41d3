"""The words to pick from are those of the newest reading of the page."""

from review.models import PageReadState
from review.selectors.page_words import page_words
from tests import factories
from tests.conftest import Cast
from tests.review.page_reads import read_as


def test_lines_come_apart_in_reading_order(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    made = read_as(page, "TOTAL RM", "9.00")
    found = page_words(page)
    assert [word.text for word in found.words] == ["TOTAL", "RM", "9.00"]
    assert found.reading_id == made.reading_id
    assert found.words[2].bbox == (0.1, 0.1, 0.5, 0.15000000000000002)


def test_the_newest_reading_counts(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    read_as(page, "old")
    read_as(page, "new", name="other")
    assert [word.text for word in page_words(page).words] == ["new"]


def test_while_a_page_is_read_again_the_earlier_words_stay(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    read_as(page, "old")
    for name, state in (("second", PageReadState.PENDING), ("third", PageReadState.FAILED)):
        read_as(page, "never", name=name, state=state)
    assert [word.text for word in page_words(page).words] == ["old"]


def test_a_page_that_nothing_has_read_has_no_words(cast: Cast) -> None:
    page = factories.make_routed(cast.document_type).pages.get()
    found = page_words(page)
    assert (found.reading_id, found.words) == (None, ())


def test_another_page_keeps_its_words_to_itself(cast: Cast) -> None:
    page, other = (factories.make_routed(cast.document_type).pages.get() for _ in range(2))
    read_as(other, "theirs")
    assert page_words(page).words == ()
