import datetime as dt
from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from review.accuracy.estimators import Moments, hajek
from review.actions.accuracy import roll_up_reviews
from review.models import AccuracyRollup, Population, Project
from review.selectors.accuracy import accuracy_table, accuracy_trend, rates
from tests import factories
from tests.conftest import Cast
from tests.review.labels import Label, add_decision, add_labels, mixed_labels

UTC = dt.UTC


def test_nothing_reviewed_is_an_empty_table(cast: Cast) -> None:
    assert accuracy_table(cast.project) == []
    assert accuracy_trend(cast.project) == []


def test_a_field_has_a_total_and_its_buckets(cast: Cast) -> None:
    add_labels(
        cast.document_type,
        [
            Label(confidence=0.97, inclusion_probability=0.1),
            Label(confidence=0.97, inclusion_probability=0.1, is_correct=False),
            Label(confidence=0.55),
            Label(confidence=None, is_correct=False),
        ],
    )
    roll_up_reviews()
    rows = accuracy_table(cast.project, population="reader")
    assert [(row.bucket, row.n) for row in rows] == [
        (None, 4),
        ("0.50-0.80", 1),
        ("0.95-0.99", 2),
        ("missing", 1),
    ]
    assert {row.document_type for row in rows} == {cast.document_type}
    assert {row.population for row in rows} == {Population.READER}
    total = rows[0].estimate
    assert total == hajek(Moments.of([10, 10, 1, 1], [True, False, True, False]))
    assert total.point == pytest.approx(0.5)


def test_unseen_counts_only_what_could_have_been_stored_unseen(cast: Cast) -> None:
    add_labels(
        cast.document_type,
        [Label(is_correct=False)] * 5 + [Label(inclusion_probability=0.2, confidence=0.99)] * 3,
    )
    roll_up_reviews()
    (total, _bucket) = accuracy_table(cast.project, population=Population.UNSEEN)
    assert total.estimate == hajek(Moments.of([4.0] * 3, [True] * 3))
    assert total.estimate.point == 1.0
    reader = accuracy_table(cast.project, population=Population.READER)[0]
    assert reader.estimate.point == pytest.approx(15 / 20)


def test_fields_come_in_the_order_of_the_schema_and_lost_ones_last(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(path) for path in ("/total", "/aaa", "/date", "/company")])
    roll_up_reviews()
    rows = [row.field_path for row in accuracy_table(cast.project) if row.bucket is None]
    assert rows == ["/company", "/date", "/total", "/aaa"]


def test_types_come_by_slug_and_one_may_be_asked_for(cast: Cast) -> None:
    bill = factories.make_document_type(cast.project, "bill")
    add_labels(cast.document_type, [Label()])
    add_labels(bill, [Label(), Label()])
    roll_up_reviews()
    rows = [(row.document_type.slug, row.n) for row in accuracy_table(cast.project) if row.bucket is None]
    assert rows == [("bill", 2), ("receipt", 1)]
    (only, _bucket) = accuracy_table(cast.project, document_type=bill)
    assert (only.document_type, only.n) == (bill, 2)


def test_engine_versions_count_together_unless_one_is_asked_for(cast: Cast) -> None:
    old, new = factories.make_engine_version("old"), factories.make_engine_version("new")
    add_labels(
        cast.document_type,
        [Label(engine_version=old, is_correct=False)] * 2 + [Label(engine_version=new)] * 6,
    )
    roll_up_reviews()
    assert accuracy_table(cast.project)[0].estimate.point == pytest.approx(0.75)
    assert accuracy_table(cast.project, engine_version=new)[0].estimate.point == 1.0
    assert accuracy_table(cast.project, engine_version=old)[0].n == 2


def test_another_project_is_not_seen(cast: Cast) -> None:
    add_labels(cast.other_document_type, [Label()])
    roll_up_reviews()
    assert accuracy_table(cast.project) == []
    assert accuracy_trend(cast.project) == []
    assert len(accuracy_table(cast.other_project)) == 2


def test_an_unknown_population_is_refused(cast: Cast) -> None:
    with pytest.raises(ValueError, match="everybody"):
        accuracy_table(cast.project, population="everybody")


def test_the_trend_is_by_day_and_bounded(cast: Cast) -> None:
    now = timezone.now()
    labels = [
        Label(at=now - dt.timedelta(days=40)),
        Label(at=now - dt.timedelta(days=2), is_correct=False, confidence=0.99),
        Label(at=now - dt.timedelta(days=2), confidence=0.55),
        Label(at=now, confidence=0.7),
        Label("/date", at=now),
    ]
    add_labels(cast.document_type, labels)
    roll_up_reviews()
    points = accuracy_trend(cast.project, n_days=30)
    days_ago = [(point.field_path, (now.date() - point.day).days, point.estimate.point) for point in points]
    assert days_ago == [("/date", 0, 1.0), ("/total", 2, 0.5), ("/total", 0, 1.0)]
    assert [point.field_path for point in accuracy_trend(cast.project, field_path="/date")] == ["/date"]
    assert len(accuracy_trend(cast.project, n_days=60)) == 4


def test_the_trend_leaves_the_day_before_the_window_out(cast: Cast) -> None:
    now = timezone.now()
    add_labels(cast.document_type, [Label(at=now - dt.timedelta(days=days)) for days in (0, 1, 2)])
    roll_up_reviews()
    assert len(accuracy_trend(cast.project, n_days=2)) == 2


