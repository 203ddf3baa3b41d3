import datetime as dt
from collections import defaultdict
from collections.abc import Iterable

import pytest
from pytest_django import Settings

from review.accuracy.estimators import WEIGHTS, Moments
from review.accuracy.metrics import confidence_bucket
from review.actions import accuracy
from review.actions.accuracy import rebuild_rollups, roll_up_reviews
from review.models import AccuracyRollup, AuditEntry, FieldReview, RoutingDecision, ThroughputRollup
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.review.labels import Label, add_decision, add_labels, mixed_labels

UTC = dt.UTC
Cell = tuple[str, str, str]


def expected(labels: Iterable[Label]) -> dict[Cell, Moments]:
    """The moments of each (field, population, bucket), counted in another way: per cell, by `Moments.of`."""
    weights: dict[Cell, list[tuple[float, bool]]] = defaultdict(list)
    for label in labels:
        if label.is_in_sample and label.is_correct is not None:
            for population, weight_of in WEIGHTS.items():
                cell = (label.field_path, population, confidence_bucket(label.confidence))
                weights[cell].append((weight_of(label.inclusion_probability), label.is_correct))
    moments = {cell: Moments.of(*zip(*pairs, strict=True)) for cell, pairs in weights.items()}
    return {cell: found for cell, found in moments.items() if found.n}


def stored(**which: object) -> dict[Cell, Moments]:
    rows = AccuracyRollup.objects.filter(**which)
    return {
        (row.field_path, row.population, row.bucket): Moments(row.n, row.sum_w, row.sum_wy, row.sum_w2, row.sum_w2y)
        for row in rows
    }


def assert_same(found: dict[Cell, Moments], wanted: dict[Cell, Moments]) -> None:
    assert found.keys() == wanted.keys()
    for cell, moments in wanted.items():
        other = found[cell]
        assert other.n == moments.n
        assert (other.sum_w, other.sum_wy, other.sum_w2, other.sum_w2y) == pytest.approx(
            (moments.sum_w, moments.sum_wy, moments.sum_w2, moments.sum_w2y)
        )


def test_each_cell_holds_the_moments_of_its_labels(cast: Cast) -> None:
    labels = mixed_labels(270)
    add_labels(cast.document_type, labels)
    assert roll_up_reviews() == 270
    assert_same(stored(day=None), expected(labels))


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_batches_add_up_to_the_whole(cast: Cast, limit: int) -> None:
    labels = mixed_labels(40)
    add_labels(cast.document_type, labels)
    for _ in range(3):
        add_decision(cast.document_type)
    assert roll_up_reviews(limit=limit) == 43
    assert_same(stored(day=None), expected(labels))
    assert sum(ThroughputRollup.objects.values_list("n_documents", flat=True)) == 3


def test_nothing_is_added_twice(cast: Cast) -> None:
    labels = mixed_labels(30)
    add_labels(cast.document_type, labels)
    add_decision(cast.document_type)
    assert roll_up_reviews() == 31
    assert roll_up_reviews() == 0
    assert_same(stored(day=None), expected(labels))
    assert ThroughputRollup.objects.get().n_documents == 1


def test_later_labels_join_the_earlier_ones(cast: Cast) -> None:
    first, second = mixed_labels(50), mixed_labels(80)
    add_labels(cast.document_type, first)
    roll_up_reviews()
    add_labels(cast.document_type, second)
    assert roll_up_reviews() == 80
    assert_same(stored(day=None), expected([*first, *second]))


def test_correct_ones_are_counted(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(is_correct=True)] * 3 + [Label(is_correct=False)] * 2)
    roll_up_reviews()
    row = AccuracyRollup.objects.get(day=None, population="reader")
    assert (row.n, row.n_correct) == (5, 3)


def test_what_is_always_examined_is_no_part_of_the_unseen(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(inclusion_probability=1.0)])
    roll_up_reviews()
    assert {row.population for row in AccuracyRollup.objects.all()} == {"reader"}


