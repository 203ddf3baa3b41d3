"""Trainings through the API."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from review.models import ModelKind, TrainingRun
from tests import factories
from tests.conftest import Cast
from tests.review.trainings import CALIBRATED, trained

RUNS = "/api/v1/projects/receipts/training-runs/"


def post(client: APIClient, path: str = "", **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(f"{RUNS}{path}", body, format="json")
    return answer.status_code, answer.json()


def test_a_training_is_started_listed_and_cancelled(cast: Cast, as_manager: APIClient) -> None:
    factories.make_routed(cast.document_type)
    status, run = post(as_manager, kind="calibrator", document_type="receipt", seed=3)
    assert (status, run["kind"], run["document_type"], run["state"]) == (201, "calibrator", "receipt", "queued")
    assert (run["requested_by"], run["sha256"]) == ("mia", None)
    assert run["engine_version"] == factories.make_engine_version().digest
    assert TrainingRun.objects.get().seed == 3
    assert as_manager.get(RUNS).json()["results"] == [run]
    assert post(as_manager, kind="calibrator", document_type="receipt")[0] == 409
    for _ in range(2):
        status, run = post(as_manager, f"{run['id']}/cancel/")
        assert (status, run["state"]) == (200, "cancelled")
    TrainingRun.objects.update(state="done")
    assert post(as_manager, f"{run['id']}/cancel/")[0] == 409


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/kind"),
        ({"kind": "oracle"}, "/kind"),
        ({"kind": "locator"}, "/document_type"),
        ({"kind": "locator", "document_type": "nothing"}, "/document_type"),
        ({"kind": "classifier", "document_type": "receipt"}, "/document_type"),
        ({"kind": "classifier", "seed": -1}, "/seed"),
    ],
)
def test_a_training_that_cannot_be_is_refused_with_its_place(
    cast: Cast, as_manager: APIClient, body: dict[str, Any], pointer: str
) -> None:
    status, problem = post(as_manager, **body)
    assert (status, [one["pointer"] for one in problem["problems"]]) == (400, [pointer])


def test_what_was_never_read_cannot_be_learned_from(cast: Cast, as_manager: APIClient) -> None:
    status, problem = post(as_manager, kind="locator", document_type="receipt")
    assert (status, problem["code"]) == (409, "nothing_read")


def test_a_training_of_another_project_is_not_found(cast: Cast, as_manager: APIClient) -> None:
    other = TrainingRun.objects.create(
        project=cast.other_project, document_type=cast.other_document_type, kind=ModelKind.LOCATOR
    )
    assert post(as_manager, f"{other.pk}/cancel/")[0] == 404


def test_the_list_costs_the_same_queries_for_more_trainings(
    cast: Cast, as_manager: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    trained(cast, ModelKind.CALIBRATOR, CALIBRATED)
    as_manager.get(RUNS)
    with CaptureQueriesContext(connection) as few:
        (one,) = as_manager.get(RUNS).json()["results"]
    assert one["metrics"] == CALIBRATED
    n_queries = len(few)
    for _ in range(3):
        trained(cast, ModelKind.CALIBRATOR, CALIBRATED)
    with django_assert_num_queries(n_queries):
        as_manager.get(RUNS)
