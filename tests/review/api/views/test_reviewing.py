"""Working on a task through the API: nothing typed is lost, nothing is done twice."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from review.actions.leasing import lease_next_task
from review.models import Document, FieldEdit, FieldReview, Record, ReviewTask, TaskState
from review.selectors.access import Actor
from tests import factories
from tests.conftest import Cast

TASKS = "/api/v1/projects/receipts/review-tasks/"


class Desk:
    """A reviewer's client with a task in hand."""

    def __init__(self, client: APIClient) -> None:
        given = client.post(f"{TASKS}lease/", {}, format="json").json()
        self.client, self.token, self.id = client, given["lease_token"], given["task"]["id"]

    def post(self, verb: str, **values: Any) -> Any:
        body = {"lease_token": self.token} | values
        return self.client.post(f"{TASKS}{self.id}/{verb}/", body, format="json")

    def save(self, value: object = "8.00", *, base_version: object = 0, **values: Any) -> Any:
        body = {
            "lease_token": self.token,
            "field_path": "/total",
            "verdict": "corrected",
            "value": value,
            "base_version": base_version,
        } | values
        return self.client.patch(f"{TASKS}{self.id}/fields/", body, format="json")

    @property
    def task(self) -> ReviewTask:
        return ReviewTask.objects.get(pk=self.id)


@pytest.fixture
def desk(cast: Cast, as_reviewer: APIClient) -> Desk:
    factories.make_routed(cast.document_type)
    return Desk(as_reviewer)


def taken_over(cast: Cast) -> None:
    ReviewTask.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert lease_next_task(actor=Actor(cast.manager), project=cast.project) is not None


def test_a_heartbeat_prolongs_the_lease(desk: Desk) -> None:
    ReviewTask.objects.update(lease_expires_at=timezone.now() + timedelta(seconds=5))
    answer = desk.post("heartbeat")
    assert answer.status_code == 200
    assert answer.json()["lease_token"] == desk.token
    assert (desk.task.lease_expires_at or timezone.now()) > timezone.now() + timedelta(minutes=5)


def test_a_field_is_saved_with_a_version_to_go_on_from(desk: Desk) -> None:
    first = desk.save("8.00").json()
    assert (first["version"], first["verdict"], first["value"], first["author"]) == (1, "corrected", "8.00", "rui")
    second = desk.save("7.00", base_version=1).json()
    assert (second["version"], second["value"]) == (2, "7.00")
    shown = desk.client.get(f"{TASKS}{desk.id}/").json()
    total = next(field for field in shown["fields"] if field["field_path"] == "/total")
    assert total["edit"] == second


def test_a_decision_is_taken_back_and_the_task_shows_it_as_open_again(desk: Desk) -> None:
    desk.save("8.00")
    withdrawn = desk.save(None, verdict=None, base_version=1)
    body = withdrawn.json()
    assert (withdrawn.status_code, body["version"], body["verdict"], body["value"]) == (200, 2, None, None)
    assert desk.save(None, verdict=None, base_version=1).json() == body
    shown = desk.client.get(f"{TASKS}{desk.id}/").json()
    total = next(field for field in shown["fields"] if field["field_path"] == "/total")
    assert (total["state"], total["edit"]) == ("doubtful", body)
    assert [version["verdict"] for version in total["versions"]] == ["corrected", None]
    assert shown["n_left"] == 1


def test_a_value_without_a_verdict_is_pointed_at(desk: Desk) -> None:
    answer = desk.save("8.00", verdict=None)
    assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (400, "/total")


def test_saving_the_same_again_adds_nothing(desk: Desk) -> None:
    assert desk.save().json() == desk.save().json()
    assert FieldEdit.objects.count() == 1


def test_a_conflict_brings_both_values_back(desk: Desk) -> None:
    desk.save("8.00")
    answer = desk.save("7.00")
    body = answer.json()
    assert (answer.status_code, body["code"]) == (409, "conflict")
    assert (body["current"]["version"], body["current"]["value"], body["current"]["author"]) == (1, "8.00", "rui")
    assert body["yours"] == {"verdict": "corrected", "value": "7.00"}


def test_whoever_lost_the_task_gets_back_what_was_typed(cast: Cast, desk: Desk) -> None:
    taken_over(cast)
    answer = desk.save("7.00")
    body = answer.json()
    assert (answer.status_code, body["code"], body["holder"]) == (409, "lease_lost", "mia")
    assert body["yours"] == {"verdict": "corrected", "value": "7.00"}
    assert not FieldEdit.objects.exists()


@pytest.mark.parametrize("verb", ["heartbeat", "release", "submit"])
def test_a_lost_lease_does_nothing_more(cast: Cast, desk: Desk, verb: str) -> None:
    taken_over(cast)
    answer = desk.post(verb)
    assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")
    assert desk.task.lease_holder == cast.manager


