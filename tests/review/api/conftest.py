"""Clients of the API: programs with tokens, and a browser that keeps CSRF in force."""

from pathlib import Path

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from review.actions.tenancy import create_token
from review.models import Project, Role, User
from review.selectors.access import SYSTEM
from tests.conftest import Cast


@pytest.fixture(autouse=True)
def _own_incoming(settings: Settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)


def bearer(user: User, project: Project, role: Role) -> APIClient:
    client = APIClient()
    secret = create_token(actor=SYSTEM, project=project, user=user, role=role).secret
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.fixture
def as_admin(cast: Cast) -> APIClient:
    return bearer(cast.admin, cast.project, Role.ADMIN)


@pytest.fixture
def as_manager(cast: Cast) -> APIClient:
    return bearer(cast.manager, cast.project, Role.MANAGER)


@pytest.fixture
def as_reviewer(cast: Cast) -> APIClient:
    return bearer(cast.reviewer, cast.project, Role.REVIEWER)


@pytest.fixture
def as_viewer(cast: Cast) -> APIClient:
    return bearer(cast.viewer, cast.project, Role.VIEWER)


@pytest.fixture
def as_stranger(cast: Cast) -> APIClient:
    return bearer(cast.stranger, cast.other_project, Role.MANAGER)
