"""The administration: everything is there, history cannot be changed, lists stay cheap."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.db.models import JSONField, Model, TextField
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from review.actions.engines import declare_engine_version
from review.models import Document, DocumentType, Membership, Project, Record, Tenant, User
from review.selectors.access import SYSTEM
from tests import factories
from tests.conftest import Cast
from tests.review.vlm import SPEC

pytestmark = pytest.mark.django_db

MODELS = list(apps.get_app_config("review").get_models())
EDITED = {User, Tenant, Project, Membership}
IDS = [model.__name__ for model in MODELS]


@pytest.fixture
def root(cast: Cast) -> Client:
    client = Client()
    user = factories.make_user("root", is_staff=True, is_superuser=True)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def address(model: type[Model], what: str, *arguments: Any) -> str:
    return reverse(f"admin:review_{model._meta.model_name}_{what}", args=arguments)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_every_table_has_a_list(root: Client, model: type[Model]) -> None:
    assert root.get(address(model, "changelist")).status_code == 200


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_no_list_shows_a_payload(model: type[Model]) -> None:
    page = admin.site.get_model_admin(model)
    payloads = {field.name for field in model._meta.concrete_fields if isinstance(field, JSONField | TextField)}
    assert payloads & set(page.list_display) == set()


@pytest.mark.parametrize("model", [model for model in MODELS if model not in EDITED])
def test_history_cannot_be_changed(root: Client, model: type[Model]) -> None:
    assert root.get(address(model, "add")).status_code == 403
    page = admin.site.get_model_admin(model)
    request = root.get(address(model, "changelist")).wsgi_request
    assert not page.has_change_permission(request)
    assert not page.has_delete_permission(request)


def test_a_row_can_be_looked_at_with_its_payload(root: Client, cast: Cast) -> None:
    document = factories.make_document(cast.document_type, reasons=["encrypted"])
    html = root.get(address(Document, "change", document.pk)).content.decode()
    assert "encrypted" in html
    assert 'name="_save"' not in html


def test_posting_to_a_row_of_history_changes_nothing(root: Client, cast: Cast) -> None:
    document = factories.make_document(cast.document_type)
    assert root.post(address(Document, "change", document.pk), {"status": "stored"}).status_code == 403
    assert root.post(address(Document, "delete", document.pk), {"post": "yes"}).status_code == 403
    document.refresh_from_db()
    assert document.status == "received"


@pytest.mark.parametrize("model", [Document, DocumentType, Record])
def test_a_list_costs_the_same_number_of_queries_however_long(root: Client, cast: Cast, model: type[Model]) -> None:
    def add(n: int) -> None:
        for _ in range(n):
            document = factories.make_routed(cast.document_type)
            run = document.runs.get()
            Record.objects.create(
                project=cast.project, document=document, revision=1, run=run, values={}, provenance={}
            )
            factories.make_document_type(cast.project, f"type{document.pk}")

    def cost() -> list[str]:
        with CaptureQueriesContext(connection) as queries:
            root.get(address(model, "changelist"))
        return [query["sql"] for query in queries.captured_queries]

    add(1)
    few = cost()
    add(10)
    many = cost()
    assert len(many) == len(few)
    listing = next(sql for sql in many if f'FROM "{model._meta.db_table}"' in sql and "ORDER BY" in sql)
    assert not any(f'"{column}"' in listing for column in ("values", "provenance", "reasons", "labels", "schema"))


def test_a_project_is_edited_here(root: Client, cast: Cast) -> None:
    body = {"tenant": cast.project.tenant_id, "slug": "receipts", "name": "Receipts 2026", "engine_name": ""}
    assert root.post(address(Project, "change", cast.project.pk), body).status_code == 302
    cast.project.refresh_from_db()
    assert cast.project.name == "Receipts 2026"


def test_a_project_is_given_only_a_version_that_was_declared(root: Client, cast: Cast) -> None:
    declared = declare_engine_version(actor=SYSTEM, spec=SPEC)
    body = {"tenant": cast.project.tenant_id, "slug": "receipts", "name": "Receipts", "engine_name": ""}
    for version, is_taken in [(factories.make_engine_version("rapidocr"), False), (declared, True)]:
        answer = root.post(address(Project, "change", cast.project.pk), body | {"engine_version": version.pk})
        cast.project.refresh_from_db()
        assert (answer.status_code == 302, cast.project.engine_version == version) == (is_taken, is_taken)


def test_people_without_the_right_stay_out(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.admin, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(reverse("admin:index")).status_code == 302
