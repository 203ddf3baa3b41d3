"""Having a part of a page read again, and reporting time, through the API."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from review.actions.regions import claim_region, record_region_read
from review.models import RegionReading, TimeSpent
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast

TASKS = "/api/v1/projects/receipts/review-tasks/"
ASKED: dict[str, Any] = {"page_number": 1, "bbox": [0.1, 0.2, 0.5, 0.25], "field_path": "/total"}


@pytest.fixture
def path(cast: Cast, as_reviewer: APIClient) -> str:
    """The address of a task that the reviewer holds."""
    factories.make_routed(cast.document_type)
    given = as_reviewer.post(f"{TASKS}lease/").json()
    return f"{TASKS}{given['task']['id']}/"


def test_a_region_goes_from_queued_to_done(path: str, as_reviewer: APIClient) -> None:
    answer = as_reviewer.post(f"{path}regions/", ASKED, format="json")
    assert answer.status_code == 201
    region = answer.json()
    assert region == {
        "id": region["id"],
        "page_number": 1,
        "bbox": [0.1, 0.2, 0.5, 0.25],
        "field_path": "/total",
        "state": "queued",
        "text": None,
        "value": None,
        "error_code": "",
    }
    assert as_reviewer.get(f"{path}regions/{region['id']}/").json() == region
    claim = claim_region(region_id=region["id"])
    assert claim is not None
    assert as_reviewer.get(f"{path}regions/{region['id']}/").json()["state"] == "reading"
    record_region_read(actor=SYSTEM, claim=claim, text="RM 9.00", value="9.00")
    read = as_reviewer.get(f"{path}regions/{region['id']}/").json()
    assert (read["state"], read["text"], read["value"]) == ("done", "RM 9.00", "9.00")


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({"bbox": [0.1, 0.2, 0.5]}, "/bbox"),
        ({"bbox": [0.5, 0.2, 0.5, 0.3]}, "/bbox"),
        ({"bbox": [0.1, 0.3, 0.5, 0.2]}, "/bbox"),
        ({"bbox": [0.1, 0.2, 0.5, 1.2]}, "/bbox/3"),
        ({"bbox": None}, "/bbox"),
        ({"page_number": 7}, "/page_number"),
        ({"page_number": 0}, "/page_number"),
        ({"field_path": "/nothing"}, "/field_path"),
        ({"lease_token": "x"}, "/lease_token"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    path: str, as_reviewer: APIClient, values: dict[str, Any], pointer: str
) -> None:
    answer = as_reviewer.post(f"{path}regions/", ASKED | values, format="json")
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json()["problems"]] == [pointer]
    assert not RegionReading.objects.exists()


def test_the_same_key_asks_once(path: str, as_reviewer: APIClient) -> None:
    ids = {
        as_reviewer.post(f"{path}regions/", ASKED, format="json", HTTP_IDEMPOTENCY_KEY="k").json()["id"]
        for _ in range(2)
    }
    assert len(ids) == RegionReading.objects.count() == 1


def test_who_does_not_hold_the_task_asks_for_nothing(path: str, as_manager: APIClient) -> None:
    answer = as_manager.post(f"{path}regions/", ASKED, format="json")
    assert (answer.status_code, answer.json()["code"], answer.json()["holder"]) == (409, "lease_lost", "rui")


def test_a_region_belongs_to_its_task(cast: Cast, path: str, as_reviewer: APIClient) -> None:
    region = as_reviewer.post(f"{path}regions/", ASKED, format="json").json()
    other = factories.make_routed(cast.document_type).review_tasks.get()
    assert as_reviewer.get(f"{TASKS}{other.pk}/regions/{region['id']}/").status_code == 404
    assert as_reviewer.get(f"{path}regions/999999/").status_code == 404


def test_strangers_and_viewers_see_no_region(path: str, as_reviewer: APIClient, as_viewer: APIClient) -> None:
    region = as_reviewer.post(f"{path}regions/", ASKED, format="json").json()
    assert as_viewer.get(f"{path}regions/{region['id']}/").status_code == 403
    assert as_viewer.post(f"{path}regions/", ASKED, format="json").status_code == 403


def test_time_is_kept_once_a_report(path: str, as_reviewer: APIClient) -> None:
    report = {
        "client_key": "6b1f-1",
        "entries": [{"field_path": "", "seconds": 12.4}, {"field_path": "/total", "seconds": 4.1}],
    }
    for _ in range(2):
        assert as_reviewer.post(f"{path}time/", report, format="json").status_code == 204
    kept = dict(TimeSpent.objects.values_list("field_path", "seconds"))
    assert kept == {"": 12.4, "/total": 4.1}


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"client_key": "", "entries": []},
        {"client_key": "a b", "entries": []},
        {"client_key": "x" * 41, "entries": []},
        {"client_key": "a", "entries": [{"field_path": "", "seconds": -1}]},
        {"client_key": "a", "entries": [{"field_path": "", "seconds": 3601}]},
        {"client_key": "a", "entries": [{"field_path": "/nothing", "seconds": 1}]},
        {"client_key": "a", "entries": [{"seconds": 1}]},
        {"client_key": "a", "entries": [{"field_path": "", "seconds": 1}] * 201},
        {"client_key": "a", "entries": "x"},
    ],
)
def test_reports_that_make_no_sense_are_refused(path: str, as_reviewer: APIClient, report: dict[str, Any]) -> None:
    answer = as_reviewer.post(f"{path}time/", report, format="json")
    assert answer.status_code == 400
    assert answer.json()["problems"]
    assert not TimeSpent.objects.exists()


def test_time_on_somebody_elses_task_is_not_kept(path: str, as_manager: APIClient) -> None:
    report = {"client_key": "a", "entries": [{"field_path": "", "seconds": 1}]}
    assert as_manager.post(f"{path}time/", report, format="json").status_code == 409
