"""One field's page: which fields there are, in which population, and the marks in words."""

from datetime import date

import pytest
from django.utils.translation import override

from review.selectors.errors import Mark
from review.web.field_view import field_choices, field_page, mark_in_words
from tests.conftest import Cast
from tests.review.labels import Label, add_labels

pytestmark = pytest.mark.django_db


def test_every_field_of_every_type_can_be_chosen(cast: Cast) -> None:
    assert field_choices([cast.document_type]) == [
        ("receipt:/company", "receipt · Company"),
        ("receipt:/date", "receipt · Date"),
        ("receipt:/total", "receipt · Total"),
    ]


def test_a_path_that_the_type_does_not_have_has_no_page(cast: Cast) -> None:
    assert field_page(cast.document_type, "/nothing", "reader") is None


@pytest.mark.parametrize(
    ("asked", "shown"), [("unseen", "unseen"), ("reader", "reader"), ("", "reader"), ("x", "reader")]
)
def test_an_unknown_population_is_everything_that_was_read(cast: Cast, asked: str, shown: str) -> None:
    page = field_page(cast.document_type, "/total", asked)
    assert page is not None
    assert page.population == shown
    assert page.total is None
    assert list(page.points) == []


def test_labels_show_in_the_diagram_before_they_are_rolled_up(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(confidence=0.7)])
    page = field_page(cast.document_type, "/total", "reader")
    assert page is not None
    assert page.reliability_chart["points"][0][:2] == [pytest.approx(0.7), 1.0]
    assert page.trend_chart == {"series": [], "marks": []}


@pytest.mark.parametrize(("kind", "english"), [("policy", "Policy 3"), ("engine", "Reader 3")])
def test_marks_are_said_in_words(kind: str, english: str) -> None:
    mark = Mark(date(2026, 1, 1), kind, "3")
    with override("en"):
        assert mark_in_words(mark) == english
