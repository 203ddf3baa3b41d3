"""Rows of the API. A foreign project and a missing one look alike: 404."""

from collections.abc import Mapping
from typing import Any

from review.selectors.exports import sign_download
from tests import factories
from tests.access_matrix.rows import Row, Values
from tests.access_matrix.world import LEASE_TOKEN, World

Statuses = tuple[int, int, int, int, int, int]

READERS: Statuses = (401, 404, 200, 200, 200, 200)


def reviewers(allowed: int = 200) -> Statuses:
    return (401, 404, 403, allowed, allowed, allowed)


def managers(allowed: int = 200) -> Statuses:
    return (401, 404, 403, 403, allowed, allowed)


def admins(allowed: int = 200) -> Statuses:
    return (401, 404, 403, 403, 403, allowed)


EVERYBODY: Statuses = (200,) * 6


def in_project(world: World) -> Mapping[str, Any]:
    return {"project": world.project}


def of_document(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "id": world.document.pk}


def of_page(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "id": world.document.pk, "number": 1}


def of_task(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "id": world.task.pk}


def of_held_task(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "id": world.held_task.pk}


def of_rollout(world: World) -> Mapping[str, Any]:
    return {**of_type(world), "id": world.rollout.pk}


def of_type(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "document_type": "receipt"}


def of_target(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "document_type": world.target.document_type.slug}


def of_stopped(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "document_type": world.stopped.document_type.slug}


def of_taken_snapshot(world: World) -> Mapping[str, Any]:
    return {"project": world.project, "id": world.taken_snapshot.pk}


def body(**values: object) -> Values:
    return lambda world: values


HELD = {"lease_token": LEASE_TOKEN}

