"""A token for a script: alone on the last line."""

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from review.models import ApiToken
from review.selectors.tokens import actor_for_token
from tests.conftest import Cast


def run(**options: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    values = {"user": "rui", "project": "receipts", "role": "reviewer", **options}
    arguments = [part for name, value in values.items() for part in (f"--{name}", value)]
    call_command("create_token", *arguments, stdout=out, stderr=err)
    return out.getvalue()


def test_the_last_line_is_the_token_alone_and_it_opens_the_door(cast: Cast) -> None:
    secret = run(name="scanner").splitlines()[-1]
    actor = actor_for_token(secret)
    assert actor is not None
    assert (actor.user, ApiToken.objects.get().name) == (cast.reviewer, "scanner")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"role": "admin"}, "smaller role"),
        ({"user": "sam"}, "no member"),
        ({"user": "nobody"}, "no user"),
        ({"project": "nothing"}, "no project"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(cast: Cast, options: dict[str, str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        run(**options)
    assert not ApiToken.objects.exists()


def test_a_role_that_does_not_exist_is_refused(cast: Cast) -> None:
    with pytest.raises(CommandError):
        run(role="king")
