"""Document types, policies, tokens, members and projects through the API."""

import copy
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from review.models import ApiToken, Membership, PolicyState, Role, RoutingPolicy
from tests import factories
from tests.conftest import Cast

PROJECT = "/api/v1/projects/receipts/"
TYPES = f"{PROJECT}document-types/"
POLICIES = f"{TYPES}receipt/policies/"
TOKENS = f"{PROJECT}tokens/"


def post(client: APIClient, path: str, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post(path, body, format="json")
    return answer.status_code, answer.json()


def test_a_document_type_is_created_with_its_first_version_and_a_policy(cast: Cast, as_manager: APIClient) -> None:
    status, body = post(as_manager, TYPES, slug="invoice", schema=factories.SCHEMA)
    assert status == 201
    assert (body["slug"], body["active_version"], body["schema"]) == ("invoice", 1, factories.SCHEMA)
    assert body["labels"] == {"en": "Receipt", "zh": "收据"}
    assert as_manager.get(f"{TYPES}invoice/").json() == body
    (policy,) = as_manager.get(f"{TYPES}invoice/policies/").json()["results"]
    assert (policy["number"], policy["state"]) == (1, "active")


def test_a_schema_with_a_mistake_is_refused_with_its_place(cast: Cast, as_manager: APIClient) -> None:
    schema = {"type": "object", "x-label": {"en": "x"}, "properties": {"total": {"type": "string", "x-lable": {}}}}
    status, body = post(as_manager, TYPES, slug="invoice", schema=schema)
    assert (status, body["code"]) == (400, "invalid_document_type")
    assert any(problem["pointer"].startswith("/properties/total/") for problem in body["problems"])


@pytest.mark.parametrize("slug", ["", "a b", "é", "x" * 51, None, 7.5, "../up"])
def test_a_slug_that_is_none_is_refused(cast: Cast, as_manager: APIClient, slug: object) -> None:
    status, body = post(as_manager, TYPES, slug=slug, schema=factories.SCHEMA)
    assert (status, body["problems"][0]["pointer"]) == (400, "/slug")


@pytest.mark.parametrize("schema", [None, [], "x", 1])
def test_a_schema_that_is_no_object_is_refused(cast: Cast, as_manager: APIClient, schema: object) -> None:
    status, body = post(as_manager, TYPES, slug="invoice", schema=schema)
    assert (status, body["problems"][0]["pointer"]) == (400, "/schema")


def test_a_taken_slug_is_a_conflict(cast: Cast, as_manager: APIClient) -> None:
    assert post(as_manager, TYPES, slug="receipt", schema=factories.SCHEMA)[0] == 409


def test_what_no_language_model_can_be_held_to_is_named_when_it_is_saved(cast: Cast, as_manager: APIClient) -> None:
    changed = copy.deepcopy(factories.SCHEMA)
    changed["properties"]["total"]["pattern"] = r"^(?=\d).+$"
    status, body = post(as_manager, f"{TYPES}receipt/versions/", schema=changed)
    ((place, message),) = [tuple(note.values()) for note in body["not_constrained"]]
    assert (status, place) == (201, "/properties/total/pattern")
    assert "look-ahead" in message
    assert as_manager.get(f"{TYPES}receipt/").json()["not_constrained"] == body["not_constrained"]
    assert post(as_manager, TYPES, slug="plain", schema=factories.SCHEMA)[1]["not_constrained"] == []


def test_a_new_version_takes_over_and_the_old_one_stays(cast: Cast, as_manager: APIClient) -> None:
    changed = factories.SCHEMA | {"required": ["total", "date"]}
    status, body = post(as_manager, f"{TYPES}receipt/versions/", schema=changed)
    assert (status, body["number"], body["schema"]) == (201, 2, changed)
    versions = as_manager.get(f"{TYPES}receipt/versions/").json()["results"]
    assert [version["number"] for version in versions] == [2, 1]
    assert versions[1]["schema"] == factories.SCHEMA
    assert as_manager.get(f"{TYPES}receipt/").json()["active_version"] == 2


def test_a_type_of_another_project_is_not_found(cast: Cast, as_manager: APIClient) -> None:
    factories.make_document_type(cast.other_project, "secret")
    for path in ("secret/", "secret/versions/", "secret/policies/"):
        assert as_manager.get(f"{TYPES}{path}").status_code == 404
    assert post(as_manager, f"{TYPES}secret/versions/", schema=factories.SCHEMA)[0] == 404
    assert post(as_manager, f"{TYPES}secret/policies/", rules={})[0] == 404
    assert post(as_manager, f"{TYPES}secret/policies/1/activate/")[0] == 404


def test_a_policy_is_drafted_then_activated_then_brought_back(cast: Cast, as_manager: APIClient) -> None:
    status, draft = post(as_manager, POLICIES, rules={"default": {"auto": 0.99, "review": 0.5}})
    assert (status, draft["number"], draft["state"], draft["created_by"]) == (201, 2, "draft", "mia")
    assert draft["rules"]["audit_auto_share"] == 0.02
    activated = as_manager.post(f"{POLICIES}2/activate/").json()
    assert activated["state"] == "active"
    assert activated["activated_at"] is not None
    assert as_manager.post(f"{POLICIES}2/activate/").status_code == 200
    assert [policy["state"] for policy in as_manager.get(POLICIES).json()["results"]] == ["active", "retired"]
    assert as_manager.post(f"{POLICIES}1/activate/").status_code == 200
    assert RoutingPolicy.objects.get(document_type=cast.document_type, state=PolicyState.ACTIVE).number == 1


@pytest.mark.parametrize(
    ("rules", "pointer"),
    [
        ({"audit_auto_share": 0}, "/audit_auto_share"),
        ({"default": {"auto": 0.5, "review": 0.9}}, "/default/review"),
        ({"fields": {"/total": {"auto": 2, "review": 0}}}, "/fields/~1total/auto"),
        ({"typo": 1}, "/typo"),
    ],
)
def test_rules_with_a_mistake_are_refused_with_its_place(
    cast: Cast, as_manager: APIClient, rules: dict[str, Any], pointer: str
) -> None:
    status, body = post(as_manager, POLICIES, rules=rules)
    assert (status, body["code"]) == (400, "invalid_policy")
    assert pointer in [problem["pointer"] for problem in body["problems"]]


@pytest.mark.parametrize("number", ["0", "3", "x", "9999999999"])
def test_a_policy_that_is_none_is_not_activated(cast: Cast, as_manager: APIClient, number: str) -> None:
    assert as_manager.post(f"{POLICIES}{number}/activate/").status_code == 404


def test_a_token_is_made_used_listed_and_revoked(cast: Cast, as_admin: APIClient) -> None:
    status, body = post(as_admin, TOKENS, username="rui", role="viewer", name="Scanner")
    assert status == 201
    token = body["token"]
    assert (token["username"], token["role"], token["name"], token["revoked_at"]) == ("rui", "viewer", "Scanner", None)
    assert body["secret"].startswith(token["prefix"])
    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Bearer {body['secret']}")
    assert program.get(f"{PROJECT}records/").status_code == 200
    listed = as_admin.get(TOKENS).json()["results"]
    assert listed[0]["id"] == token["id"]
    assert body["secret"] not in as_admin.get(TOKENS).content.decode()
    assert as_admin.delete(f"{TOKENS}{token['id']}/").status_code == 204
    assert as_admin.delete(f"{TOKENS}{token['id']}/").status_code == 204
    assert program.get(f"{PROJECT}records/").status_code == 401


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"username": "sam", "role": "viewer"}, "/username"),
        ({"username": "nobody", "role": "viewer"}, "/username"),
        ({"username": "a\0b", "role": "viewer"}, ""),
        ({"username": "vik", "role": "reviewer"}, "/role"),
        ({"username": "vik", "role": "king"}, "/role"),
        ({"username": "vik", "role": "viewer", "expires_at": "soon"}, "/expires_at"),
        ({"username": "vik", "role": "viewer", "expires_at": "0001-01-01T00:00:00+23:59"}, "/expires_at"),
        ({"username": "vik", "role": "viewer", "name": "x" * 101}, "/name"),
        ({"role": "viewer"}, "/username"),
    ],
)
def test_a_token_that_cannot_be_is_refused(cast: Cast, as_admin: APIClient, body: dict[str, str], pointer: str) -> None:
    n_before = ApiToken.objects.count()
    status, answer = post(as_admin, TOKENS, **body)
    assert status == 400
    assert [problem["pointer"] for problem in answer.get("problems", [{"pointer": ""}])] == [pointer]
    assert ApiToken.objects.count() == n_before