def test_the_rates_of_nothing_are_unknown(cast: Cast) -> None:
    found = rates(cast.project)
    assert found.n_documents == 0
    assert found.automation_rate is None
    assert found.straight_through_rate is None
    assert found.cpu_seconds_per_page is None
    assert found.queue.n_open == 0


def test_the_rates_say_what_the_machine_does_alone(cast: Cast) -> None:
    for band, is_selected in [("auto", False), ("auto", True), ("sampled", False), ("review", True)]:
        add_decision(cast.document_type, band=band, is_selected=is_selected, n_pages=2)
    roll_up_reviews()
    found = rates(cast.project)
    assert (found.n_documents, found.n_pages) == (4, 8)
    assert (found.n_auto, found.n_sampled, found.n_review, found.n_selected) == (2, 1, 1, 2)
    assert found.automation_rate == pytest.approx(3 / 4)
    assert found.straight_through_rate == pytest.approx(2 / 4)
    assert found.cpu_seconds_per_page == pytest.approx(2.0)
    assert found.queue.n_open == 2
    assert found.queue.oldest_age_seconds is not None


def test_the_rates_are_those_of_the_window_and_the_type(cast: Cast) -> None:
    bill = factories.make_document_type(cast.project, "bill")
    add_decision(cast.document_type, is_selected=False, at=timezone.now() - dt.timedelta(days=45))
    add_decision(cast.document_type, is_selected=False)
    add_decision(bill, is_selected=True)
    roll_up_reviews()
    assert rates(cast.project).n_documents == 2
    assert rates(cast.project, n_days=60).n_documents == 3
    of_bills = rates(cast.project, document_type=bill)
    assert (of_bills.n_documents, of_bills.queue.n_open) == (1, 1)
    assert rates(cast.other_project).n_documents == 0


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> dt.datetime:
    """It is 06:00: a quarter of the day has passed, so three quarters of yesterday are in the last 24 hours."""
    moment = dt.datetime(2026, 5, 10, 6, tzinfo=UTC)
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)
    return moment


def age(project: Project, born: dt.datetime) -> None:
    Project.objects.filter(pk=project.pk).update(created_at=born)
    project.refresh_from_db()


def test_pages_an_hour_take_yesterday_by_its_share(cast: Cast, noon: dt.datetime) -> None:
    age(cast.project, noon - dt.timedelta(days=90))
    add_decision(cast.document_type, at=noon - dt.timedelta(hours=1), n_pages=60, is_selected=False)
    add_decision(cast.document_type, at=noon - dt.timedelta(hours=20), n_pages=80, is_selected=False)
    add_decision(cast.document_type, at=noon - dt.timedelta(hours=40), n_pages=5000, is_selected=False)
    roll_up_reviews()
    # 60 of today, 0.75 x 80 of yesterday, over 24 hours.
    assert rates(cast.project).pages_per_hour == pytest.approx((60 + 60) / 24)


def test_pages_an_hour_of_a_young_project_are_over_its_own_hours(cast: Cast, noon: dt.datetime) -> None:
    age(cast.project, noon - dt.timedelta(hours=2))
    add_decision(cast.document_type, at=noon - dt.timedelta(hours=1), n_pages=30, is_selected=False)
    roll_up_reviews()
    assert rates(cast.project).pages_per_hour == pytest.approx(15)


def test_pages_an_hour_of_an_idle_day_are_0(cast: Cast, noon: dt.datetime) -> None:
    age(cast.project, noon - dt.timedelta(days=9))
    assert rates(cast.project).pages_per_hour == 0


def test_the_number_of_queries_depends_on_nothing(cast: Cast) -> None:
    def n_queries(read: Callable[[], object]) -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            read()
        sql = " ".join(query["sql"] for query in captured)
        assert "fieldreview" not in sql
        assert "routingdecision" not in sql
        return len(captured)

    reads: list[Callable[[], object]] = [
        lambda: accuracy_table(cast.project),
        lambda: accuracy_trend(cast.project),
        lambda: rates(cast.project),
    ]
    add_labels(cast.document_type, mixed_labels(45))
    add_decision(cast.document_type)
    roll_up_reviews()
    few = [n_queries(read) for read in reads]
    for _ in range(3):
        add_labels(factories.make_document_type(cast.project, f"type{_}"), mixed_labels(200))
        add_decision(cast.document_type)
    roll_up_reviews()
    assert [n_queries(read) for read in reads] == few
    assert max(few) <= 6


def work_of(read: Callable[[], object]) -> int:
    """How many hundreds of instructions SQLite's machine runs for what is read: rows that it passes over count."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    raw = connection.connection
    raw.set_progress_handler(count, 100)
    try:
        read()
    finally:
        raw.set_progress_handler(None, 0)
    return steps


@pytest.mark.sqlite
@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts the steps of SQLite's machine")
def test_the_rows_read_do_not_grow_with_history(cast: Cast) -> None:
    def read() -> None:
        for population in Population:
            accuracy_table(cast.project, population=population)
            accuracy_trend(cast.project, population=population)
        rates(cast.project)

    add_labels(cast.document_type, mixed_labels(135))
    roll_up_reviews()
    n_rows, small = AccuracyRollup.objects.count(), work_of(read)
    add_labels(cast.document_type, mixed_labels(10_000))
    roll_up_reviews()
    assert AccuracyRollup.objects.count() == n_rows
    assert accuracy_table(cast.project)[0].n > 3_000
    assert small > 5
    assert work_of(read) <= small * 1.1
