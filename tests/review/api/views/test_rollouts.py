"""Roll-outs through the API: started, watched, promoted through the gate, rolled back."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from review.models import Rollout, RolloutStage
from review.tasks_models import forget_models
from tests.conftest import Cast
from tests.factories import make_engine_version
from tests.review.conftest import Script
from tests.review.queueing import work_off
from tests.review.rollout_room import TWO_AMOUNTS, as_good, champion, freeze, rolled_out, send, worse

pytestmark = pytest.mark.django_db

ROLLOUTS = "/api/v1/projects/receipts/document-types/receipt/rollouts/"


@pytest.fixture(autouse=True)
def _reading(script: Script, cast: Cast) -> None:
    forget_models()
    script(default={"words": TWO_AMOUNTS})
    send(cast, "read before")


def post(client: APIClient, path: str = "", **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(f"{ROLLOUTS}{path}", body, format="json")
    return answer.status_code, answer.json()


def test_a_roll_out_goes_the_whole_way_and_back(cast: Cast, as_manager: APIClient, tmp_path: Path) -> None:
    freeze(cast, tmp_path / "set")
    version = as_good(cast)
    status, made = post(as_manager, engine_version=version.digest[:12], shadow_share=1)
    assert (status, made["stage"], made["shadow_share"], made["started_by"]) == (201, "shadow", 1.0, "mia")
    assert made["engine_version"] == {"id": version.pk, "name": version.name, "digest": version.digest}
    assert made["champion"]["id"] == champion().pk
    work_off()
    for stage in ("canary", "live"):
        status, moved = post(as_manager, f"{made['id']}/promote/")
        assert (status, moved["stage"]) == (200, stage)
    status, body = post(as_manager, f"{made['id']}/promote/")
    assert (status, body["code"]) == (409, "no_next_stage")
    status, ended = post(as_manager, f"{made['id']}/roll-back/", reason="totals look wrong")
    assert (status, ended["stage"], ended["ended_because"]) == (200, "retired", "totals look wrong")
    assert [one["id"] for one in as_manager.get(ROLLOUTS).json()["results"]] == [made["id"]]


def test_what_it_has_shown_is_told_field_by_field_with_the_gate(
    cast: Cast, as_manager: APIClient, tmp_path: Path
) -> None:
    freeze(cast, tmp_path / "set", n=3)
    _status, made = post(as_manager, engine_version=str(worse(cast).pk), shadow_share=1, disagreement_share=0)
    work_off()
    send(cast, "differs")
    found = as_manager.get(f"{ROLLOUTS}{made['id']}/").json()
    assert found["counts"] == {"n_compared": 1, "n_waiting": 0, "n_failed": 0, "n_for_real": 0}
    total = next(one for one in found["agreement"] if one["field_path"] == "/total")
    assert (total["n"], total["agreement"], total["n_challenger_right"]) == (1, 0.0, 0)
    gate = found["gate"]
    assert (gate["is_open"], gate["refusal"], gate["regression_set"]) == (False, "falls", "test v1")
    assert "total" in gate["message"]
    assert gate["comparison"]["fields"]["/total"]["n_lost"] == 3
    status, body = post(as_manager, f"{made['id']}/promote/")
    assert (status, body["code"]) == (409, "falls")


def test_one_that_is_live_or_has_ended_has_no_gate(cast: Cast, as_manager: APIClient) -> None:
    rollout = rolled_out(cast, as_good(cast), RolloutStage.LIVE)
    assert as_manager.get(f"{ROLLOUTS}{rollout.pk}/").json()["gate"] is None


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/engine_version"),
        ({"engine_version": "ffffffff"}, "/engine_version"),
        ({"engine_version": "7"}, "/engine_version"),
        ({"engine_version": None}, "/engine_version"),
        ({"engine_version": "x" * 65}, "/engine_version"),
    ],
)
def test_an_unknown_version_is_refused_at_its_place(
    cast: Cast, as_manager: APIClient, body: dict[str, Any], pointer: str
) -> None:
    status, said = post(as_manager, **body)
    assert (status, said["problems"][0]["pointer"]) == (400, pointer)
    assert not Rollout.objects.exists()


@pytest.mark.parametrize("share", [-0.1, 1.5, "many", None])
def test_a_share_that_is_none_is_refused(cast: Cast, as_manager: APIClient, share: object) -> None:
    status, said = post(as_manager, engine_version=str(as_good(cast).pk), canary_share=share)
    assert (status, said["problems"][0]["pointer"]) == (400, "/canary_share")


def test_the_version_of_an_ocr_engine_and_who_reads_already_are_as_if_unknown(
    cast: Cast, as_manager: APIClient
) -> None:
    rolled_out(cast, as_good(cast), RolloutStage.LIVE)
    for version in (make_engine_version("rapidocr"), as_good(cast)):
        assert post(as_manager, engine_version=str(version.pk))[0] == 400


def test_a_second_one_on_its_way_is_a_conflict(cast: Cast, as_manager: APIClient) -> None:
    assert post(as_manager, engine_version=str(as_good(cast).pk))[0] == 201
    assert post(as_manager, engine_version=str(worse(cast).pk))[0] == 409


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}])
def test_rolling_back_needs_a_reason(cast: Cast, as_manager: APIClient, body: dict[str, Any]) -> None:
    rollout = rolled_out(cast, worse(cast))
    status, said = post(as_manager, f"{rollout.pk}/roll-back/", **body)
    assert (status, said["problems"][0]["pointer"]) == (400, "/reason")


def test_what_is_not_there_is_not_found(cast: Cast, as_manager: APIClient) -> None:
    assert as_manager.get(f"{ROLLOUTS}999999/").status_code == 404
    assert as_manager.get(ROLLOUTS.replace("/receipt/", "/nothing/")).status_code == 404


def test_the_figures_cost_the_same_with_one_document_and_with_many(cast: Cast, as_manager: APIClient) -> None:
    rollout = rolled_out(cast, worse(cast), disagreement_share=0.0)

    def n_queries(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert as_manager.get(f"{ROLLOUTS}{path}").status_code == 200
        return len(queries)

    send(cast, "first")
    n_queries(f"{rollout.pk}/")
    one = n_queries(f"{rollout.pk}/")
    for number in range(3):
        send(cast, f"more {number}")
    assert n_queries(f"{rollout.pk}/") == one
    with_one = n_queries("")
    for weight in (2.0, 3.0):
        rolled_out(cast, as_good(cast, weight), RolloutStage.RETIRED)
    assert n_queries("") == with_one