def test_members_of_other_projects_cannot_be_found_by_trying_names(cast: Cast, as_admin: APIClient) -> None:
    stranger, nobody = (post(as_admin, TOKENS, username=name, role="viewer")[1] for name in ("sam", "nobody"))
    assert stranger["problems"] == nobody["problems"]


def test_a_token_of_another_project_is_not_revoked(cast: Cast, as_admin: APIClient, as_stranger: APIClient) -> None:
    foreign = ApiToken.objects.get(project=cast.other_project)
    assert as_admin.delete(f"{TOKENS}{foreign.pk}/").status_code == 404
    foreign.refresh_from_db()
    assert foreign.revoked_at is None


def test_members_are_listed_with_their_roles(cast: Cast, as_viewer: APIClient) -> None:
    members = as_viewer.get(f"{PROJECT}members/").json()["results"]
    assert {(member["username"], member["role"]) for member in members} == {
        ("ada", "admin"),
        ("mia", "manager"),
        ("rui", "reviewer"),
        ("vik", "viewer"),
    }


def test_a_person_sees_the_projects_of_their_own(cast: Cast) -> None:
    browser = APIClient()
    browser.force_login(cast.viewer)
    Membership.objects.create(project=cast.other_project, user=cast.viewer, role=Role.VIEWER)
    results = browser.get("/api/v1/projects/").json()["results"]
    assert {project["slug"] for project in results} == {"receipts", "elsewhere"}
    assert {project["tenant"] for project in results} == {cast.project.tenant.name, cast.other_project.tenant.name}
    assert browser.get("/api/v1/projects/", {"tenant": "x"}).status_code == 400


@pytest.mark.parametrize("n_more", [0, 20])
@pytest.mark.parametrize(("path", "n_queries"), [(TYPES, 3), (POLICIES, 5), (TOKENS, 3), (f"{PROJECT}members/", 3)])
def test_lists_cost_as_many_queries_however_long_they_are(
    cast: Cast,
    as_admin: APIClient,
    path: str,
    n_queries: int,
    n_more: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(n_more):
        factories.make_member(cast.project, Role.VIEWER)
        factories.make_document_type(cast.project, f"type{number}")
        RoutingPolicy.objects.create(document_type=cast.document_type, number=number + 2, rules=factories.RULES)
        post(as_admin, TOKENS, username="vik", role="viewer")
    as_admin.get(path)
    with django_assert_num_queries(n_queries):
        assert len(as_admin.get(path).json()["results"]) > n_more
