"""The desk's one look at a task: candidates once a value, saves in their order, at a constant cost."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from review.actions.leasing import lease_next_task
from review.actions.saving import save_field
from review.models import CandidateSet, ReviewTask
from review.selectors.access import Actor
from review.selectors.desk import N_CANDIDATES, N_VERSIONS, DeskField, best_candidates, desk_detail
from review.selectors.review_tasks import task_detail
from tests import factories
from tests.conftest import Cast


def one(text: str, value: str | None, score: float) -> dict[str, Any]:
    return {"text": text, "value": value, "page_number": 1, "bbox": [0, 0, 1, 1], "features": {}, "score": score}


def fields_of(task: ReviewTask) -> dict[str, DeskField]:
    return {field.path: field for field in desk_detail(task).fields if isinstance(field, DeskField)}


def test_the_best_place_stands_for_each_value() -> None:
    found = best_candidates(
        [one("9.00", "9.00", 0.2), one("RM 9.00", "9.00", 0.9), one("10.00", "10.00", 0.5), one("9.0O", None, 0.1)]
    )
    assert [candidate["text"] for candidate in found] == ["RM 9.00", "10.00", "9.0O"]


def test_texts_that_are_no_value_are_told_apart() -> None:
    found = best_candidates([one("a", None, 0.3), one("b", None, 0.2), one("a", None, 0.1), one("a", "a", 0.05)])
    assert [(candidate["text"], candidate["value"]) for candidate in found] == [("a", None), ("b", None), ("a", "a")]


def test_a_long_list_is_cut() -> None:
    found = best_candidates([one(str(number), str(number), -float(number)) for number in range(30)])
    assert [candidate["text"] for candidate in found] == ["0", "1", "2", "3", "4"]
    assert len(found) == N_CANDIDATES


def test_a_run_without_candidates_has_none(cast: Cast) -> None:
    fields = fields_of(factories.make_routed(cast.document_type).review_tasks.get())
    assert list(fields) == ["/company", "/date", "/total"]
    assert {field.candidates for field in fields.values()} == {()}


def test_each_field_gets_its_own_candidates(cast: Cast) -> None:
    task = factories.make_routed(cast.document_type).review_tasks.get()
    CandidateSet.objects.create(run=task.run, payload={"/total": [one("9.00", "9.00", 1.0)], "/gone": []})
    fields = fields_of(task)
    assert [len(field.candidates) for field in fields.values()] == [0, 0, 1]
    assert fields["/total"].candidates[0]["text"] == "9.00"


def test_the_latest_versions_come_oldest_first(cast: Cast) -> None:
    factories.make_routed(cast.document_type)
    lease = lease_next_task(actor=Actor(cast.reviewer), project=cast.project)
    assert lease is not None
    for version in range(N_VERSIONS + 2):
        save_field(
            actor=Actor(cast.reviewer),
            task=lease.task,
            lease_token=lease.token,
            field_path="/total",
            verdict="corrected",
            value=f"{version + 10}.50",
            base_version=version,
        )
    fields = fields_of(lease.task)
    versions = [edit.version for edit in fields["/total"].versions]
    assert versions == list(range(3, N_VERSIONS + 3))
    assert fields["/total"].edit == fields["/total"].versions[-1]
    assert fields["/date"].versions == ()


def test_nothing_of_the_task_is_lost_on_the_way_to_the_desk(cast: Cast) -> None:
    task = factories.make_routed(cast.document_type).review_tasks.get()
    plain, desk = task_detail(task), desk_detail(task)
    assert desk.spec is plain.spec
    assert (desk.pages, desk.decision) == (plain.pages, plain.decision)
    for before, after in zip(plain.fields, desk.fields, strict=True):
        assert (before.path, before.spec, before.prediction) == (after.path, after.spec, after.prediction)
        assert (before.decision, before.edit) == (after.decision, after.edit)
        assert before.is_to_examine is after.is_to_examine


@pytest.mark.parametrize("n_fields", [1, 30])
def test_it_costs_two_queries_more_than_the_task(
    cast: Cast, n_fields: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    plans = {f"/extra{number}": factories.FieldPlan() for number in range(n_fields)}
    task = factories.make_routed(cast.document_type, plans).review_tasks.get()
    with django_assert_num_queries(8):
        desk_detail(task)