@pytest.mark.parametrize("label", [Label(is_in_sample=False), Label(is_correct=None)])
def test_a_label_without_a_say_is_marked_and_adds_nothing(cast: Cast, label: Label) -> None:
    add_labels(cast.document_type, [label])
    assert roll_up_reviews() == 1
    assert not AccuracyRollup.objects.exists()
    assert not FieldReview.objects.filter(is_rolled_up=False).exists()


def test_a_day_is_one_of_the_installations_time_zone(cast: Cast, settings: Settings) -> None:
    settings.TIME_ZONE = "Asia/Kuala_Lumpur"
    late = dt.datetime(2026, 3, 1, 17, 30, tzinfo=UTC)
    add_labels(cast.document_type, [Label(at=late), Label(at=late - dt.timedelta(hours=2))])
    roll_up_reviews()
    days = AccuracyRollup.objects.exclude(day=None).order_by("day").values_list("day", "n")
    assert list(days) == [(dt.date(2026, 3, 1), 1), (dt.date(2026, 3, 2), 1)]


def test_the_days_add_up_to_the_sum_over_all_days(cast: Cast) -> None:
    start = dt.datetime(2026, 1, 1, 12, tzinfo=UTC)
    labels = [
        Label(at=start + dt.timedelta(days=number % 4), inclusion_probability=0.25, is_correct=number % 3 > 0)
        for number in range(20)
    ]
    add_labels(cast.document_type, labels)
    roll_up_reviews()
    for population in WEIGHTS:
        rows = AccuracyRollup.objects.filter(population=population)
        total = rows.get(day=None)
        days = rows.exclude(day=None)
        assert days.count() == 4
        for column in ("n", "n_correct", "sum_w", "sum_wy", "sum_w2", "sum_w2y"):
            assert sum(getattr(row, column) for row in days) == pytest.approx(getattr(total, column))


def test_the_rows_of_a_table_count_as_one_column(cast: Cast) -> None:
    add_labels(cast.document_type, [Label(f"/line_items/{number}/amount") for number in range(30)])
    roll_up_reviews()
    row = AccuracyRollup.objects.get(day=None)
    assert (row.field_path, row.n) == ("/line_items/*/amount", 30)


def test_engine_versions_are_kept_apart(cast: Cast) -> None:
    versions = [factories.make_engine_version(name) for name in ("one", "two")]
    add_labels(cast.document_type, [Label(engine_version=version) for version in (*versions, versions[0])])
    roll_up_reviews()
    rows = AccuracyRollup.objects.filter(day=None)
    assert {row.engine_version.name: row.n for row in rows} == {"one": 2, "two": 1}


def test_projects_are_kept_apart(cast: Cast) -> None:
    add_labels(cast.document_type, [Label()] * 2)
    add_labels(cast.other_document_type, [Label()] * 3)
    assert roll_up_reviews() == 5
    assert AccuracyRollup.objects.get(project=cast.project, day=None).n == 2
    assert AccuracyRollup.objects.get(project=cast.other_project, day=None).n == 3


def test_decisions_are_counted_by_band_and_day(cast: Cast) -> None:
    monday, tuesday = (dt.datetime(2026, 3, day, 9, tzinfo=UTC) for day in (2, 3))
    add_decision(cast.document_type, band="auto", is_selected=False, at=monday, n_pages=3)
    add_decision(cast.document_type, band="sampled", is_selected=True, at=monday)
    add_decision(cast.document_type, band="review", is_selected=True, at=tuesday, n_pages=2)
    assert roll_up_reviews() == 3
    first, second = ThroughputRollup.objects.order_by("day")
    assert (first.day, first.n_documents, first.n_pages, first.cpu_seconds) == (monday.date(), 2, 4, 8.0)
    assert (first.n_auto, first.n_sampled, first.n_review, first.n_selected) == (1, 1, 0, 1)
    assert (second.day, second.n_review, second.n_selected, second.n_pages) == (tuesday.date(), 1, 1, 2)


