"""Rows of the pages. Nobody is sent to sign in (302); a foreign project and a missing one look alike: 404."""

from collections.abc import Mapping
from typing import Any

from tests.access_matrix.api import Statuses, body
from tests.access_matrix.rows import Row
from tests.access_matrix.world import World

READERS: Statuses = (302, 404, 200, 200, 200, 200)
EVERYBODY: Statuses = (200,) * 6
SENT_ON: Statuses = (302,) * 6


def reviewers(allowed: int) -> Statuses:
    return (302, 404, 403, allowed, allowed, allowed)


def managers(allowed: int = 200) -> Statuses:
    return (302, 404, 403, 403, allowed, allowed)


def admins(allowed: int = 200) -> Statuses:
    return (302, 404, 403, 403, 403, allowed)


def in_project(world: World) -> Mapping[str, Any]:
    return {"slug": world.project}


def of_type(world: World) -> Mapping[str, Any]:
    return {"slug": world.project, "type_slug": "receipt"}


def of_rollout(world: World) -> Mapping[str, Any]:
    return {**of_type(world), "rollout_id": world.rollout.pk}


def of_document(world: World) -> Mapping[str, Any]:
    return {"slug": world.project, "document_id": world.document.pk}


def of_target(world: World) -> Mapping[str, Any]:
    return {"slug": world.project, "type_slug": world.target.document_type.slug}


def of_stopped(world: World) -> Mapping[str, Any]:
    return {"slug": world.project, "type_slug": world.stopped.document_type.slug}


def of_taken_snapshot(world: World) -> Mapping[str, Any]:
    return {"slug": world.project, "snapshot_id": world.taken_snapshot.pk}


ROWS: list[Row] = [
    Row("home", "GET", SENT_ON),
    Row("sign_in", "GET", (200, 302, 302, 302, 302, 302)),
    Row(
        "sign_in",
        "POST",
        (200, 302, 302, 302, 302, 302),
        data=body(username="vik", password="wrong"),
        content_format="multipart",
    ),
    Row("sign_in", "PUT", (200, 302, 302, 302, 302, 302)),
    Row("sign_out", "POST", SENT_ON),
    Row("choose_language", "POST", SENT_ON, data=body(language="zh-hans"), content_format="multipart"),
    Row("choose_theme", "POST", SENT_ON, data=body(theme="dark"), content_format="multipart"),
    # It leads to the documents, where the door is; it tells nothing itself.
    *(Row("project", method, SENT_ON, in_project) for method in ("GET", "POST", "PUT", "PATCH", "DELETE")),
    Row("documents", "GET", READERS, in_project),
    Row("document_rows", "GET", READERS, in_project),
    Row(
        "upload",
        "POST",
        reviewers(302),
        in_project,
        lambda world: {"document_type": "receipt", "files": world.upload()},
        content_format="multipart",
    ),
    Row("document", "GET", READERS, of_document),
    Row("original", "GET", READERS, of_document),
    Row("page_image", "GET", READERS, lambda world: {**of_document(world), "page_number": 1}),
    Row("rerun", "POST", managers(302), of_document),
    Row(
        "change_type",
        "POST",
        managers(302),
        of_document,
        lambda world: {"document_type": "receipt"},
        content_format="multipart",
    ),
    Row("release_task", "POST", managers(302), lambda world: {"slug": world.project, "task_id": world.task.pk}),
    Row("desk", "GET", reviewers(200), in_project),
    Row("queue", "GET", reviewers(200), in_project),
    Row(
        "change_queue",
        "POST",
        managers(302),
        in_project,
        lambda world: {"task": [world.task.pk], "act": "release"},
        content_format="multipart",
    ),
    Row("policies", "GET", managers(302), in_project),
    Row("policy", "GET", managers(), of_type),
    Row("policy", "POST", managers(400), of_type, content_format="multipart"),
    Row("activate_policy", "POST", managers(302), lambda world: {**of_type(world), "number": world.draft.number}),
    Row("direct_audits", "POST", managers(302), of_type, body(act="alike"), content_format="multipart"),
    Row("targets", "GET", managers(302), in_project),
    Row("type_targets", "GET", managers(), of_type),
    Row("type_targets", "POST", managers(400), of_type, content_format="multipart"),
    Row("draft_from_targets", "POST", managers(302), of_target),
    Row("resume_field", "POST", managers(302), of_stopped, body(field_path="/total"), content_format="multipart"),
    Row("rollouts", "GET", managers(), of_type),
    Row(
        "start_rollout",
        "POST",
        managers(302),
        of_type,
        lambda world: {"engine_version": world.challenger.pk},
        content_format="multipart",
    ),
    Row("promote_rollout", "POST", managers(302), of_rollout),
    Row("roll_back", "POST", managers(302), of_rollout, body(reason="not now"), content_format="multipart"),
    Row("learning", "GET", managers(), in_project),
    Row(
        "start_training",
        "POST",
        managers(302),
        in_project,
        body(kind="calibrator", type="receipt"),
        content_format="multipart",
    ),
    Row("cancel_training", "POST", managers(302), lambda world: {"slug": world.project, "run_id": world.training.pk}),
    Row("operations", "GET", managers(), in_project),
    Row("operations", "POST", managers(400), in_project, content_format="multipart"),
    Row("accuracy", "GET", managers(), in_project),
    Row("field_accuracy", "GET", managers(), in_project),
    Row("errors", "GET", managers(), in_project),
    Row("reviewers", "GET", managers(), in_project),
    Row(
        "reviewers",
        "POST",
        managers(302),
        in_project,
        body(second_review_share="5", seeded_share="1"),
        content_format="multipart",
    ),
    Row("exports", "GET", managers(), in_project),
    Row("exports", "POST", managers(302), in_project, body(format="csv"), content_format="multipart"),
    Row("cancel_export", "POST", managers(302), lambda world: {"slug": world.project, "export_id": world.export.pk}),
    Row(
        "download_export",
        "GET",
        managers(),
        lambda world: {"slug": world.project, "export_id": world.finished_export.pk},
    ),
    Row("datasets", "GET", managers(), in_project),
    Row(
        "datasets",
        "POST",
        managers(302),
        in_project,
        body(holding="reviewed", personal="kept", seed="x", validation="10", test="10"),
        content_format="multipart",
    ),
    Row("dataset", "GET", managers(), of_taken_snapshot),
    Row(
        "dataset",
        "POST",
        managers(302),
        of_taken_snapshot,
        body(format="coco", archive="zip"),
        content_format="multipart",
    ),
    Row(
        "cancel_snapshot",
        "POST",
        managers(302),
        lambda world: {"slug": world.project, "snapshot_id": world.snapshot.pk},
    ),
    Row("tokens", "GET", admins(), in_project),
    Row(
        "tokens",
        "POST",
        admins(),
        in_project,
        body(name="Scanner", username="vik", role="viewer"),
        content_format="multipart",
    ),
    Row("revoke_token", "POST", admins(302), lambda world: {"slug": world.project, "token_id": world.token.pk}),
]