ROWS: list[Row] = [
    Row("api:schema", "GET", EVERYBODY),
    # Everybody who is somebody has a list of projects of their own.
    Row("api:projects", "GET", (401, 200, 200, 200, 200, 200)),
    Row("api:documents", "GET", READERS, in_project),
    Row(
        "api:documents",
        "POST",
        reviewers(201),
        in_project,
        lambda world: {"document_type": "receipt", "file": world.upload()},
        content_format="multipart",
    ),
    Row("api:document", "GET", READERS, of_document),
    Row("api:document_original", "GET", READERS, of_document),
    Row("api:page_image", "GET", READERS, of_page),
    Row("api:page_words", "GET", READERS, of_page),
    Row("api:page_crop", "GET", READERS, of_page, query="?bbox=0,0,0.5,1"),
    Row("api:document_records", "GET", READERS, of_document),
    Row("api:document_rerun", "POST", managers(202), of_document),
    Row("api:document_type_of", "POST", managers(202), of_document, body(document_type="receipt")),
    Row("api:records", "GET", READERS, in_project),
    Row("api:record", "GET", READERS, lambda world: {"project": world.project, "id": world.record.pk}),
    Row("api:review_tasks", "GET", reviewers(), in_project),
    Row("api:lease_next", "POST", reviewers(), in_project),
    Row("api:review_task", "GET", reviewers(), of_task),
    Row("api:lease_task", "POST", reviewers(), of_task),
    Row("api:heartbeat", "POST", reviewers(), of_held_task, body(**HELD)),
    Row("api:release", "POST", reviewers(204), of_held_task, body(**HELD)),
    Row("api:release", "POST", managers(204), of_task),
    Row("api:skip", "POST", reviewers(204), of_held_task, body(**HELD, reason="blurred")),
    Row("api:unusable", "POST", reviewers(204), of_held_task, body(**HELD, reason="blank")),
    Row(
        "api:save_field",
        "PATCH",
        reviewers(),
        of_held_task,
        body(**HELD, field_path="/total", verdict="confirmed", base_version=0),
    ),
    Row(
        "api:submit",
        "POST",
        reviewers(),
        of_held_task,
        body(**HELD, verdicts=[{"field_path": "/total", "verdict": "confirmed"}]),
    ),
    Row(
        "api:regions",
        "POST",
        reviewers(201),
        of_held_task,
        body(page_number=1, bbox=[0.1, 0.1, 0.5, 0.2], field_path="/total"),
    ),
    Row("api:region", "GET", reviewers(), lambda world: {**of_held_task(world), "number": world.region.pk}),
    Row(
        "api:report_time",
        "POST",
        reviewers(204),
        of_held_task,
        body(client_key="1", entries=[{"field_path": "/total", "seconds": 4.5}]),
    ),
    Row("api:accuracy", "GET", managers(), in_project),
    Row("api:exports", "GET", managers(), in_project),
    Row("api:exports", "POST", managers(201), in_project, body(format="jsonl")),
    Row("api:export", "GET", managers(), lambda world: {"project": world.project, "id": world.export.pk}),
    Row("api:export", "DELETE", managers(204), lambda world: {"project": world.project, "id": world.export.pk}),
    Row("api:snapshots", "GET", managers(), in_project),
    Row("api:snapshots", "POST", managers(201), in_project, body(holding="reviewed")),
    Row("api:snapshot", "GET", managers(), lambda world: {"project": world.project, "id": world.snapshot.pk}),
    Row("api:snapshot", "DELETE", managers(204), lambda world: {"project": world.project, "id": world.snapshot.pk}),
    Row("api:snapshot_exports", "GET", managers(), of_taken_snapshot),
    Row("api:snapshot_exports", "POST", managers(201), of_taken_snapshot, body(format="coco")),
    # The signature is the credential.
    Row("api:export_download", "GET", EVERYBODY, lambda world: {"token": sign_download(world.finished_export)}),
    Row("api:document_types", "GET", READERS, in_project),
    Row("api:document_types", "POST", managers(201), in_project, body(slug="invoice", schema=factories.SCHEMA)),
    Row("api:document_type", "GET", READERS, of_type),
    Row("api:schema_versions", "GET", READERS, of_type),
    Row("api:schema_versions", "POST", managers(201), of_type, body(schema=factories.SCHEMA)),
    Row("api:policies", "GET", READERS, of_type),
    Row("api:policies", "POST", managers(201), of_type, body(rules=factories.RULES)),
    Row("api:activate_policy", "POST", managers(), lambda world: {**of_type(world), "number": world.draft.number}),
    Row("api:targets", "GET", managers(), of_type),
    Row("api:targets", "POST", managers(), of_type, body(field_path="/total", wrong_share=0.01)),
    Row("api:remove_target", "POST", managers(), of_target, body(field_path="/total")),
    Row("api:draft_from_targets", "POST", managers(201), of_target),
    Row("api:resume_field", "POST", managers(), of_stopped, body(field_path="/total")),
    Row("api:rollouts", "GET", managers(), of_type),
    Row("api:rollouts", "POST", managers(201), of_type, lambda world: {"engine_version": str(world.challenger.pk)}),
    Row("api:rollout", "GET", managers(), of_rollout),
    Row("api:promote_rollout", "POST", managers(), of_rollout),
    Row("api:roll_back", "POST", managers(), of_rollout, body(reason="not now")),
    Row("api:training_runs", "GET", managers(), in_project),
    Row("api:training_runs", "POST", managers(201), in_project, body(kind="classifier")),
    Row("api:cancel_training", "POST", managers(), lambda world: {"project": world.project, "id": world.training.pk}),
    Row("api:reviewers", "GET", managers(), in_project),
    Row("api:reviewers", "PATCH", managers(), in_project, body(second_review_share=0.05)),
    Row("api:members", "GET", READERS, in_project),
    Row("api:tokens", "GET", admins(), in_project),
    Row("api:tokens", "POST", admins(201), in_project, body(username="vik", role="viewer")),
    Row("api:token", "DELETE", admins(204), lambda world: {"project": world.project, "id": world.token.pk}),
    Row("healthz", "GET", EVERYBODY),
    # No worker runs in this test, so that is what everybody is told.
    Row("readyz", "GET", (503,) * 6),
    Row("metrics", "GET", EVERYBODY),
    Row("unknown_api_path", "GET", (404,) * 6),
]
