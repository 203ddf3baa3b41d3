"""What commands name by slug or user name, and how they report what an action refuses."""

import sys
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor

from review.exceptions import ConflictError, NotFoundError, StetError
from review.models import DocumentType, EngineVersion, Project, Snapshot, User, WorkState
from review.selectors.access import SYSTEM, access_document_type, access_project, projects_for
from review.selectors.document_types import document_types_for
from review.selectors.engines import SHORTEST_PREFIX, access_engine_version, declared_engine_versions
from review.selectors.snapshots import any_snapshot

SHOWN_PROBLEMS = 20


def command_line(arguments: str) -> str:
    """Return a command as it can be typed, from the project's folder, with the Python that runs now."""
    python = Path(sys.executable)
    if python.is_relative_to(settings.BASE_DIR):
        python = python.relative_to(settings.BASE_DIR)
    return f"{python} manage.py {arguments}"


def refuse_unmigrated() -> None:
    """End the command when the database lacks tables or columns that the code needs."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise CommandError(f"The database is not up to date. Run first: {command_line('migrate')}")


def find_project(slug: str) -> Project:
    """Return the project, or end the command naming those that exist."""
    refuse_unmigrated()
    try:
        return access_project(SYSTEM, slug)
    except NotFoundError:
        known = (
            ", ".join(projects_for(SYSTEM).values_list("slug", flat=True))
            or f"none yet; try: {command_line('seed_demo')}"
        )
        raise CommandError(f"There is no project {slug!r}. Known: {known}.") from None


def find_document_type(project: Project, slug: str) -> DocumentType:
    """Return the document type, or end the command naming those that exist."""
    try:
        return access_document_type(project, slug)
    except NotFoundError:
        known = ", ".join(found.slug for found in document_types_for(project)) or "none yet"
        raise CommandError(f"There is no document type {slug!r} in project {project.slug!r}. Known: {known}.") from None


def find_snapshot(snapshot_id: int) -> Snapshot:
    """Return a taken snapshot, or end the command saying what is in the way."""
    snapshot = any_snapshot(snapshot_id)
    if snapshot is None:
        raise CommandError(f"There is no snapshot {snapshot_id}. Take one: {command_line('snapshot --project …')}")
    if snapshot.state != WorkState.DONE:
        raise CommandError(f"Snapshot {snapshot_id} is {snapshot.state}: only one that is done can be written.")
    return snapshot


def find_engine_version(reference: str) -> EngineVersion:
    """Return the engine version of this id or digest prefix, or end the command naming the newest ones."""
    try:
        return access_engine_version(reference)
    except ConflictError:
        raise CommandError(f"Several engine versions begin with {reference!r}. Give more of the digest.") from None
    except NotFoundError:
        newest = declared_engine_versions()[:5]
        known = ", ".join(f"{found.pk} ({found})" for found in newest) or "none yet; see add_engine_version"
        raise CommandError(
            f"There is no engine version {reference!r}: give its id, or {SHORTEST_PREFIX} letters of its digest or "
            f"more. Known: {known}."
        ) from None


def find_user(username: str) -> User:
    """Return the user, or end the command."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(
            f"There is no user {username!r}. Make one on the admin pages (/admin/), and a membership in the project."
        )
    return user


def problems_of(error: StetError) -> str:
    """Return what a person should read of an error, with each problem it lists."""
    problems = error.details.get("problems", [])
    return "\n".join([str(error.message), *(f"  {found['pointer']}: {found['message']}" for found in problems)])


def listed(problems: Sequence[str]) -> str:
    """Return problems one a line, the first of them and how many more."""
    more = len(problems) - SHOWN_PROBLEMS
    return "\n".join([*problems[:SHOWN_PROBLEMS], *([f"… and {more} more."] if more > 0 else [])])
