"""API tokens: made once, shown once, revoked."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from review.models import ApiToken, Role
from review.selectors.tokens import actor_for_token
from tests.conftest import Cast

pytestmark = pytest.mark.django_db


def make(client: Client, cast: Cast, **body: str) -> str:
    sent = {"name": "post room", "username": "rui", "role": "reviewer"} | body
    return client.post(reverse("tokens", args=[cast.project.slug]), sent).content.decode()


def secret_in(html: str) -> str:
    found = re.search(r'<code class="secret">([^<]+)</code>', html)
    assert found is not None
    return found[1]


def test_a_new_token_works_and_is_shown_this_once(admin: Client, cast: Cast) -> None:
    secret = secret_in(make(admin, cast))
    actor = actor_for_token(secret)
    assert actor is not None
    assert actor.user == cast.reviewer
    again = admin.get(reverse("tokens", args=[cast.project.slug]))
    assert secret not in again.content.decode()
    assert secret[:12] in again.content.decode()
    assert "no-store" in again["Cache-Control"]


def test_a_token_may_not_do_more_than_its_member(admin: Client, cast: Cast) -> None:
    html = make(admin, cast, role="admin")
    assert "may not do more than its user" in html
    assert 'role="alert"' in html
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("body", [{"name": ""}, {"username": "sam"}, {"role": "owner"}])
def test_what_is_wrong_is_said_beside_its_field(admin: Client, cast: Cast, body: dict[str, str]) -> None:
    assert 'role="alert"' in make(admin, cast, **body)
    assert not ApiToken.objects.exists()


def test_only_members_of_the_project_are_offered(admin: Client, cast: Cast) -> None:
    html = admin.get(reverse("tokens", args=[cast.project.slug])).content.decode()
    assert 'value="rui"' in html
    assert "sam" not in html


def test_a_revoked_token_is_refused_from_then_on(admin: Client, cast: Cast) -> None:
    secret = secret_in(make(admin, cast))
    token = ApiToken.objects.get()
    response = admin.post(reverse("revoke_token", args=[cast.project.slug, token.pk]), follow=True)
    html = response.content.decode()
    assert "The token is revoked" in html
    assert reverse("revoke_token", args=[cast.project.slug, token.pk]) not in html
    assert actor_for_token(secret) is None


def test_a_token_of_another_project_cannot_be_revoked_here(admin: Client, cast: Cast) -> None:
    foreign = ApiToken.objects.create(
        project=cast.other_project, user=cast.stranger, role=Role.VIEWER, prefix="x", digest="d"
    )
    assert admin.post(reverse("revoke_token", args=[cast.project.slug, foreign.pk])).status_code == 404
    foreign.refresh_from_db()
    assert foreign.revoked_at is None


@pytest.mark.parametrize(("who", "status"), [("manager", 403), ("reviewer", 403), ("stranger", 404), ("nobody", 302)])
def test_only_administrators_make_or_revoke(clients: dict[str, Client], cast: Cast, who: str, status: int) -> None:
    body = {"name": "x", "username": "rui", "role": "viewer"}
    assert clients[who].post(reverse("tokens", args=[cast.project.slug]), body).status_code == status
    assert clients[who].post(reverse("revoke_token", args=[cast.project.slug, 1])).status_code == status
    assert not ApiToken.objects.exists()
