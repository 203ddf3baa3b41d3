"""The OpenAPI document is sound, says what matters, and holds: fuzzed in process, without a 5xx."""

import json
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from random import Random
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import randoms
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from review.actions.tenancy import create_token
from review.api.views.schema import JSON
from review.api.views.schema import document as schema_document
from review.models import Role
from review.selectors.access import SYSTEM
from review.selectors.exports import sign_download
from tests.access_matrix.world import LEASE_TOKEN, World
from tests.conftest import Cast
from tests.factories import SCHEMA

Operation = dict[str, Any]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get("/api/v1/schema/").content)
    return found


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, Operation]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_the_document_is_valid_and_nothing_in_it_is_guessed() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=StringIO())


def test_every_operation_has_a_name_of_its_own_a_tag_and_a_summary(document: dict[str, Any]) -> None:
    found = list(operations(document))
    assert len(found) > 30
    assert len({operation["operationId"] for _, operation in found}) == len(found)
    assert [name for name, operation in found if not (operation["tags"] and operation["summary"])] == []


def test_every_operation_says_that_errors_are_problems(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            if status == "default" or int(status) >= 400:
                assert list(response["content"]) == ["application/problem+json"], (name, status)
                reference = response["content"]["application/problem+json"]["schema"]["$ref"]
                assert reference == "#/components/schemas/Problem", (name, status)


def test_every_operation_but_the_signed_download_needs_a_token_or_a_session(document: dict[str, Any]) -> None:
    assert set(document["components"]["securitySchemes"]) == {"apiToken", "session"}
    without = [
        name for name, operation in operations(document) if {"apiToken": []} not in operation.get("security", [])
    ]
    assert without == ["GET /api/v1/exports/download/{token}/"]


def test_every_post_that_creates_takes_an_idempotency_key(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        creates = bool({"201", "202"} & set(operation["responses"]))
        headers = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "header"]
        assert ("Idempotency-Key" in headers) is creates, name


def test_every_list_is_paged_by_a_cursor(document: dict[str, Any]) -> None:
    lists = [(name, found) for name, found in operations(document) if found["operationId"].endswith("_list")]
    assert len(lists) >= 9
    for name, operation in lists:
        queries = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"}
        assert {"cursor", "page_size"} <= queries, name


@pytest.mark.parametrize(
    "operation_id",
    ["documents_create", "records_list", "review_tasks_save_field", "review_tasks_submit", "exports_create"],
)
def test_the_main_operations_have_examples(document: dict[str, Any], operation_id: str) -> None:
    operation = next(found for _, found in operations(document) if found["operationId"] == operation_id)
    assert '"examples"' in json.dumps(operation)


def test_the_paths_are_those_that_programs_were_promised(document: dict[str, Any]) -> None:
    promised = {
        "documents/": {"get", "post"},
        "documents/{id}/": {"get"},
        "records/": {"get"},
        "review-tasks/lease/": {"post"},
        **{f"review-tasks/{{id}}/{verb}/": {"post"} for verb in ("heartbeat", "release", "skip", "submit")},
        "review-tasks/{id}/fields/": {"patch"},
        "accuracy/": {"get"},
        "exports/": {"get", "post"},
    }
    for path, methods in promised.items():
        assert set(document["paths"][f"/api/v1/projects/{{project}}/{path}"]) >= methods


API = schemathesis.openapi.from_dict(json.loads(schema_document(JSON)))
OPERATIONS = {
    found.ok().definition.raw["operationId"]: found.ok() for found in API.get_all_operations() if isinstance(found, Ok)
}
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
N_EXAMPLES = 12


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """Keep the test's connection open from request to request, as Django's own test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def closing(app: WSGIHandler) -> Callable[..., list[bytes]]:
    """Close each response, which servers do and the fuzzer's client does not."""

    def answer(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        response = app(environ, start_response)
        try:
            return [b"".join(response)]
        finally:
            response.close()

    return answer


def aim(case: Case[Any], world: World, random: Random) -> None:
    """Point most cases at things that exist and are held, or the fuzz would end at the access door."""
    real = {
        "project": world.project,
        "document_type": "receipt",
        "number": world.region.pk if "/regions/" in case.path else 1,
        "token": sign_download(world.finished_export),
        "id": {
            "documents": world.document.pk,
            "records": world.record.pk,
            # A document whose task is held is not read again.
            "review-tasks": world.task.pk if case.path.endswith("rerun/") else world.held_task.pk,
            "exports": world.export.pk,
            "training-runs": world.training.pk,
            # While one is on its way no other can be started.
            "rollouts": world.rollout.pk if "/rollouts/{id}" in case.path else None,
            "snapshots": (world.taken_snapshot if "/exports/" in case.path else world.snapshot).pk,
            "tokens": world.token.pk,
        }.get(case.path.split("/{id}")[0].rpartition("/")[2]),
    }
    for name in case.path_parameters:
        if random.random() < 0.9:
            case.path_parameters[name] = real[name]
    if case.query and "bbox" in case.query and random.random() < 0.7:
        case.query["bbox"] = "0.1,0.1,0.5,0.5"
    if isinstance(case.body, dict):
        if "/rollouts/" in case.path and random.random() < 0.9:
            case.body |= {"engine_version": str(world.challenger.pk)} if "engine_version" in case.body else {}
        aim_body(case.body, random)


def aim_body(body: dict[str, Any], random: Random) -> None:
    """Name things that exist in most bodies."""
    likely: dict[str, tuple[float, Any]] = {
        "lease_token": (0.9, LEASE_TOKEN),
        "document_type": (0.7, "receipt"),
        "username": (1.0, "vik"),
        "format": (0.5, "csv"),
        "field_path": (0.7, "/total"),
        "page_number": (0.9, 1),
        "bbox": (0.7, [0.1, 0.1, 0.5, 0.2]),
    }
    for name, (share, value) in likely.items():
        if name in body and random.random() < share:
            body[name] = value
    for entry in body.get("entries", ()) if isinstance(body.get("entries"), list) else ():
        if isinstance(entry, dict) and random.random() < 0.9:
            entry["field_path"] = "/total"
    if body.get("kind") == "classifier" and random.random() < 0.9:
        # Of all types, so of none in particular.
        body.pop("document_type", None)
    if "schema" in body and random.random() < 0.5:
        body |= {"slug": "invoice", "schema": SCHEMA} if "slug" in body else {"schema": SCHEMA}


@pytest.mark.usefixtures("_one_connection")
@pytest.mark.parametrize(
    ("operation_id", "mode"),
    # Any text may be a signed link: nothing that the document refuses can be made.
    [
        (name, mode)
        for name in OPERATIONS
        for mode in GenerationMode
        if (name, mode.value) != ("exports_download", "negative")
    ],
)
def test_no_request_ends_in_a_server_error_or_an_answer_that_the_document_does_not_know(
    operation_id: str, mode: GenerationMode, cast: Cast
) -> None:
    operation = OPERATIONS[operation_id]
    world = World(cast, cast.admin)
    secret = create_token(actor=SYSTEM, project=cast.project, user=cast.admin, role=Role.ADMIN).secret
    app = closing(get_wsgi_application())
    # What no body makes: a target to give up or to draft from, a field to turn on.
    prepared = {
        "targets_draft_policy": "target",
        "targets_remove": "target",
        "targets_resume": "stopped",
        "training_runs_create": "document",
    }
    if operation_id in prepared:
        getattr(world, prepared[operation_id])

    statuses: list[int] = []

    @given(case=operation.as_strategy(generation_mode=mode), random=randoms(use_true_random=False))
    @settings(
        max_examples=N_EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def fuzz(case: Case[Any], random: Random) -> None:
        aim(case, world, random)
        response = case.call(app=app, headers={"Authorization": f"Bearer {secret}"})
        statuses.append(response.status_code)
        case.validate_response(response, checks=list(CHECKS))

    fuzz()
    if mode is GenerationMode.POSITIVE:
        assert any(status < 300 for status in statuses), statuses