@pytest.mark.parametrize("verb", ["skip", "unusable"])
def test_a_lost_lease_ends_no_task(cast: Cast, desk: Desk, verb: str) -> None:
    taken_over(cast)
    assert desk.post(verb, reason="blurred").status_code == 409
    assert desk.task.state == TaskState.OPEN


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"field_path": "/nothing"}, "/nothing"),
        ({"field_path": ""}, "/field_path"),
        ({"field_path": "x" * 201}, "/field_path"),
        ({"verdict": "wrong"}, "/verdict"),
        ({"base_version": -1}, "/base_version"),
        ({"base_version": 2**63}, "/base_version"),
        ({"base_version": "x"}, "/base_version"),
        ({"lease_token": "x" * 33}, "/lease_token"),
        ({"lease_token": None}, "/lease_token"),
        ({"value": {"a": 1}}, "/total"),
        ({"value": None}, "/total"),
        ({"valeu": "8.00"}, "/valeu"),
    ],
    ids=str,
)
def test_what_cannot_be_saved_is_pointed_at(desk: Desk, values: dict[str, Any], pointer: str) -> None:
    answer = desk.save(**values)
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json()["problems"]] == [pointer]
    assert not FieldEdit.objects.exists()


def test_a_submit_makes_labels_and_a_record(desk: Desk) -> None:
    desk.save("8.00")
    answer = desk.post("submit", verdicts=[{"field_path": "/date", "verdict": "confirmed"}])
    record = answer.json()
    assert answer.status_code == 200
    assert (record["revision"], record["is_current"], record["reviewer"]) == (1, True, "rui")
    assert record["values"] == {"/company": "BOOK TA K", "/date": "2018-12-25", "/total": "8.00"}
    sources = {path: source["source"] for path, source in record["provenance"].items()}
    assert sources == {"/company": "model", "/date": "person", "/total": "person"}
    labels = FieldReview.objects.values_list("field_path", "verdict", "is_in_sample")
    assert set(labels) == {("/total", "corrected", True), ("/date", "confirmed", False)}
    assert Document.objects.get().status == "stored"


def test_submitting_twice_is_submitting_once(desk: Desk) -> None:
    verdicts = [{"field_path": "/total", "verdict": "confirmed"}]
    assert desk.post("submit", verdicts=verdicts).json() == desk.post("submit", verdicts=verdicts).json()
    assert Record.objects.count() == 1


def test_a_submit_without_a_needed_verdict_says_which(desk: Desk) -> None:
    answer = desk.post("submit")
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json()["problems"]] == ["/total"]
    assert desk.task.state == TaskState.OPEN


@pytest.mark.parametrize("verdicts", ["x", [1], [{}], [{"field_path": "/total", "verdict": "maybe"}], {"a": 1}])
def test_verdicts_that_are_none_are_refused(desk: Desk, verdicts: object) -> None:
    answer = desk.post("submit", verdicts=verdicts)
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"].startswith("/verdicts")


def test_a_released_task_keeps_what_was_saved(desk: Desk) -> None:
    desk.save()
    assert desk.post("release").status_code == 204
    assert (desk.task.lease_holder, desk.task.state) == (None, TaskState.OPEN)
    assert FieldEdit.objects.count() == 1


def test_a_manager_frees_a_task_and_a_reviewer_may_not(cast: Cast, desk: Desk, as_manager: APIClient) -> None:
    path = f"{TASKS}{desk.id}/release/"
    refused = desk.client.post(path, {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert as_manager.post(path, {}, format="json").status_code == 204
    assert desk.task.lease_holder is None


def test_an_unusable_document_is_unreadable_without_a_record(desk: Desk) -> None:
    assert desk.post("unusable", reason="A blank page.").status_code == 204
    assert (desk.task.state, Document.objects.get().status) == (TaskState.UNUSABLE, "unreadable")
    assert not Record.objects.exists()


@pytest.mark.parametrize("verb", ["skip", "unusable"])
@pytest.mark.parametrize("reason", ["", "   ", None, "x" * 501])
def test_a_reason_is_needed(desk: Desk, verb: str, reason: object) -> None:
    answer = desk.post(verb, reason=reason)
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == "/reason"
    assert desk.task.state == TaskState.OPEN


def test_saving_costs_as_many_queries_however_many_tasks_wait(cast: Cast, desk: Desk) -> None:
    with CaptureQueriesContext(connection) as alone:
        assert desk.save("8.00").status_code == 200
    for _ in range(30):
        factories.make_routed(cast.document_type)
    with CaptureQueriesContext(connection) as among_many:
        assert desk.save("7.00", base_version=1).status_code == 200
    assert len(among_many) == len(alone) <= 15
