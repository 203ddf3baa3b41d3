"""A project to try Stet with, made once."""

import io
import re

from django.contrib.auth import authenticate
from django.core.management import call_command
from django.test import RequestFactory

from review.models import Document, Membership, Project, RoutingPolicy, User
from tests.review.conftest import Script


def seed() -> str:
    out = io.StringIO()
    call_command("seed_demo", stdout=out)
    return out.getvalue()


def test_the_demo_has_types_a_user_and_twelve_receipts(db: None, script: Script) -> None:
    said = seed()
    project = Project.objects.get(slug="demo")
    assert set(project.document_types.values_list("slug", flat=True)) == {"receipt", "invoice"}
    assert RoutingPolicy.objects.filter(state="active").count() == 2
    assert Membership.objects.get(project=project).role == "admin"
    assert Document.objects.filter(project=project, document_type__slug="receipt").count() == 12
    assert "12 sample receipts" in said


def test_the_password_is_shown_once_and_works(db: None, script: Script) -> None:
    shown = re.search(r"Password: (\S+)", seed())
    assert shown is not None
    request = RequestFactory().post("/")
    assert authenticate(request, username="demo", password=shown[1]) == User.objects.get(username="demo")
    again = seed()
    assert "Password:" not in again
    assert shown[1] not in again
    assert "changepassword demo" in again


def test_a_second_run_changes_nothing(db: None, script: Script) -> None:
    seed()
    before = (User.objects.get().password, Document.objects.count(), RoutingPolicy.objects.count())
    said = seed()
    assert (User.objects.get().password, Document.objects.count(), RoutingPolicy.objects.count()) == before
    assert "sample" not in said


def test_what_is_missing_is_added(db: None, script: Script) -> None:
    seed()
    Membership.objects.all().delete()
    Document.objects.filter(filename="047.jpg").delete()
    seed()
    assert Membership.objects.count() == 1
    assert Document.objects.count() == 12
