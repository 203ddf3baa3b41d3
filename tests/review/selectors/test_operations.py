"""Rates and costs from roll-ups: what is measured, what is not, and what it makes of the prices."""

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.exceptions import InvalidInputError
from review.models import CostModel, Document, Page, ReviewTask, ThroughputRollup
from review.selectors.accuracy import today
from review.selectors.operations import checked_prices, operations
from tests import factories
from tests.conftest import Cast
from tests.review.operations_room import add_day, age_project, spend

pytestmark = pytest.mark.django_db


def test_nothing_routed_has_no_rates_and_no_costs(cast: Cast) -> None:
    shown = operations(cast.project)
    assert (shown.automation_rate, shown.straight_through_rate, shown.n_documents) == (None, None, 0)
    assert shown.costs.total is None
    assert not shown.has_own_prices


def test_rates_are_over_all_days_and_each_day_stands_alone(cast: Cast) -> None:
    add_day(cast)
    add_day(cast, 1, n_documents=30, n_auto=0, n_sampled=3, n_review=27, n_selected=30)
    add_day(cast, 30)
    shown = operations(cast.project)
    assert [day.day for day in shown.days] == [today() - timedelta(days=1), today()]
    assert shown.automation_rate == pytest.approx(12 / 40)
    assert shown.straight_through_rate == pytest.approx(8 / 40)
    assert [day.straight_through_rate for day in shown.days] == [0.0, 0.8]
    assert (shown.n_documents, shown.n_pages) == (40, 40)


def test_the_types_of_a_day_are_added_up(cast: Cast) -> None:
    add_day(cast)
    invoice = factories.make_document_type(cast.project, "invoice")
    ThroughputRollup.objects.create(project=cast.project, document_type=invoice, day=today(), n_documents=5, n_pages=5)
    (day,) = operations(cast.project).days
    assert (day.n_documents, day.n_pages) == (15, 25)


def test_seconds_of_processors_and_people_are_by_page(cast: Cast) -> None:
    age_project(cast, 60)
    add_day(cast)
    spend(cast, 30.0)
    spend(cast, 10.0)
    spend(cast, 500.0, field_path="/total")
    shown = operations(cast.project)
    assert shown.measured.cpu_seconds == pytest.approx(3.6)
    assert shown.measured.person_seconds == pytest.approx(2.0)
    assert shown.person_seconds_per_task == pytest.approx(20.0)
    assert shown.measured.n_pages_month == pytest.approx(20 / 30 * 30.4375)


def test_a_young_project_is_not_taken_for_an_idle_one(cast: Cast) -> None:
    add_day(cast)
    assert operations(cast.project).measured.n_pages_month == pytest.approx(20 * 30.4375)


def test_work_that_nobody_timed_is_unknown_and_no_work_is_none(cast: Cast) -> None:
    add_day(cast)
    unknown = operations(cast.project)
    assert unknown.measured.person_seconds is None
    assert unknown.costs.people is None
    assert unknown.costs.total is None
    ThroughputRollup.objects.update(n_selected=0)
    assert operations(cast.project).measured.person_seconds == 0.0
    assert operations(cast.project).costs.people == 0.0


def test_bytes_are_those_of_the_original_by_page_and_of_the_image(cast: Cast) -> None:
    add_day(cast)
    document = factories.make_document(cast.document_type)
    Document.objects.filter(pk=document.pk).update(n_bytes=1000, n_pages=2)
    Page.objects.create(
        document=document,
        page_number=1,
        image=ContentFile(b"x" * 300, name="p.jpg"),
        width=1,
        height=1,
        content_hash="0" * 64,
    )
    factories.make_document(cast.document_type, duplicate_of=document, n_pages=9, n_bytes=10**9)
    assert operations(cast.project).measured.n_bytes == pytest.approx(800.0)


def test_a_lost_image_is_left_out(cast: Cast) -> None:
    add_day(cast)
    document = factories.make_routed(cast.document_type)
    page = document.pages.get()
    page.image.storage.delete(str(page.image.name))
    assert operations(cast.project).measured.n_bytes == pytest.approx(document.n_bytes)


def test_the_projects_own_prices_count(cast: Cast) -> None:
    add_day(cast, n_selected=0)
    CostModel.objects.create(
        project=cast.project,
        currency="CNY",
        cpu_hour=1.0,
        gpu_hour=0,
        storage_gb_month=0,
        storage_months=0,
        person_hour=100,
        operations_month=0,
    )
    shown = operations(cast.project)
    assert shown.has_own_prices
    assert shown.prices.currency == "CNY"
    assert shown.costs.cpu == pytest.approx(1.0)
    assert shown.costs.total == pytest.approx(1.0)


def test_the_queue_is_as_it_stands(cast: Cast) -> None:
    factories.make_routed(cast.document_type)
    ReviewTask.objects.update(created_at=timezone.now() - timedelta(hours=2))
    factories.make_routed(cast.document_type)
    factories.make_routed(cast.other_document_type)
    shown = operations(cast.project)
    assert shown.n_open == 2
    assert shown.oldest_age_seconds == pytest.approx(7200, abs=60)


def test_another_projects_figures_are_not_counted(cast: Cast) -> None:
    ThroughputRollup.objects.create(
        project=cast.other_project, document_type=cast.other_document_type, day=today(), n_documents=5, n_pages=5
    )
    assert operations(cast.project).days == ()


def test_it_costs_the_same_queries_for_more_of_everything(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for age in range(3):
        add_day(cast, age)
        spend(cast, 5.0)
        with django_assert_num_queries(6):
            operations(cast.project)


def test_wrong_prices_are_refused_with_their_names() -> None:
    with pytest.raises(InvalidInputError) as refused:
        checked_prices({"cpu_hour": -1, "currency": "euro"})
    assert [one["pointer"] for one in refused.value.details["problems"]] == ["/currency", "/cpu_hour"]
