from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from review.actions.leasing import Lease, lease_next_task, lease_task, release_task_for_manager
from review.actions.saving import save_field
from review.actions.submitting import mark_unusable
from review.exceptions import ConflictError, ForbiddenError, InvalidInputError, LeaseLostError
from review.models import AuditEntry, FieldEdit, ReviewTask
from review.selectors.access import SYSTEM
from review.selectors.review_tasks import task_field
from tests import factories
from tests.conftest import Cast
from tests.review.actions.review_room import actor, announced, audited, let_lease_lapse, task_of
from tests.review.invoices import INVOICE, make_invoice


def save(cast: Cast, lease: Lease, value: object, base_version: int, **changes: Any) -> FieldEdit:
    given: dict[str, Any] = {
        "actor": actor(cast.reviewer),
        "task": lease.task,
        "lease_token": lease.token,
        "field_path": "/total",
        "verdict": "corrected",
        "value": value,
        "base_version": base_version,
    }
    return save_field(**(given | changes))


def edits() -> list[tuple[str, int, str, Any]]:
    return list(FieldEdit.objects.order_by("id").values_list("field_path", "version", "verdict", "value"))


def test_each_save_is_a_new_version_and_none_is_overwritten(cast: Cast, lease: Lease) -> None:
    save(cast, lease, "8.00", 0)
    second = save(cast, lease, "7.00", 1)
    save(cast, lease, "A shop", 0, field_path="/company")
    assert (second.version, second.author) == (2, cast.reviewer)
    assert edits() == [
        ("/total", 1, "corrected", "8.00"),
        ("/total", 2, "corrected", "7.00"),
        ("/company", 1, "corrected", "A shop"),
    ]


