"""Taking work from the queue through the API."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from review.actions.leasing import lease_next_task
from review.models import CandidateSet, FieldPrediction, ReviewTask
from review.selectors.access import Actor
from tests import factories
from tests.conftest import Cast

INVOICE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "x-label": {"en": "Invoice", "zh": "发票"},
    "properties": {
        "line_items": {
            "type": "array",
            "x-label": {"en": "Line items", "zh": "明细"},
            "items": {
                "type": "object",
                "properties": {
                    "description": {
                        "type": "string",
                        "x-label": {"en": "Description", "zh": "说明"},
                        "x-max-lines": 3,
                    },
                    "amount": {
                        "type": "string",
                        "x-label": {"en": "Amount", "zh": "金额"},
                        "x-value-type": "amount",
                    },
                },
            },
        }
    },
}
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
    base = f"http://testserver/api/v1/projects/receipts/documents/{document.pk}/pages/1/"
    assert (page["image"], page["words"], page["crop"]) == (f"{base}image/", f"{base}words/", f"{base}crop/")
    assert (page["width"], page["height"]) == (800, 1600)


def test_the_desk_gets_everything_in_one_request(cast: Cast, as_reviewer: APIClient) -> None:
    document = factories.make_routed(cast.document_type)
    task = document.review_tasks.get()
    CandidateSet.objects.create(
        run=task.run,
        payload={
            "/total": [candidate("9.00", "9.00", 0.9), candidate("9.10", "9.10", 0.4), candidate("RM 9", "9.00", 0.2)]
        },
    )
    FieldPrediction.objects.filter(field_path="/total").update(evidence={"margin": 0.5, "ocr_score": 0.99})
    given = as_reviewer.post(f"{TASKS}lease/").json()
    shown = given["task"]
    assert (shown["document_type_labels"], shown["document_type_label"]) == ({"en": "Receipt", "zh": "收据"}, "Receipt")
    assert (shown["n_to_examine"], shown["n_left"]) == (1, 1)
    assert shown["why_you"] == ["Total: the reading is not sure enough"]
    total = shown["fields"][2]
    assert (total["label"], total["value_type"], total["max_lines"], total["state"]) == (
        "Total",
        "amount",
        1,
        "doubtful",
    )
    assert (total["sureness"], total["why"]) == ("unlikely", ["the reading is not sure enough"])
    assert total["evidence_line"] == "the page also shows 9.10"
    assert total["prediction"]["evidence_rows"][0] == {
        "name": "margin",
        "words": "lead over the next candidate",
        "number": 0.5,
    }
    assert [(one["text"], one["bbox"]) for one in total["candidates"]] == [
        ("9.00", [0.1, 0.2, 0.3, 0.4]),
        ("9.10", [0.1, 0.2, 0.3, 0.4]),
    ]
    assert shown["fields"][0]["state"] == "ok"


def test_what_was_saved_comes_back_with_its_earlier_versions(cast: Cast, as_reviewer: APIClient) -> None:
    factories.make_routed(cast.document_type)
    given = as_reviewer.post(f"{TASKS}lease/").json()
    path = f"{TASKS}{given['task']['id']}/"
    for version, value in enumerate(("9.10", "9.20")):
        save = {"lease_token": given["lease_token"], "field_path": "/total", "verdict": "corrected", "value": value}
        assert as_reviewer.patch(f"{path}fields/", save | {"base_version": version}, format="json").status_code == 200
    shown = as_reviewer.get(path).json()
    total = shown["fields"][2]
    assert (total["state"], total["sureness"], shown["n_left"], shown["why_you"]) == ("person", "", 0, [])
    assert [(one["version"], one["value"], one["author"]) for one in total["versions"]] == [
        (1, "9.10", "rui"),
        (2, "9.20", "rui"),
    ]
    assert total["edit"] == total["versions"][-1]


def test_sentences_are_in_the_language_asked_for(cast: Cast, as_reviewer: APIClient) -> None:
    task = factories.make_routed(cast.document_type).review_tasks.get()
    shown = as_reviewer.get(f"{TASKS}{task.pk}/", HTTP_ACCEPT_LANGUAGE="zh-hans").json()
    assert (shown["document_type_label"], shown["fields"][2]["label"]) == ("收据", "合计")
    assert shown["why_you"] == ["合计：识别把握不足"]


def test_a_repeated_group_comes_with_its_columns(cast: Cast, as_reviewer: APIClient) -> None:
    invoice = factories.make_document_type(cast.project, "invoice", INVOICE)
    plans = {"/line_items/0/amount": factories.FieldPlan(), "/line_items/0/description": factories.FieldPlan("Pens")}
    task = factories.make_routed(invoice, plans).review_tasks.get()
    shown = as_reviewer.get(f"{TASKS}{task.pk}/").json()
    (group,) = shown["groups"]
    assert (group["path"], group["label"]) == ("/line_items", "Line items")
    columns = [(one["path"], one["label"], one["value_type"], one["max_lines"]) for one in group["columns"]]
    assert columns == [("/description", "Description", "text", 3), ("/amount", "Amount", "amount", 1)]


def test_the_next_task_is_kept_ready_besides_the_one_at_hand(cast: Cast, as_reviewer: APIClient) -> None:
    tasks = [factories.make_routed(cast.document_type).review_tasks.get() for _ in range(2)]
    first = as_reviewer.post(f"{TASKS}lease/").json()
    ready = as_reviewer.post(f"{TASKS}lease/", {"besides": first["task"]["id"]}, format="json").json()
    assert [first["task"]["id"], ready["task"]["id"]] == [task.pk for task in tasks]
    assert ready["task"]["pages"]
    assert ready["lease_token"] != first["lease_token"]
    submit = {"lease_token": first["lease_token"], "verdicts": [{"field_path": "/total", "verdict": "confirmed"}]}
    assert as_reviewer.post(f"{TASKS}{tasks[0].pk}/submit/", submit, format="json").status_code == 200
    assert as_reviewer.post(f"{TASKS}lease/").json()["lease_token"] == ready["lease_token"]
    none = as_reviewer.post(f"{TASKS}lease/", {"besides": tasks[1].pk}, format="json").json()
    assert (none["task"], none["reason"]) == (None, "held_by_others")


def test_nothing_is_kept_ready_besides_a_task_one_does_not_hold(cast: Cast, as_reviewer: APIClient) -> None:
    task = factories.make_routed(cast.document_type).review_tasks.get()
    answer = as_reviewer.post(f"{TASKS}lease/", {"besides": task.pk}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")


@pytest.mark.parametrize("besides", [0, -1, "x", 1.5, 10**18, 999_999])
def test_besides_names_a_task_of_the_project(cast: Cast, as_reviewer: APIClient, besides: object) -> None:
    answer = as_reviewer.post(f"{TASKS}lease/", {"besides": besides}, format="json")
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == "/besides"


def test_besides_a_foreign_task_nothing_is_given(cast: Cast, as_reviewer: APIClient) -> None:
    foreign = factories.make_routed(cast.other_document_type).review_tasks.get()
    answer = as_reviewer.post(f"{TASKS}lease/", {"besides": foreign.pk}, format="json")
    assert answer.status_code == 400


def candidate(text: str, value: str | None, score: float) -> dict[str, Any]:
    """One of the places that may show a field, as runs keep them."""
    return {
        "text": text,
        "value": value,
        "page_number": 1,
        "bbox": [0.1, 0.2, 0.3, 0.4],
        "features": {"keyword_left": 1.0},
        "score": score,
    }


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


def test_a_task_one_skipped_is_not_offered_again(cast: Cast, as_reviewer: APIClient) -> None:
    factories.make_routed(cast.document_type)
    given = as_reviewer.post(f"{TASKS}lease/", {}, format="json").json()
    skip = {"lease_token": given["lease_token"], "reason": "I cannot read it."}
    assert as_reviewer.post(f"{TASKS}{given['task']['id']}/skip/", skip, format="json").status_code == 204
    again = as_reviewer.post(f"{TASKS}lease/", {}, format="json").json()
    assert (again["task"], again["reason"], again["queue"]["n_skipped"]) == (None, "skipped_by_you", 1)


def test_an_unfinished_task_comes_first_again_under_the_same_lease(cast: Cast, as_reviewer: APIClient) -> None:
    for _ in range(2):
        factories.make_routed(cast.document_type)
    first, second = (as_reviewer.post(f"{TASKS}lease/", {}, format="json").json() for _ in range(2))
    assert (first["task"]["id"], first["lease_token"]) == (second["task"]["id"], second["lease_token"])


def test_one_kind_of_task_can_be_asked_for(cast: Cast, as_reviewer: APIClient) -> None:
    factories.make_routed(cast.document_type)
    invoice = factories.make_routed(factories.make_document_type(cast.project, "invoice"))
    given = as_reviewer.post(f"{TASKS}lease/", {"document_type": "invoice"}, format="json").json()
    assert given["task"]["document"] == invoice.pk
    assert given["task"]["document_type"] == "invoice"


@pytest.mark.parametrize("slug", ["nothing", "a b", "", 7])
def test_a_kind_that_is_none_is_refused(cast: Cast, as_reviewer: APIClient, slug: object) -> None:
    answer = as_reviewer.post(f"{TASKS}lease/", {"document_type": slug}, format="json")
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["pointer"] == "/document_type"


def test_a_body_is_not_needed_to_take_the_next_task(cast: Cast, as_reviewer: APIClient) -> None:
    factories.make_routed(cast.document_type)
    assert as_reviewer.post(f"{TASKS}lease/").json()["lease_token"]


def test_the_queue_shows_who_holds_what(cast: Cast, as_reviewer: APIClient) -> None:
    document = factories.make_routed(cast.document_type, filename="a.jpg", priority=3)
    lease_next_task(actor=Actor(cast.manager), project=cast.project)
    (row,) = as_reviewer.get(TASKS).json()["results"]
    assert (row["document"], row["filename"], row["priority"]) == (document.pk, "a.jpg", 3)
    assert (row["state"], row["lease_holder"]) == ("open", "mia")
    assert row["lease_expires_at"] is not None


def test_one_particular_task_can_be_taken_but_not_from_somebody(cast: Cast, as_reviewer: APIClient) -> None:
    factories.make_routed(cast.document_type)
    wanted = factories.make_routed(cast.document_type).review_tasks.get()
    given = as_reviewer.post(f"{TASKS}{wanted.pk}/lease/").json()
    assert (given["task"]["id"], given["reason"]) == (wanted.pk, None)
    held = lease_next_task(actor=Actor(cast.manager), project=cast.project)
    assert held is not None
    answer = as_reviewer.post(f"{TASKS}{held.task.pk}/lease/")
    assert (answer.status_code, answer.json()["code"], answer.json()["holder"]) == (409, "task_held", "mia")


def test_a_task_of_another_project_is_not_found(cast: Cast, as_reviewer: APIClient) -> None:
    foreign = factories.make_routed(cast.other_document_type).review_tasks.get()
    for verb in ("", "lease/", "heartbeat/", "release/", "skip/", "submit/", "unusable/"):
        send = as_reviewer.get if verb == "" else as_reviewer.post
        assert send(f"{TASKS}{foreign.pk}/{verb}").status_code == 404


def test_taking_a_task_costs_as_many_queries_however_many_wait(cast: Cast, as_reviewer: APIClient) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            given = as_reviewer.post(f"{TASKS}lease/", {}, format="json").json()
        release = {"lease_token": given["lease_token"]}
        assert as_reviewer.post(f"{TASKS}{given['task']['id']}/release/", release, format="json").status_code == 204
        return len(queries)

    factories.make_routed(cast.document_type)
    as_reviewer.get(TASKS)
    with_one = n_queries()
    for _ in range(40):
        factories.make_routed(cast.document_type)
    assert n_queries() == with_one <= 20


@pytest.mark.parametrize("n_fields", [1, 40])
def test_a_task_costs_as_many_queries_however_many_fields_it_has(
    cast: Cast, as_reviewer: APIClient, n_fields: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    plans = {f"/extra{number}": factories.FieldPlan() for number in range(n_fields)}
    task = factories.make_routed(cast.document_type, plans).review_tasks.get()
    as_reviewer.get(TASKS)
    with django_assert_num_queries(11):
        assert as_reviewer.get(f"{TASKS}{task.pk}/").status_code == 200