def test_a_roll_up_that_dies_half_way_leaves_everything_to_the_next(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = mixed_labels(20)
    add_labels(cast.document_type, labels)

    def die(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(accuracy, "add_to_rollups", die)
        with pytest.raises(RuntimeError):
            roll_up_reviews()
    assert FieldReview.objects.filter(is_rolled_up=False).count() == 20
    assert roll_up_reviews() == 20
    assert_same(stored(day=None), expected(labels))


def test_rows_that_somebody_else_marked_meanwhile_are_not_added(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    add_labels(cast.document_type, [Label()] * 4)
    mark = accuracy._mark

    def marked_by_another(model: type[FieldReview], rows: list[FieldReview]) -> int:
        if rows and model is FieldReview:
            FieldReview.objects.filter(pk=rows[0].pk).update(is_rolled_up=True)
        return mark(model, rows)

    monkeypatch.setattr(accuracy, "_mark", marked_by_another)
    assert roll_up_reviews() == 0
    assert not AccuracyRollup.objects.exists()


def test_a_rebuild_of_true_rollups_changes_nothing(cast: Cast) -> None:
    labels = mixed_labels(100)
    add_labels(cast.document_type, labels)
    add_decision(cast.document_type)
    roll_up_reviews(limit=9)
    before = set(AccuracyRollup.objects.values_list("pk", flat=True))
    assert rebuild_rollups(actor=SYSTEM, project=cast.project) == []
    assert set(AccuracyRollup.objects.values_list("pk", flat=True)) == before
    assert AuditEntry.objects.get(action="accuracy.rebuilt").detail == {"n_differences": 0}


def test_a_rebuild_reports_and_repairs_what_is_wrong(cast: Cast) -> None:
    labels = mixed_labels(100)
    add_labels(cast.document_type, labels)
    add_decision(cast.document_type)
    roll_up_reviews()
    row = AccuracyRollup.objects.filter(day=None, population="reader").order_by("pk")[0]
    AccuracyRollup.objects.filter(pk=row.pk).update(n=row.n + 5)
    ThroughputRollup.objects.update(n_pages=70)
    differences = rebuild_rollups(actor=SYSTEM, project=cast.project)
    assert {(found.column, found.stored - found.counted) for found in differences} == {("n", 5), ("n_pages", 69)}
    assert_same(stored(day=None), expected(labels))
    assert ThroughputRollup.objects.get().n_pages == 1
    assert rebuild_rollups(actor=SYSTEM, project=cast.project) == []


def test_a_rebuild_finds_rows_that_are_missing_and_rows_too_many(cast: Cast) -> None:
    add_labels(cast.document_type, [Label("/date"), Label("/total")])
    roll_up_reviews()
    AccuracyRollup.objects.filter(field_path="/date").delete()
    AccuracyRollup.objects.filter(field_path="/total").update(field_path="/ghost")
    found = {one.cell.field_path for one in rebuild_rollups(actor=SYSTEM, project=cast.project)}  # type: ignore[union-attr]
    assert found == {"/date", "/total", "/ghost"}
    assert set(AccuracyRollup.objects.values_list("field_path", flat=True)) == {"/date", "/total"}


def test_a_rebuild_leaves_new_labels_to_the_next_roll_up(cast: Cast) -> None:
    add_labels(cast.document_type, [Label()] * 2)
    roll_up_reviews()
    add_labels(cast.document_type, [Label()] * 3)
    assert rebuild_rollups(actor=SYSTEM, project=cast.project) == []
    assert roll_up_reviews() == 3
    assert AccuracyRollup.objects.get(day=None).n == 5


def test_a_rebuild_touches_no_other_project(cast: Cast) -> None:
    add_labels(cast.other_document_type, [Label()])
    roll_up_reviews()
    AccuracyRollup.objects.update(n=9)
    assert rebuild_rollups(actor=SYSTEM, project=cast.project) == []
    assert set(AccuracyRollup.objects.values_list("n", flat=True)) == {9}


def test_all_is_marked_at_the_end(cast: Cast) -> None:
    add_labels(cast.document_type, mixed_labels(10))
    add_decision(cast.document_type)
    roll_up_reviews()
    assert not FieldReview.objects.filter(is_rolled_up=False).exists()
    assert not RoutingDecision.objects.filter(is_rolled_up=False).exists()
