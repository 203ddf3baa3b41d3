"""Targets through the API."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from review.models import FieldMonitor
from tests.conftest import Cast
from tests.review.targets_room import examine, promise, set_audits

TARGETS = "/api/v1/projects/receipts/document-types/receipt/targets/"


def post(client: APIClient, path: str = "", **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(f"{TARGETS}{path}", body, format="json")
    return answer.status_code, answer.json()


def test_a_target_is_set_listed_and_removed(cast: Cast, as_manager: APIClient) -> None:
    status, body = post(as_manager, field_path="/total", wrong_share=0.01)
    assert status == 200
    (target,) = body["results"]
    assert (target["field_path"], target["wrong_share"], target["confidence"]) == ("/total", 0.01, 0.95)
    assert (target["set_by"], target["most_per_document"], target["certificate"]) == ("mia", 1, None)
    assert (target["monitor"]["n_documents"], target["monitor"]["tripped_at"]) == (0, None)
    assert as_manager.get(TARGETS).json() == body
    assert post(as_manager, "remove/", field_path="/total") == (200, {"results": []})
    assert post(as_manager, "remove/", field_path="/total")[0] == 404


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"wrong_share": 0.01}, "/field_path"),
        ({"field_path": "/nothing", "wrong_share": 0.01}, "/field_path"),
        ({"field_path": "/total", "wrong_share": 0.5}, "/wrong_share"),
        ({"field_path": "/total", "wrong_share": "often"}, "/wrong_share"),
        ({"field_path": "/total", "wrong_share": 0.01, "confidence": 1}, "/confidence"),
        ({"field_path": "/total", "wrong_share": 0.01, "most_per_document": 0}, "/most_per_document"),
        ({"field_path": "/total", "wrong_share": 0.01, "typo": 1}, "/typo"),
    ],
)
def test_a_target_that_cannot_be_is_refused_with_its_place(
    cast: Cast, as_manager: APIClient, body: dict[str, Any], pointer: str
) -> None:
    status, problem = post(as_manager, **body)
    assert (status, [one["pointer"] for one in problem["problems"]]) == (400, [pointer])


def test_a_policy_is_drafted_from_targets_with_its_certificates(cast: Cast, as_manager: APIClient) -> None:
    assert post(as_manager, "draft/")[0] == 409
    set_audits(cast.document_type)
    promise(cast.document_type, cast.manager, 0.05)
    examine(cast.document_type, [(0.97, True)] * 140)
    status, policy = post(as_manager, "draft/")
    assert (status, policy["number"], policy["state"]) == (201, 2, "draft")
    (certificate,) = policy["certificates"]
    assert (certificate["field_path"], certificate["threshold"], certificate["n_stored"]) == ("/total", 0.97, 140)
    (target,) = as_manager.get(TARGETS).json()["results"]
    assert target["certificate"] == certificate
    listed = as_manager.get(TARGETS.replace("targets", "policies")).json()["results"]
    assert [len(one["certificates"]) for one in listed] == [1, 0]


def test_a_stopped_field_is_turned_on_again_once(cast: Cast, as_manager: APIClient) -> None:
    promise(cast.document_type, cast.manager)
    assert post(as_manager, "resume/", field_path="/total")[0] == 404
    FieldMonitor.objects.update(tripped_at=timezone.now())
    assert post(as_manager, "remove/", field_path="/total")[0] == 409
    status, body = post(as_manager, "resume/", field_path="/total")
    assert (status, body["results"][0]["monitor"]["tripped_at"]) == (200, None)
    assert post(as_manager, "resume/", field_path="/total")[0] == 404


def test_a_type_of_another_project_is_not_found(cast: Cast, as_manager: APIClient) -> None:
    cast.other_document_type.slug = "secret"
    cast.other_document_type.save()
    assert as_manager.get(TARGETS.replace("receipt/", "secret/")).status_code == 404


def test_the_list_costs_the_same_queries_for_more_targets(
    cast: Cast, as_manager: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    promise(cast.document_type, cast.manager)
    as_manager.get(TARGETS)
    with CaptureQueriesContext(connection) as few:
        as_manager.get(TARGETS)
    n_queries = len(few)
    for path in ("/date", "/company"):
        promise(cast.document_type, cast.manager, 0.02, path)
    with django_assert_num_queries(n_queries):
        as_manager.get(TARGETS)