def test_a_save_is_audited_without_the_text_and_announced(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    save(cast, lease, "8.00", 0)
    assert audited(task)[-1] == "review_task.saved"
    assert announced(task)[-1] == ("review_task.saved", "rui")
    assert AuditEntry.objects.get(action="review_task.saved").detail == {"field_path": "/total", "version": 1}


@pytest.mark.parametrize("base_version", [0, 1])
def test_saving_the_same_twice_adds_nothing(cast: Cast, lease: Lease, base_version: int) -> None:
    first = save(cast, lease, "8.00", 0)
    assert save(cast, lease, " 8.00 ", base_version) == first
    assert len(edits()) == 1


def test_a_decision_is_taken_back_by_a_version_without_a_verdict(cast: Cast, lease: Lease) -> None:
    save(cast, lease, "8.00", 0)
    withdrawn = save(cast, lease, None, 1, verdict=None)
    assert (withdrawn.version, withdrawn.is_decision) == (2, False)
    assert edits() == [("/total", 1, "corrected", "8.00"), ("/total", 2, "", None)]
    field = task_field(lease.task, "/total")
    assert field is not None
    assert (field.edit, field.decided) == (withdrawn, None)


@pytest.mark.parametrize("base_version", [1, 2])
def test_taking_back_twice_adds_nothing(cast: Cast, lease: Lease, base_version: int) -> None:
    save(cast, lease, "8.00", 0)
    withdrawn = save(cast, lease, None, 1, verdict=None)
    assert save(cast, lease, None, base_version, verdict=None) == withdrawn
    assert len(edits()) == 2


def test_what_was_taken_back_is_decided_anew_on_top_of_it(cast: Cast, lease: Lease) -> None:
    save(cast, lease, "8.00", 0)
    save(cast, lease, None, 1, verdict=None)
    again = save(cast, lease, "8.00", 2)
    assert (again.version, again.is_decision) == (3, True)


def test_taking_back_another_version_than_the_one_seen_is_refused(cast: Cast, lease: Lease) -> None:
    save(cast, lease, "8.00", 0)
    save(cast, lease, "7.00", 1)
    with pytest.raises(ConflictError) as caught:
        save(cast, lease, None, 1, verdict=None)
    assert caught.value.details["yours"] == {"verdict": None, "value": None}
    assert (caught.value.details["current"]["version"], caught.value.details["current"]["value"]) == (2, "7.00")


def test_a_conflict_with_what_was_taken_back_says_that_nothing_is_decided(cast: Cast, lease: Lease) -> None:
    save(cast, lease, "8.00", 0)
    save(cast, lease, None, 1, verdict=None)
    with pytest.raises(ConflictError) as caught:
        save(cast, lease, "7.00", 1)
    assert (caught.value.details["current"]["version"], caught.value.details["current"]["verdict"]) == (2, None)


def test_a_value_without_a_verdict_is_refused(cast: Cast, lease: Lease) -> None:
    with pytest.raises(InvalidInputError) as caught:
        save(cast, lease, "8.00", 0, verdict=None)
    assert [problem["pointer"] for problem in caught.value.details["problems"]] == ["/total"]
    assert edits() == []


@pytest.mark.parametrize("base_version", [-1, 2, 99])
def test_the_same_value_on_a_version_that_never_was_is_no_repetition(
    cast: Cast, lease: Lease, base_version: int
) -> None:
    save(cast, lease, "8.00", 0)
    with pytest.raises(ConflictError):
        save(cast, lease, "8.00", base_version)


def test_a_repeated_answer_that_was_settled_otherwise_is_recognised(cast: Cast, lease: Lease) -> None:
    first = save(cast, lease, "9.00", 0)
    assert first.verdict == "confirmed"
    assert save(cast, lease, "9.00", 0) == first


def test_the_next_holder_saves_the_same_value_under_their_own_name(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    save(cast, lease, "8.00", 0)
    let_lease_lapse(task)
    theirs = lease_task(actor=actor(cast.manager), task=task)
    again = save(cast, theirs, "8.00", 1, actor=actor(cast.manager))
    assert (again.version, again.author) == (2, cast.manager)


@pytest.mark.parametrize("base_version", [0, 2, 99, -1])
def test_a_save_on_another_version_is_refused_with_both_values(cast: Cast, lease: Lease, base_version: int) -> None:
    saved = save(cast, lease, "8.00", 0)
    with pytest.raises(ConflictError) as caught:
        save(cast, lease, "7.00", base_version)
    assert caught.value.code == "conflict"
    assert caught.value.details == {
        "current": {
            "version": 1,
            "verdict": "corrected",
            "value": "8.00",
            "author": "rui",
            "saved_at": saved.saved_at,
        },
        "yours": {"verdict": "corrected", "value": "7.00"},
    }
    assert len(edits()) == 1


def test_a_save_on_a_version_that_never_was_says_that_nothing_stands(cast: Cast, lease: Lease) -> None:
    with pytest.raises(ConflictError) as caught:
        save(cast, lease, "7.00", 3)
    assert caught.value.details["current"]["version"] == 0


def test_a_lapsed_lease_still_saves_and_comes_back_to_life(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    let_lease_lapse(task)
    save(cast, lease, "8.00", 0)
    task.refresh_from_db()
    assert task.lease_expires_at is not None
    assert task.lease_expires_at > timezone.now()
    assert lease_next_task(actor=actor(cast.manager), project=cast.project) is None


def test_after_a_takeover_what_was_typed_comes_back_and_does_not_mix_in(
    cast: Cast, lease: Lease, task: ReviewTask
) -> None:
    save(cast, lease, "8.00", 0)
    let_lease_lapse(task)
    theirs = lease_task(actor=actor(cast.manager), task=task)
    save(cast, theirs, "7.00", 1, actor=actor(cast.manager))
    with pytest.raises(LeaseLostError) as caught:
        save(cast, lease, "6.00", 1)
    details = caught.value.details
    assert (details["holder"], details["state"]) == ("mia", "open")
    assert (details["current"]["value"], details["current"]["author"]) == ("7.00", "mia")
    assert details["yours"] == {"verdict": "corrected", "value": "6.00"}
    assert [value for *_, value in edits()] == ["8.00", "7.00"]


def test_a_manager_who_frees_the_task_ends_the_holders_saves(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    release_task_for_manager(actor=actor(cast.manager), task=task)
    with pytest.raises(LeaseLostError) as caught:
        save(cast, lease, "8.00", 0)
    assert caught.value.details["holder"] == ""
    assert caught.value.details["yours"]["value"] == "8.00"


def test_nothing_is_saved_in_a_finished_task(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    mark_unusable(actor=actor(cast.reviewer), task=task, lease_token=lease.token, reason="blank page")
    with pytest.raises(LeaseLostError) as caught:
        save(cast, lease, "8.00", 0)
    assert caught.value.details["state"] == "unusable"
    assert edits() == []


@pytest.mark.parametrize("token", ["", "0" * 32])
def test_a_wrong_token_saves_nothing(cast: Cast, lease: Lease, token: str) -> None:
    with pytest.raises(LeaseLostError):
        save(cast, lease, "8.00", 0, lease_token=token)
    assert edits() == []


@pytest.mark.parametrize("field_path", ["", "/nothing", "total", "/total/0", "/" + "x" * 300])
def test_a_field_outside_the_schema_is_refused(cast: Cast, lease: Lease, field_path: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        save(cast, lease, "8.00", 0, field_path=field_path)
    assert caught.value.details["problems"][0]["pointer"] == field_path


@pytest.mark.parametrize(("verdict", "value"), [("confirmed", "8.00"), ("corrected", None), ("perhaps", "8.00")])
def test_a_verdict_that_makes_no_sense_is_refused(cast: Cast, lease: Lease, verdict: str, value: object) -> None:
    with pytest.raises(InvalidInputError):
        save(cast, lease, value, 0, verdict=verdict)
    assert edits() == []


def test_a_refused_save_leaves_the_lease_as_it_was(cast: Cast, lease: Lease, task: ReviewTask) -> None:
    with pytest.raises(InvalidInputError):
        save(cast, lease, None, 0)
    task.refresh_from_db()
    assert task.lease_expires_at == lease.expires_at


def test_a_person_can_add_a_row_that_was_not_read(cast: Cast) -> None:
    task = task_of(make_invoice(factories.make_document_type(cast.project, "invoice", INVOICE)))
    lease = lease_task(actor=actor(cast.reviewer), task=task)
    edit = save(cast, lease, "3.00", 0, field_path="/line_items/3/amount")
    assert (edit.field_path, edit.verdict, edit.value) == ("/line_items/3/amount", "missing", "3.00")


def test_stet_itself_saves_nothing(cast: Cast, lease: Lease) -> None:
    with pytest.raises(ForbiddenError):
        save(cast, lease, "8.00", 0, actor=SYSTEM)


def test_a_save_costs_the_same_number_of_queries_after_many(
    cast: Cast, lease: Lease, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for version in range(25):
        with django_assert_num_queries(9):  # two of them are the savepoint, BEGIN and COMMIT outside a test
            save(cast, lease, f"{version}.50", version)
