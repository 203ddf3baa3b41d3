"""What programs and the desk are told of second looks, and what not."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from review.models import AuditEntry, ReviewTask, Role, TaskKind, User
from tests import factories
from tests.conftest import Cast
from tests.review.actions.second_room import (
    COMPANY,
    OTHER_TOTAL,
    TOTAL,
    answer,
    dispute,
    draw_all,
    make_first_task,
    second_of,
)
from tests.review.api.conftest import bearer

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_second(cast: Cast, second: User) -> APIClient:
    return bearer(second, cast.project, Role.REVIEWER)


@pytest.fixture
def first_task(cast: Cast, second: User) -> ReviewTask:
    """Done by rui, drawn for a second review."""
    draw_all(cast)
    task = make_first_task(cast)
    answer(cast.reviewer, task, COMPANY, TOTAL)
    return task


def at(cast: Cast, *rest: object) -> str:
    return f"/api/v1/projects/{cast.project.slug}/" + "".join(f"{part}/" for part in rest)


def given(client: APIClient, cast: Cast) -> Any:
    response = client.post(at(cast, "review-tasks", "lease"), {}, format="json")
    assert response.status_code == 200
    return response.json()


def shape(task: dict[str, Any]) -> dict[str, Any]:
    """A task without what differs from document to document."""
    plain = {name: value for name, value in task.items() if name not in {"id", "document", "filename", "pages"}}
    return {name: value for name, value in plain.items() if not name.endswith("_at")}


def test_a_second_review_cannot_be_told_from_a_first_one(
    cast: Cast, as_second: APIClient, first_task: ReviewTask
) -> None:
    second_look = given(as_second, cast)
    assert second_look["task"]["id"] == second_of(first_task).pk
    submit = {"lease_token": second_look["lease_token"], "verdicts": _sent(COMPANY, TOTAL)}
    told = as_second.post(at(cast, "review-tasks", second_look["task"]["id"], "submit"), submit, format="json").json()
    draw_all(cast, second=0.0)
    make_first_task(cast)
    first_look = given(as_second, cast)
    submit = {"lease_token": first_look["lease_token"], "verdicts": _sent(COMPANY, TOTAL)}
    plain = as_second.post(at(cast, "review-tasks", first_look["task"]["id"], "submit"), submit, format="json").json()
    assert shape(second_look["task"]) == shape(first_look["task"])
    assert second_look["task"]["kind"] == "review"
    differs = {"id", "document", "created_at"}
    for one in (told, plain):
        one["provenance"] = {path: {**source, "task": 0} for path, source in one["provenance"].items()}
    assert {k: v for k, v in told.items() if k not in differs} == {k: v for k, v in plain.items() if k not in differs}


def _sent(*answers: tuple[str, str, object]) -> list[dict[str, object]]:
    return [dict(zip(("field_path", "verdict", "value"), one, strict=True)) for one in answers]


def test_no_answer_to_a_second_reviewer_holds_the_first_ones(
    cast: Cast, as_second: APIClient, first_task: ReviewTask
) -> None:
    look = second_of(first_task)
    given(as_second, cast)
    for response in (
        as_second.get(at(cast, "review-tasks")),
        as_second.get(at(cast, "review-tasks", look.pk)),
        as_second.get(at(cast, "review-tasks", first_task.pk)),
    ):
        assert "8.00" not in response.content.decode()
    assert as_second.get(at(cast, "review-tasks", first_task.pk)).status_code == 404


def test_a_reviewer_still_sees_what_they_finished_and_a_manager_everything(
    cast: Cast, as_reviewer: APIClient, as_manager: APIClient, first_task: ReviewTask
) -> None:
    for client in (as_reviewer, as_manager):
        assert client.get(at(cast, "review-tasks", first_task.pk)).status_code == 200


def test_the_first_reviewer_finds_nothing_and_no_trace(
    cast: Cast, as_reviewer: APIClient, first_task: ReviewTask
) -> None:
    answered = given(as_reviewer, cast)
    assert (answered["task"], answered["reason"], answered["queue"]["n_open"]) == (None, "nothing_waits", 0)
    assert as_reviewer.get(at(cast, "review-tasks")).json()["results"] == []
    look = second_of(first_task)
    assert as_reviewer.get(at(cast, "review-tasks", look.pk)).status_code == 404
    assert as_reviewer.post(at(cast, "review-tasks", look.pk, "lease")).status_code == 404


def test_a_manager_who_did_the_first_is_told_why_not(cast: Cast, as_manager: APIClient, second: User) -> None:
    draw_all(cast)
    task = make_first_task(cast)
    answer(cast.manager, task, COMPANY, TOTAL)
    response = as_manager.post(at(cast, "review-tasks", second_of(task).pk, "lease"))
    assert response.status_code == 409
    assert response.json()["code"] == "task_not_for_you"


def test_a_manager_sees_the_kind_of_what_another_one_holds(
    cast: Cast, as_manager: APIClient, as_second: APIClient, first_task: ReviewTask
) -> None:
    def kinds() -> list[str]:
        return [task["kind"] for task in as_manager.get(at(cast, "review-tasks")).json()["results"]]

    assert kinds() == ["review"]
    given(as_second, cast)
    assert kinds() == ["second_review"]
    assert [task["kind"] for task in as_second.get(at(cast, "review-tasks")).json()["results"]] == ["review"]


def test_an_adjudication_shows_both_answers_and_no_name(cast: Cast, second: User) -> None:
    draw_all(cast)
    dispute(cast, cast.reviewer, second)
    third = bearer(factories.make_member(cast.project, Role.REVIEWER, "tom"), cast.project, Role.REVIEWER)
    response = third.post(at(cast, "review-tasks", "lease"), {}, format="json")
    task = response.json()["task"]
    assert task["kind"] == "adjudication"
    fields = {field["field_path"]: field for field in task["fields"]}
    total = fields["/total"]
    assert [one["label"] for one in total["answers"]] == ["one", "other"]
    assert {one["value"] for one in total["answers"]} == {"8.00", "8.80"}
    assert (total["is_to_examine"], total["state"]) == (True, "doubtful")
    assert total["why"] == ["two people gave different answers"]
    assert (fields["/company"]["is_to_examine"], fields["/company"]["answers"], fields["/company"]["state"]) == (
        False,
        [],
        "ok",
    )
    assert "rui" not in response.content.decode()
    assert "sei" not in response.content.decode()


def test_a_second_review_submitted_through_the_api_is_compared(
    cast: Cast, as_second: APIClient, first_task: ReviewTask
) -> None:
    lease = given(as_second, cast)
    body = {"lease_token": lease["lease_token"], "verdicts": _sent(COMPANY, OTHER_TOTAL)}
    response = as_second.post(at(cast, "review-tasks", lease["task"]["id"], "submit"), body, format="json")
    assert response.status_code == 200
    assert response.json()["values"]["/total"] == "8.80"
    assert response.json()["reviewer"] == "sei"
    again = as_second.post(at(cast, "review-tasks", lease["task"]["id"], "submit"), body, format="json")
    assert again.json()["values"] == response.json()["values"]
    assert ReviewTask.objects.filter(kind=TaskKind.ADJUDICATION, first_task=first_task).exists()


# Reviewers


def test_reviewers_come_with_their_intervals(
    cast: Cast, as_manager: APIClient, second: User, first_task: ReviewTask
) -> None:
    answer(second, second_of(first_task), COMPANY, TOTAL)
    found = as_manager.get(at(cast, "reviewers")).json()
    assert (found["second_review_share"], found["n_second_reviews"], found["n_known_documents"]) == (1.0, 0, 1)
    of = {one["username"]: one for one in found["reviewers"]}
    assert set(of) == {"ada", "mia", "rui", "sei"}
    assert (of["rui"]["error"]["n"], of["rui"]["error"]["point"], of["rui"]["error"]["lower"]) == (2, 0.0, 0.0)
    assert of["rui"]["error"]["upper"] == pytest.approx(0.842, abs=0.001)
    assert of["mia"]["error"]["point"] is None
    assert of["sei"]["agreement"]["point"] == 1.0


def test_a_manager_sets_one_share_and_leaves_the_other(cast: Cast, as_manager: APIClient) -> None:
    as_manager.patch(at(cast, "reviewers"), {"second_review_share": 0.05}, format="json")
    response = as_manager.patch(at(cast, "reviewers"), {"seeded_share": 0.01}, format="json")
    assert response.status_code == 200
    assert (response.json()["second_review_share"], response.json()["seeded_share"]) == (0.05, 0.01)
    assert AuditEntry.objects.filter(action="project.second_looks_set").count() == 2


@pytest.mark.parametrize("body", [{"second_review_share": 1.2}, {"seeded_share": "x"}, {"share": 0.1}])
def test_a_share_that_is_none_is_refused(cast: Cast, as_manager: APIClient, body: dict[str, object]) -> None:
    response = as_manager.patch(at(cast, "reviewers"), body, format="json")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    cast.project.refresh_from_db()
    assert cast.project.second_review_share == 0


def test_the_first_answers_are_in_no_answer_to_whoever_may_answer_again(
    cast: Cast, first_task: ReviewTask, as_second: APIClient
) -> None:
    document = first_task.document_id
    record = as_second.get(at(cast, "documents", document)).json()
    assert (record["is_withheld"], record["record"]) == (True, None)
    assert {(field["accepted"], field["provenance"]) for field in record["fields"]} == {(None, None)}
    listed = as_second.get(at(cast, "records")).json()["results"]
    history = as_second.get(at(cast, "documents", document, "records")).json()["results"]
    one = as_second.get(at(cast, "records", listed[0]["id"])).json()
    for shown in (*listed, *history, one):
        assert (shown["is_withheld"], shown["values"], shown["provenance"], shown["reviewer"]) == (True, {}, {}, None)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_a_token_of_a_smaller_role_opens_no_way_round(
    cast: Cast, first_task: ReviewTask, second: User, role: Role
) -> None:
    client = bearer(second, cast.project, role)
    assert client.get(at(cast, "documents", first_task.document_id)).json()["is_withheld"]


def test_managers_and_the_first_reviewer_see_the_record(cast: Cast, first_task: ReviewTask) -> None:
    for user, role in ((cast.manager, Role.MANAGER), (cast.reviewer, Role.REVIEWER)):
        client = bearer(user, cast.project, role)
        shown = client.get(at(cast, "documents", first_task.document_id)).json()
        assert (shown["is_withheld"], shown["record"]["values"]["/total"]) == (False, "8.00")
        assert client.get(at(cast, "records")).json()["results"][0]["values"]["/total"] == "8.00"
