"""Who may come in: tokens, sessions with CSRF, and nobody else."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from review.actions.tenancy import create_token, remove_member, revoke_token
from review.models import ApiToken, Membership, Role
from review.selectors.access import SYSTEM
from tests.conftest import Cast
from tests.review.api.conftest import bearer

PROJECTS = "/api/v1/projects/"
RECORDS = "/api/v1/projects/receipts/records/"
TYPES = "/api/v1/projects/receipts/document-types/"


def status_with(header: str, path: str = RECORDS) -> int:
    return APIClient().get(path, HTTP_AUTHORIZATION=header).status_code


def secret_for(cast: Cast, **values: object) -> str:
    new = create_token(actor=SYSTEM, project=cast.project, user=cast.viewer, role=Role.VIEWER, **values)  # type: ignore[arg-type]
    return new.secret


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_token_opens_its_project(cast: Cast, scheme: str) -> None:
    assert status_with(f"{scheme} {secret_for(cast)}") == 200


@pytest.mark.parametrize("secret", ["", " ", "stet_wrong", "stet_wröng", "a b c", "x" * 10_000])
def test_a_false_token_is_refused_with_a_challenge(cast: Cast, secret: str) -> None:
    answer = APIClient().get(RECORDS, HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="stet"'
    assert answer.json()["code"] == "authentication_failed"


def test_nobody_is_told_how_to_come_in(cast: Cast) -> None:
    answer = APIClient().get(RECORDS)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == 'Bearer realm="stet"'
    assert answer.json()["code"] == "not_authenticated"


def test_another_scheme_is_not_taken_for_a_token(cast: Cast) -> None:
    assert status_with(f"Token {secret_for(cast)}") == 401


def test_revoked_expired_and_orphaned_tokens_look_alike(cast: Cast) -> None:
    revoked = create_token(actor=SYSTEM, project=cast.project, user=cast.viewer, role=Role.VIEWER)
    revoke_token(actor=SYSTEM, token=revoked.token)
    expired = secret_for(cast, expires_at=timezone.now() - timedelta(seconds=1))
    orphaned = create_token(actor=SYSTEM, project=cast.project, user=cast.reviewer, role=Role.VIEWER).secret
    cast.reviewer.is_active = False
    cast.reviewer.save()
    answers = [
        APIClient().get(RECORDS, HTTP_AUTHORIZATION=f"Bearer {secret}").json()
        for secret in (revoked.secret, expired, orphaned, "stet_wrong")
    ]
    assert len({(answer["status"], answer["code"], answer["detail"]) for answer in answers}) == 1


def test_a_token_sees_no_other_project_of_its_user(cast: Cast) -> None:
    Membership.objects.create(project=cast.other_project, user=cast.viewer, role=Role.ADMIN)
    secret = secret_for(cast)
    assert status_with(f"Bearer {secret}", "/api/v1/projects/elsewhere/records/") == 404
    projects = APIClient().get(PROJECTS, HTTP_AUTHORIZATION=f"Bearer {secret}").json()["results"]
    assert [project["slug"] for project in projects] == ["receipts"]


def test_a_token_does_no_more_than_its_role_whoever_its_user_is(cast: Cast) -> None:
    client = bearer(cast.admin, cast.project, Role.VIEWER)
    assert client.post(TYPES, {}, format="json").status_code == 403
    assert client.get(TYPES).status_code == 200


def test_a_token_does_no_more_than_its_user_may_by_now(cast: Cast) -> None:
    client = bearer(cast.manager, cast.project, Role.MANAGER)
    Membership.objects.filter(user=cast.manager).update(role=Role.VIEWER)
    assert client.post(TYPES, {}, format="json").status_code == 403


def test_a_token_ends_with_its_users_membership(cast: Cast) -> None:
    client = bearer(cast.viewer, cast.project, Role.VIEWER)
    remove_member(actor=SYSTEM, project=cast.project, user=cast.viewer)
    assert client.get(RECORDS).status_code == 401


def test_a_browsers_write_needs_the_csrf_token(cast: Cast) -> None:
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(cast.manager)
    refused = browser.post(TYPES, {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")
    assert "CSRF" not in refused.json()["detail"]
    page = browser.get(RECORDS)
    assert page.status_code == 200


def test_a_browsers_write_with_the_csrf_token_is_heard(cast: Cast) -> None:
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(cast.manager)
    token = "a" * 32
    browser.cookies["csrftoken"] = token
    assert browser.post(TYPES, {}, format="json", HTTP_X_CSRFTOKEN=token).status_code == 400


def test_a_token_needs_no_csrf_token(cast: Cast) -> None:
    client = APIClient(enforce_csrf_checks=True)
    secret = create_token(actor=SYSTEM, project=cast.project, user=cast.manager, role=Role.MANAGER).secret
    assert client.post(TYPES, {}, format="json", HTTP_AUTHORIZATION=f"Bearer {secret}").status_code == 400


def test_a_false_token_is_not_excused_by_a_session(cast: Cast) -> None:
    client = APIClient()
    client.force_login(cast.viewer)
    assert client.get(RECORDS, HTTP_AUTHORIZATION="Bearer stet_wrong").status_code == 401


def test_use_is_noted_once_a_minute(cast: Cast, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    client = bearer(cast.viewer, cast.project, Role.VIEWER)
    assert client.get(RECORDS).status_code == 200
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    # The token with its user, the membership with its project and tenant, the records: nothing is written.
    with django_assert_num_queries(3):
        client.get(RECORDS)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    client.get(RECORDS)
    assert (ApiToken.objects.get().last_used_at or first) > first
