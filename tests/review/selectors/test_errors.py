"""What was read wrong, over time and by confidence: bounded reads, the right rows, the right places."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.actions.accuracy import roll_up_reviews
from review.models import DocumentType, FieldPrediction, FieldReview, PolicyState, RoutingPolicy
from review.selectors import errors
from review.selectors.accuracy import today
from review.selectors.errors import (
    PAGE_SIZE,
    Mark,
    character_confusions,
    error_rows,
    marks_of,
    reliability_of,
    trend_by_engine,
)
from tests import factories
from tests.conftest import Cast
from tests.review.labels import Label, add_labels

pytestmark = pytest.mark.django_db


def wrong(document_type: DocumentType, path: str = "/total", read: str | None = "9.O0", truth: str = "9.00") -> int:
    """A correction; its id."""
    (review,) = add_labels(document_type, [Label(path, is_correct=False)])
    FieldReview.objects.filter(pk=review.pk).update(predicted_value=read, value=truth)
    return review.pk


def test_corrections_come_newest_first_with_the_place_they_were_read_from(cast: Cast) -> None:
    first, second = wrong(cast.document_type), wrong(cast.document_type, "/date", "2018-12-2S", "2018-12-25")
    add_labels(cast.document_type, [Label(is_correct=True), Label(is_correct=None)])
    rows, has_more = error_rows(cast.project)
    assert [row.review.pk for row in rows] == [second, first]
    assert not has_more
    assert rows[0].bbox == (0.1, 0.1, 0.4, 0.2)
    assert rows[0].page_number == 1
    assert rows[0].raw_text == "2018-12-25"


def test_a_field_without_a_prediction_or_a_box_has_no_place(cast: Cast) -> None:
    wrong(cast.document_type, "/unheard")
    wrong(cast.document_type)
    FieldPrediction.objects.filter(field_path="/total").update(bbox=None, page_number=None)
    rows, _more = error_rows(cast.project)
    assert [(row.bbox, row.page_number) for row in rows] == [(None, None), (None, None)]


def test_type_and_field_narrow_and_a_column_takes_all_its_rows(cast: Cast) -> None:
    invoice = factories.make_document_type(cast.project, "invoice")
    total, other = wrong(cast.document_type), wrong(invoice)
    cells = [wrong(invoice, f"/items/{n}/price") for n in (0, 11)]
    wrong(invoice, "/items/0/name")
    wrong(cast.other_document_type)
    assert [row.review.pk for row in error_rows(cast.project, document_type=cast.document_type)[0]] == [total]
    assert other in [row.review.pk for row in error_rows(cast.project, field_path="/total")[0]]
    found = error_rows(cast.project, document_type=invoice, field_path="/items/*/price")[0]
    assert [row.review.pk for row in found] == cells[::-1]


def test_pages_of_corrections_follow_one_another(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(is_correct=False) for _ in range(PAGE_SIZE + 2)])
    first, has_more = error_rows(cast.project)
    assert (len(first), has_more) == (PAGE_SIZE, True)
    second, has_more = error_rows(cast.project, before=first[-1].review.pk)
    assert (len(second), has_more) == (2, False)
    assert first[-1].review.pk > second[0].review.pk


def test_corrections_cost_the_same_queries_however_many(
    cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(2):
        wrong(cast.document_type)
        with django_assert_num_queries(2):
            rows, _more = error_rows(cast.project)
            assert [row.review.document.project.slug for row in rows]
        with django_assert_num_queries(1):
            character_confusions(cast.project)


def test_confusions_are_counted_over_the_newest_corrections(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong(cast.document_type, read="1B.00", truth="18.00")
    for _ in range(2):
        wrong(cast.document_type)
    wrong(cast.document_type, read=None)
    found = character_confusions(cast.project)
    assert [(one.read, one.truth, one.n) for one in found] == [("O", "0", 2), ("B", "8", 1)]
    monkeypatch.setattr(errors, "MAX_CORRECTIONS", 2)
    assert [(one.read, one.n) for one in character_confusions(cast.project)] == [("O", 2)]


def test_reliability_weighs_by_population_and_reads_one_field(cast: Cast) -> None:
    add_labels(
        cast.document_type,
        [
            Label(confidence=0.92, inclusion_probability=0.1),
            Label(confidence=0.94, is_correct=False, inclusion_probability=1.0),
            Label("/date", confidence=0.3, is_correct=False),
            Label(confidence=0.92, is_in_sample=False, is_correct=False),
        ],
    )
    (row,) = reliability_of(cast.document_type, "/total")
    assert row.accuracy.point == pytest.approx(10 / 11)
    (row,) = reliability_of(cast.document_type, "/total", population="unseen")
    assert row.accuracy.point == pytest.approx(1.0)
    with pytest.raises(ValueError, match="nonsense"):
        reliability_of(cast.document_type, "/total", population="nonsense")


def test_the_trend_is_by_engine_version_and_day(cast: Cast) -> None:
    now, new = timezone.now(), factories.make_engine_version("vllm")
    add_labels(
        cast.document_type,
        [
            Label(at=now - timedelta(days=2)),
            Label(at=now - timedelta(days=2), is_correct=False),
            Label(at=now, engine_version=new),
            Label(at=now - timedelta(days=40)),
            Label("/date", at=now),
        ],
    )
    roll_up_reviews()
    series = {one.engine.split()[0]: one.points for one in trend_by_engine(cast.document_type, "/total")}
    assert [(day, estimate.point) for day, estimate in series["scripted"]] == [(today() - timedelta(days=2), 0.5)]
    assert [(day, estimate.point, estimate.n) for day, estimate in series["vllm"]] == [(today(), 1.0, 1)]


def test_changes_of_policy_and_reader_are_marked_on_their_day(cast: Cast) -> None:
    now, new = timezone.now(), factories.make_engine_version("vllm")
    RoutingPolicy.objects.filter(document_type=cast.document_type).update(activated_at=now - timedelta(days=60))
    for number, state, age in ((2, PolicyState.RETIRED, 3), (3, PolicyState.ACTIVE, 1)):
        RoutingPolicy.objects.filter(document_type=cast.document_type).update(state=PolicyState.RETIRED)
        RoutingPolicy.objects.create(
            document_type=cast.document_type,
            number=number,
            state=state,
            rules=factories.RULES,
            activated_at=now - timedelta(days=age),
        )
    RoutingPolicy.objects.create(document_type=cast.document_type, number=4, rules=factories.RULES)
    add_labels(cast.document_type, [Label(at=now - timedelta(days=2), engine_version=new)])
    add_labels(cast.document_type, [Label(at=now - timedelta(days=50)), Label(at=now)])
    roll_up_reviews()
    marks = marks_of(cast.document_type)
    assert [(mark.kind, mark.name.split()[0]) for mark in marks] == [
        ("policy", "2"),
        ("engine", "vllm"),
        ("policy", "3"),
    ]
    assert marks[1] == Mark(today() - timedelta(days=2), "engine", marks[1].name)
