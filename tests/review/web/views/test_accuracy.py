"""The accuracy page: the answer first, in a sentence with its interval."""

from datetime import date

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from review.models import ThroughputRollup
from review.selectors.accuracy import today
from tests import factories
from tests.conftest import Cast
from tests.review.web.rollups import roll_up

pytestmark = pytest.mark.django_db


def page(client: Client, cast: Cast) -> str:
    return client.get(reverse("accuracy", args=[cast.project.slug])).content.decode()


def test_without_a_label_it_says_how_to_get_one(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "Nobody has checked a value yet" in html
    assert "<table" not in html


def test_the_first_line_is_the_answer_with_its_interval(manager: Client, cast: Cast) -> None:
    for population in ("unseen", "reader"):
        roll_up(cast.document_type, "/total", 612, 607, population)
    html = page(manager, cast)
    assert "<strong>99.2 %</strong>" in html
    assert "(98.1–99.7, 612 checked)" in html
    assert html.index('class="answer"') < html.index("<dl") < html.index("<table")


def test_the_two_questions_stand_apart(manager: Client, cast: Cast) -> None:
    roll_up(cast.document_type, "/total", 100, 80, "reader")
    html = page(manager, cast)
    assert "Nothing that was stored unseen has been checked yet" in html
    assert "not known: nothing checked yet" in html
    assert "80.0 %" in html


def test_all_right_is_never_rounded_up_from_less(manager: Client, cast: Cast) -> None:
    for population in ("unseen", "reader"):
        roll_up(cast.document_type, "/total", 100_000, 99_990, population)
    html = page(manager, cast)
    assert "99.9 %" in html
    assert "100.0 %" not in html


def test_rates_and_the_queue_are_shown(manager: Client, cast: Cast) -> None:
    add_day(cast, today(), n_documents=200, n_pages=240, n_auto=150, n_sampled=34, n_review=16, n_selected=20)
    factories.make_routed(cast.document_type)
    html = page(manager, cast)
    assert "92.0 %" in html
    assert "90.0 %" in html
    assert "oldest" in html


def test_nothing_routed_shows_dashes_not_zeros(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "<dd>–</dd>" in html
    assert "0.0 %" not in html


def test_another_projects_labels_are_not_counted(manager: Client, cast: Cast) -> None:
    roll_up(cast.other_document_type, "/total", 100, 80, "reader")
    assert "Nobody has checked a value yet" in page(manager, cast)


def test_the_page_costs_the_same_number_of_queries_for_more_fields(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    roll_up(cast.document_type, "/total", 10, 9, "reader")
    page(manager, cast)
    with django_assert_num_queries(13) as few:
        page(manager, cast)
    for path in ("/company", "/date"):
        for population in ("unseen", "reader"):
            roll_up(cast.document_type, path, 10, 9, population)
    with django_assert_num_queries(len(few)):
        page(manager, cast)


def add_day(cast: Cast, day: date, **counts: int) -> None:
    ThroughputRollup.objects.create(project=cast.project, document_type=cast.document_type, day=day, **counts)
