"""Races need real commits, so these tests run outside a transaction, on whatever database DATABASE_URL names."""

import pytest

from review.models import DocumentType, Project, Role, User
from tests import factories


@pytest.fixture
def project(transactional_db: None) -> Project:
    return factories.make_project()


@pytest.fixture
def document_type(project: Project) -> DocumentType:
    return factories.make_document_type(project)


@pytest.fixture
def reviewers(project: Project) -> list[User]:
    """Sixteen people."""
    return [factories.make_member(project, Role.REVIEWER) for _ in range(16)]
