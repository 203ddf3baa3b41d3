"""Roles are ordered, and the tables refuse what must not be."""

import pytest
from django.db import IntegrityError

from review.models import Membership, Role
from tests import factories
from tests.conftest import Cast


@pytest.mark.parametrize(
    ("role", "other", "is_included"),
    [
        (Role.ADMIN, Role.VIEWER, True),
        (Role.MANAGER, Role.MANAGER, True),
        (Role.REVIEWER, Role.MANAGER, False),
        (Role.VIEWER, Role.REVIEWER, False),
    ],
)
def test_a_role_includes_the_rights_of_those_before_it(role: Role, other: Role, is_included: bool) -> None:
    assert role.includes(other) is is_included


def test_a_user_has_one_role_in_a_project(cast: Cast) -> None:
    with pytest.raises(IntegrityError):
        Membership.objects.create(project=cast.project, user=cast.reviewer, role=Role.ADMIN)


def test_a_document_has_one_open_task_at_a_time(cast: Cast) -> None:
    document = factories.make_routed(cast.document_type)
    with pytest.raises(IntegrityError):
        factories.make_task(document, document.runs.get())
