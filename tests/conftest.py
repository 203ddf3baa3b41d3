"""Fixtures that every test may use. Files of tests go to a folder of their own, never to var/."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest
from django.db import connections
from django.utils import translation
from pytest_django import Settings

from review.models import DocumentType, Project, Role, User
from tests import factories
from tests.left_out import LeftOut

# No test asserts a wall time: while other work takes the cores, examples are made and tried slowly. Hypothesis' own
# profile "ci" says the same.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(LeftOut(), "left-out")
    if "STET_NOTHING_LEFT_OUT" in os.environ:
        # The gate says the same of the same code each time; surprises are found where somebody can look into them.
        hypothesis.settings.load_profile("ci")
    elif hypothesis.settings.get_current_profile_name() == "default":
        hypothesis.settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite in a file of its own, not in memory: threads and child processes open it as they do in production."""
    if connections["default"].vendor == "sqlite":
        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connections["default"].settings_dict["TEST"]["NAME"] = str(path)


@pytest.fixture(autouse=True)
def _own_media_root(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.DATA_DIR = tmp_path
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Names without hashes: templates are tested without `collectstatic`.
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


@pytest.fixture(autouse=True)
def _in_english() -> Iterator[None]:
    """A request in Chinese leaves its language behind in the thread; the next test begins in English again."""
    with translation.override("en"):
        yield


@dataclass(frozen=True)
class Cast:
    """The people of every access test: four roles in one project, and a manager of another tenant's project."""

    project: Project
    document_type: DocumentType
    admin: User
    manager: User
    reviewer: User
    viewer: User
    other_project: Project
    other_document_type: DocumentType
    stranger: User


@pytest.fixture
def cast(db: None) -> Cast:
    """Two tenants with a project each, and the people in them."""
    project, other = factories.make_project("receipts"), factories.make_project("elsewhere")
    return Cast(
        project=project,
        document_type=factories.make_document_type(project),
        admin=factories.make_member(project, Role.ADMIN, "ada"),
        manager=factories.make_member(project, Role.MANAGER, "mia"),
        reviewer=factories.make_member(project, Role.REVIEWER, "rui"),
        viewer=factories.make_member(project, Role.VIEWER, "vik"),
        other_project=other,
        other_document_type=factories.make_document_type(other),
        stranger=factories.make_member(other, Role.MANAGER, "sam"),
    )
