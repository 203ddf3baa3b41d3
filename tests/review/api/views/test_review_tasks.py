"""Taking work from the queue through the API."""

from rest_framework.test import APIClient

from review.actions.leasing import lease_next_task
from review.models import ReviewTask
from review.selectors.access import Actor
from tests import factories
from tests.conftest import Cast

TASKS = "/api/v1/projects/receipts/review-tasks/"


def test_the_next_task_comes_with_its_fields_pages_and_a_lease(cast: Cast, as_reviewer: APIClient) -> None:
    document = factories.make_routed(cast.document_type)
    answer = as_reviewer.post(f"{TASKS}lease/", {}, format="json")
    assert answer.status_code == 200
    given = answer.json()
    task = ReviewTask.objects.get()
    assert given["lease_token"] == task.lease_token != ""
    assert given["reason"] is given["queue"] is None
    assert given["task"]["id"] == task.pk
    assert given["task"]["document"] == document.pk
    assert given["task"]["lease_holder"] == "rui"
    assert given["task"]["document_band"] == "review"
    fields = {field["field_path"]: field for field in given["task"]["fields"]}
    assert list(fields) == ["/company", "/date", "/total"]
    assert fields["/total"]["is_to_examine"] is True
    assert fields["/total"]["reasons"] == ["low_confidence"]
    assert fields["/total"]["prediction"]["value"] == "9.00"
    assert fields["/total"]["prediction"]["bbox"] == [0.1, 0.1, 0.4, 0.2]
    assert fields["/total"]["edit"] is None
    assert fields["/total"]["labels"] == {"en": "Total", "zh": "合计"}
    page = given["task"]["pages"][0]
    assert page["image"] == f"http://testserver/api/v1/projects/receipts/documents/{document.pk}/pages/1/image/"


def test_an_empty_queue_says_that_nothing_waits(cast: Cast, as_reviewer: APIClient) -> None:
    given = as_reviewer.post(f"{TASKS}lease/", {}, format="json").json()
    assert (given["task"], given["lease_token"], given["reason"]) == (None, None, "nothing_waits")
    assert given["queue"]["n_open"] == 0


def test_a_queue_of_tasks_held_by_others_says_so(cast: Cast, as_reviewer: APIClient) -> None:
    factories.make_routed(cast.document_type)
    lease_next_task(actor=Actor(cast.manager), project=cast.project)
    given = as_reviewer.post(f"{TASKS}lease/", {}, format="json").json()
    assert (given["task"], given["reason"]) == (None, "held_by_others")
    assert given["queue"]["n_leased"] == 1
    assert 0 < given["queue"]["next_free_in_seconds"] <= 600
