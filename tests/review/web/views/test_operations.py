"""The operations page: how much is done alone, and what it costs with the project's own prices."""

import csv
import io

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from review.models import CostModel
from tests.conftest import Cast
from tests.review.operations_room import add_day, age_project, spend

pytestmark = pytest.mark.django_db

PRICES = {
    "currency": "MYR",
    "cpu_hour": "0.1",
    "gpu_hour": "0",
    "storage_gb_month": "0.02",
    "storage_months": "12",
    "person_hour": "36",
    "operations_month": "0",
}


def address(cast: Cast, query: str = "") -> str:
    return reverse("operations", args=[cast.project.slug]) + query


def page(client: Client, cast: Cast) -> str:
    return client.get(address(cast)).content.decode()


def table(client: Client, cast: Cast, what: str) -> list[list[str]]:
    text = client.get(address(cast, f"?format={what}")).content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text)))


def test_nothing_read_says_so_and_shows_no_chart(manager: Client, cast: Cast) -> None:
    html = page(manager, cast)
    assert "Nothing was read in the last 30 days" in html
    assert "data-chart" not in html
    assert html.count("not measured") == 3


def test_the_first_line_is_how_much_was_done_alone(manager: Client, cast: Cast) -> None:
    add_day(cast)
    html = page(manager, cast)
    assert "<strong>80.0 %</strong> of the 10 documents of the last 30 days were finished without a person." in html
    assert "cannot be said yet" in html
    assert html.index('class="answer"') < html.index("data-chart") < html.index("<table")


def test_what_1000_pages_cost_stands_in_the_first_line(manager: Client, cast: Cast) -> None:
    age_project(cast, 40)
    add_day(cast)
    spend(cast, 40.0)
    manager.post(address(cast), PRICES)
    html = page(manager, cast)
    assert "1,000 pages cost about <strong>MYR 20.10</strong>." in html
    assert "3.6 CPU seconds a page" in html
    assert "2.0 seconds of a person’s work a page" in html


def test_prices_are_placeholders_until_they_are_ones_own(manager: Client, cast: Cast) -> None:
    assert "The prices are placeholders" in page(manager, cast)
    html = manager.post(address(cast), PRICES, follow=True).content.decode()
    assert "The prices are kept." in html
    assert "The prices are placeholders" not in html
    assert 'name="person_hour" value="36"' in html
    assert CostModel.objects.get().currency == "MYR"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"currency": "ringgit"}, "Currency: give three capital letters"),
        ({"cpu_hour": "-1"}, "CPU core hour: give a number from 0"),
        ({"person_hour": "much"}, "hour of a reviewer: give a number from 0"),
        ({"person_hour": ""}, "hour of a reviewer: give a number from 0"),
        ({"gpu_hour": "inf"}, "GPU hour: give a number from 0"),
    ],
)
def test_a_wrong_price_is_said_in_words_and_nothing_is_kept(
    manager: Client, cast: Cast, changes: dict[str, str], message: str
) -> None:
    response = manager.post(address(cast), PRICES | changes)
    assert response.status_code == 400
    html = response.content.decode()
    assert message in html
    assert 'name="storage_months" value="12"' in html
    assert not CostModel.objects.exists()


def test_days_and_costs_come_as_files(manager: Client, cast: Cast) -> None:
    add_day(cast, n_selected=0)
    header, row = table(manager, cast, "days")
    assert header[:3] == ["day", "n_documents", "n_pages"]
    assert row[1:3] == ["10", "20"]
    rows = table(manager, cast, "costs")
    assert [one[0] for one in rows] == ["part", "cpu", "gpu", "storage", "people", "operations", "total"]
    assert float(rows[1][1]) == pytest.approx(0.04)
    assert rows[1][2] == "EUR"


def test_a_cost_that_is_not_known_is_empty_in_the_file(manager: Client, cast: Cast) -> None:
    add_day(cast)
    assert table(manager, cast, "costs")[-1] == ["total", "", "EUR"]


def test_the_page_is_chinese_for_whoever_reads_chinese(manager: Client, cast: Cast, chinese: None) -> None:
    add_day(cast)
    manager.cookies["django_language"] = "zh-hans"
    assert "无需人工即已完成" in page(manager, cast)


def test_the_page_costs_the_same_queries_for_more_days(
    manager: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    add_day(cast)
    spend(cast, 5.0)
    page(manager, cast)
    with CaptureQueriesContext(connection) as few:
        page(manager, cast)
    n_queries = len(few)
    for age in (1, 2, 3):
        add_day(cast, age)
        spend(cast, 5.0)
    with django_assert_num_queries(n_queries):
        page(manager, cast)
    assert n_queries == 11
