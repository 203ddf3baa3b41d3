"""Accuracy and rates, read from the roll-ups."""

from datetime import date

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from review.models import AccuracyRollup, Population, ThroughputRollup
from tests import factories
from tests.conftest import Cast

ACCURACY = "/api/v1/projects/receipts/accuracy/"


def add_cell(cast: Cast, population: Population = Population.READER, day: date | None = None, n: int = 10) -> None:
    AccuracyRollup.objects.create(
        project=cast.project,
        document_type=cast.document_type,
        engine_version=factories.make_engine_version(),
        field_path="/total",
        population=population,
        bucket="0.95-0.99",
        day=day,
        n=n,
        n_correct=n - 1,
        sum_w=n,
        sum_wy=n - 1,
        sum_w2=n,
        sum_w2y=n - 1,
    )


def test_nothing_examined_is_an_empty_table_and_rates_of_nothing(cast: Cast, as_manager: APIClient) -> None:
    body = as_manager.get(ACCURACY).json()
    assert (body["population"], body["rows"]) == ("reader", [])
    assert (body["rates"]["automation_rate"], body["rates"]["n_documents"]) == (None, 0)
    assert body["rates"]["queue"]["n_open"] == 0


def test_a_field_has_a_total_and_its_buckets_each_with_an_interval(cast: Cast, as_manager: APIClient) -> None:
    add_cell(cast)
    total, bucket = as_manager.get(ACCURACY).json()["rows"]
    assert (total["document_type"], total["field_path"], total["bucket"], total["n"]) == ("receipt", "/total", None, 10)
    assert bucket["bucket"] == "0.95-0.99"
    estimate = total["estimate"]
    assert estimate["point"] == pytest.approx(0.9)
    assert estimate["lower"] < 0.9 < estimate["upper"]
    assert estimate["estimator"] == "hajek"


def test_the_two_questions_are_kept_apart(cast: Cast, as_manager: APIClient) -> None:
    add_cell(cast, Population.UNSEEN, n=4)
    assert as_manager.get(ACCURACY).json()["rows"] == []
    body = as_manager.get(ACCURACY, {"population": "unseen"}).json()
    assert (body["population"], body["rows"][0]["n"]) == ("unseen", 4)


def test_one_type_can_be_asked_for(cast: Cast, as_manager: APIClient) -> None:
    add_cell(cast)
    factories.make_document_type(cast.project, "invoice")
    assert as_manager.get(ACCURACY, {"document_type": "invoice"}).json()["rows"] == []
    assert len(as_manager.get(ACCURACY, {"document_type": "receipt"}).json()["rows"]) == 2


def test_rates_are_shares_of_what_was_routed(cast: Cast, as_manager: APIClient) -> None:
    ThroughputRollup.objects.create(
        project=cast.project,
        document_type=cast.document_type,
        day=timezone.localdate(),
        n_documents=100,
        n_pages=120,
        n_auto=70,
        n_sampled=20,
        n_review=10,
        n_selected=15,
        cpu_seconds=240,
    )
    factories.make_routed(cast.document_type)
    rates = as_manager.get(ACCURACY).json()["rates"]
    assert rates["automation_rate"] == pytest.approx(0.9)
    assert rates["straight_through_rate"] == pytest.approx(0.85)
    assert rates["cpu_seconds_per_page"] == pytest.approx(2)
    assert rates["queue"]["n_open"] == 1


@pytest.mark.parametrize(
    "query", [{"population": "all"}, {"document_type": "nothing"}, {"document_type": "a b"}, {"day": "today"}]
)
def test_a_question_that_cannot_be_is_refused(cast: Cast, as_manager: APIClient, query: dict[str, str]) -> None:
    answer = as_manager.get(ACCURACY, query)
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json()["problems"]] == [f"/{name}" for name in query]


@pytest.mark.parametrize("n_days", [0, 28])
def test_the_page_costs_as_many_queries_however_long_the_history(
    cast: Cast, as_manager: APIClient, n_days: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    add_cell(cast)
    for day in range(n_days):
        add_cell(cast, day=date(2026, 1, 1 + day))
    as_manager.get(ACCURACY)
    with django_assert_num_queries(9):
        assert len(as_manager.get(ACCURACY).json()["rows"]) == 2
