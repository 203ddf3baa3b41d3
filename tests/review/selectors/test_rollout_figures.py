"""What a roll-out has shown: agreement with its interval, who was right, what differed; a fixed number of queries."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from review.accuracy.intervals import wilson
from review.models import (
    Document,
    ExtractionRun,
    FieldPrediction,
    FieldReview,
    Rollout,
    RunRole,
    RunState,
    ShadowField,
    ShadowRead,
    WorkState,
)
from review.selectors.rollout_figures import counts_of, rollout_detail
from tests.conftest import Cast
from tests.factories import FieldPlan, make_engine_version, make_routed, make_task
from tests.review.rollout_room import rolled_out

pytestmark = pytest.mark.django_db


@pytest.fixture
def rollout(cast: Cast) -> Rollout:
    return rolled_out(cast, make_engine_version("challenger"))


def read_twice(cast: Cast, rollout: Rollout, **values: tuple[str | None, str | None]) -> Document:
    """A document on whose fields the champion and the challenger gave these values."""
    plans = {path(name): FieldPlan(value=champion) for name, (champion, _) in values.items()}
    document = make_routed(cast.document_type, plans, band="auto", is_selected=False)
    champion_run = document.runs.get()
    run = ExtractionRun.objects.create(
        document=document,
        engine_version=rollout.engine_version,
        schema_version=champion_run.schema_version,
        role=RunRole.SHADOW,
        state=RunState.ROUTED,
        is_current=False,
    )
    shadow = ShadowRead.objects.create(
        rollout=rollout, document=document, champion_run=champion_run, run=run, state=WorkState.DONE
    )
    for name, (one, other) in values.items():
        FieldPrediction.objects.create(
            run=run, field_path=path(name), value=other, page_number=1, bbox=[0.5, 0.5, 0.6, 0.6] if other else None
        )
        ShadowField.objects.create(shadow_read=shadow, field_path=path(name), is_agreed=one == other)
    return document


def path(name: str) -> str:
    return "/" + name.replace("__", "/")


def settle(cast: Cast, document: Document, field_path: str, value: str | None, **more: object) -> None:
    run = document.runs.get(is_current=True)
    given = {"verdict": "corrected", "is_correct": False} | more
    FieldReview.objects.create(
        task=document.review_tasks.first() or make_task(document, run),
        document=document,
        field_path=field_path,
        value=value,
        is_in_sample=False,
        inclusion_probability=1.0,
        project=cast.project,
        document_type=cast.document_type,
        engine_version=run.engine_version,
        band="auto",
        **given,
    )


def test_agreement_is_a_share_of_documents_with_an_interval(cast: Cast, rollout: Rollout) -> None:
    for other in ("9.00", "9.00", "8.00"):
        read_twice(cast, rollout, total=("9.00", other), date=("2018-12-25", "2018-12-25"))
    date, total = rollout_detail(rollout).agreement
    assert (date.field_path, date.agreement) == ("/date", wilson(3, 3))
    assert (total.field_path, total.n, total.agreement) == ("/total", 3, wilson(2, 3))


def test_the_rows_of_a_table_are_one_field(cast: Cast, rollout: Rollout) -> None:
    read_twice(cast, rollout, items__0__amount=("1", "1"), items__1__amount=("2", "3"))
    (amount,) = rollout_detail(rollout).agreement
    assert (amount.field_path, amount.n, amount.agreement.point) == ("/items/*/amount", 2, 0.5)


@pytest.mark.parametrize(
    ("truth", "counted"),
    [("9.00", (1, 0, 0)), ("8.00", (0, 1, 0)), (" 8.00 ", (0, 1, 0)), ("7.00", (0, 0, 1)), (None, (0, 0, 1))],
)
def test_who_was_right_is_counted_by_what_a_person_said(
    cast: Cast, rollout: Rollout, truth: str | None, counted: tuple[int, int, int]
) -> None:
    settle(cast, read_twice(cast, rollout, total=("9.00", "8.00")), "/total", truth)
    (total,) = rollout_detail(rollout).agreement
    assert (total.n_champion, total.n_challenger, total.n_neither) == counted
    assert total.challenger_right == wilson(counted[1], 1)


def test_nothing_is_a_value_too(cast: Cast, rollout: Rollout) -> None:
    settle(cast, read_twice(cast, rollout, total=("9.00", None)), "/total", None, verdict="spurious")
    assert rollout_detail(rollout).agreement[0].n_challenger == 1


def test_letter_case_and_spaces_make_nobody_wrong(cast: Cast, rollout: Rollout) -> None:
    settle(cast, read_twice(cast, rollout, company=("BOOK TA", "Book Ta K")), "/company", "BOOK  TA K")
    assert rollout_detail(rollout).agreement[0].n_challenger == 1


def test_what_nobody_could_read_settles_nothing(cast: Cast, rollout: Rollout) -> None:
    document = read_twice(cast, rollout, total=("9.00", "8.00"))
    settle(cast, document, "/total", None, verdict="illegible", is_correct=None)
    assert rollout_detail(rollout).agreement[0].n_examined == 0


def test_differences_are_newest_first_with_both_values_and_where_to_look(cast: Cast, rollout: Rollout) -> None:
    first = read_twice(cast, rollout, total=("9.00", "8.00"), date=("a", "a"))
    second = read_twice(cast, rollout, total=("9.00", None))
    detail = rollout_detail(rollout)
    (two, one) = detail.differences
    assert detail.older_than is None
    assert (one.document, two.document) == (first, second)
    assert one.champion is not None
    assert one.challenger is not None
    assert (one.champion.value, one.challenger.value, one.is_settled) == ("9.00", "8.00", False)
    assert one.place == one.challenger
    assert two.place == two.champion


def test_the_differences_of_another_roll_out_are_not_among_them(cast: Cast, rollout: Rollout) -> None:
    read_twice(cast, rollout, total=("9.00", "8.00"))
    Rollout.objects.update(stage="retired")
    other = rolled_out(cast, make_engine_version("other"))
    detail = rollout_detail(other)
    assert (detail.differences, detail.older_than, detail.agreement) == ([], None, [])


def test_documents_are_counted_by_what_became_of_them(cast: Cast, rollout: Rollout) -> None:
    for state in ("done", "done", "queued", "running", "failed", "cancelled"):
        read_twice(cast, rollout, total=("1", "1"))
        ShadowRead.objects.filter(pk=ShadowRead.objects.order_by("-pk")[0].pk).update(state=state)
    counts = counts_of(rollout)
    assert (counts.n_compared, counts.n_waiting, counts.n_failed, counts.n_for_real) == (2, 2, 1, 0)
    ExtractionRun.objects.filter(is_current=True).update(engine_version=rollout.engine_version)
    assert counts_of(rollout).n_for_real == 6


def test_many_documents_cost_no_more_queries_than_one(cast: Cast, rollout: Rollout) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            rollout_detail(rollout)
        return len(queries)

    settle(cast, read_twice(cast, rollout, total=("9.00", "8.00")), "/total", "8.00")
    one = n_queries()
    for _ in range(4):
        settle(cast, read_twice(cast, rollout, total=("9.00", "8.00")), "/total", "8.00")
    assert n_queries() == one
