"""Who belongs to a project, and whom its administrators may name."""

import pytest

from review.exceptions import InvalidInputError, NotFoundError
from review.models import ApiToken, Role
from review.selectors.members import access_token, member_named, members_for
from tests import factories
from tests.conftest import Cast


def make_token(cast: Cast) -> ApiToken:
    return ApiToken.objects.create(
        project=cast.project, user=cast.viewer, role=Role.VIEWER, prefix="stet_x", digest="0" * 64
    )


def test_members_are_those_of_the_project_newest_first(cast: Cast) -> None:
    newest = factories.make_member(cast.project, Role.VIEWER)
    found = list(members_for(cast.project))
    assert found[0].user == newest
    assert {membership.user for membership in found} == {newest, cast.admin, cast.manager, cast.reviewer, cast.viewer}


def test_a_member_is_found_by_name(cast: Cast) -> None:
    assert member_named(cast.project, "rui") == cast.reviewer


@pytest.mark.parametrize("name", ["sam", "nobody", "RUI", ""])
def test_strangers_and_nobody_look_alike(cast: Cast, name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        member_named(cast.project, name)
    (problem,) = caught.value.details["problems"]
    assert problem["pointer"] == "/username"


def test_a_token_is_found_in_its_project_alone(cast: Cast) -> None:
    token = make_token(cast)
    assert access_token(cast.project, token.pk) == token
    with pytest.raises(NotFoundError):
        access_token(cast.other_project, token.pk)
    with pytest.raises(NotFoundError):
        access_token(cast.project, token.pk + 1)
