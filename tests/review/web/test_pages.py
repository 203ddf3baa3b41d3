"""What every page keeps: who may come in, landmarks and labels, a policy without inline code, errors without traces."""

import re
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from review.models import Membership
from review.web.views import home
from tests import factories
from tests.conftest import Cast

TEMPLATES = sorted((Path(django_settings.BASE_DIR) / "templates").rglob("*.html"))
PROJECT_PAGES = {
    "documents": "viewer",
    "queue": "reviewer",
    "operations": "manager",
    "accuracy": "manager",
    "reviewers": "manager",
    "exports": "manager",
    "tokens": "admin",
}
RANKS = ["viewer", "reviewer", "manager", "admin"]


@pytest.mark.parametrize("who", [*RANKS, "stranger", "nobody"])
@pytest.mark.parametrize(("name", "least"), PROJECT_PAGES.items())
def test_a_page_opens_for_its_roles_only(
    clients: dict[str, Client], cast: Cast, who: str, name: str, least: str
) -> None:
    response = clients[who].get(reverse(name, args=[cast.project.slug]))
    if who == "nobody":
        assert response.status_code == 302
        assert response["Location"].startswith(reverse("sign_in"))
    elif who == "stranger":
        assert response.status_code == 404
    else:
        assert response.status_code == (200 if RANKS.index(who) >= RANKS.index(least) else 403)


@pytest.mark.parametrize("who", RANKS)
def test_the_navigation_offers_what_the_role_may_open(clients: dict[str, Client], cast: Cast, who: str) -> None:
    html = clients[who].get(reverse("documents", args=[cast.project.slug])).content.decode()
    for name, least in PROJECT_PAGES.items():
        is_offered = f'href="{reverse(name, args=[cast.project.slug])}"' in html
        assert is_offered == (RANKS.index(who) >= RANKS.index(least))


@pytest.mark.parametrize("name", list(PROJECT_PAGES))
def test_pages_have_landmarks_a_skip_link_and_one_heading(admin: Client, cast: Cast, name: str) -> None:
    html = admin.get(reverse(name, args=[cast.project.slug])).content.decode()
    assert '<html lang="en"' in html
    assert 'class="skip" href="#main"' in html
    assert '<main id="main"' in html
    assert "<header" in html
    assert "<nav aria-label=" in html
    assert html.count("<h1>") == 1
    assert re.search(r"<title>\s*\S.* · Stet</title>", html)


@pytest.mark.parametrize("name", list(PROJECT_PAGES))
def test_every_control_has_a_label(admin: Client, cast: Cast, name: str) -> None:
    html = admin.get(reverse(name, args=[cast.project.slug])).content.decode()
    controls = re.findall(r'<(?:input|select)\b(?![^>]*type="hidden")[^>]*>', html)
    labelled = set(re.findall(r'<label for="([^"]+)"', html))
    ids = [match[1] if (match := re.search(r'\bid="([^"]+)"', control)) else control for control in controls]
    assert [one for one in ids if one not in labelled] == []


@pytest.mark.parametrize("path", TEMPLATES, ids=[path.name for path in TEMPLATES])
def test_templates_hold_no_inline_code_or_style(path: Path) -> None:
    html = path.read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", html)


def test_answers_carry_a_policy_that_forbids_inline_code(viewer: Client, cast: Cast) -> None:
    policy = viewer.get(reverse("documents", args=[cast.project.slug]))["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'none'" in policy


# --- home --------------------------------------------------------------------------------------------------------


def test_whoever_has_one_project_goes_straight_to_it(viewer: Client, cast: Cast) -> None:
    assert viewer.get("/")["Location"] == reverse("documents", args=[cast.project.slug])


def test_whoever_has_several_projects_chooses(admin: Client, cast: Cast) -> None:
    Membership.objects.create(project=cast.other_project, user=cast.admin, role="viewer")
    html = admin.get("/").content.decode()
    for project in (cast.project, cast.other_project):
        assert reverse("documents", args=[project.slug]) in html
        assert project.tenant.name in html


def test_whoever_has_no_project_is_told_what_to_do(db: None) -> None:
    client = Client()
    client.force_login(factories.make_user("new"), backend="django.contrib.auth.backends.ModelBackend")
    assert "Ask an administrator to add you" in client.get("/").content.decode()


def test_the_projects_address_leads_to_its_documents(viewer: Client, cast: Cast) -> None:
    assert viewer.get(f"/projects/{cast.project.slug}/")["Location"] == reverse("documents", args=[cast.project.slug])


# --- errors ------------------------------------------------------------------------------------------------------


def test_nothing_here_looks_the_same_for_missing_and_foreign(stranger: Client, cast: Cast) -> None:
    foreign = stranger.get(reverse("documents", args=[cast.project.slug]))
    missing = stranger.get("/projects/nowhere/documents/")
    assert foreign.status_code == missing.status_code == 404
    strip = re.compile(r'name="next" value="[^"]*"|csrfmiddlewaretoken" value="[^"]*"')
    assert strip.sub("", foreign.content.decode()) == strip.sub("", missing.content.decode())
    assert "There is nothing here" in missing.content.decode()


def test_forbidden_says_whom_to_ask(viewer: Client, cast: Cast) -> None:
    response = viewer.get(reverse("tokens", args=[cast.project.slug]))
    assert response.status_code == 403
    assert "Ask an administrator of the project" in response.content.decode()


def test_a_form_without_its_token_is_refused_in_plain_words(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post(reverse("sign_in"), {"username": "vik", "password": factories.PASSWORD})
    assert response.status_code == 403
    assert "nothing was done" in response.content.decode()


def test_a_failure_of_ours_shows_no_trace(viewer: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("secret of the machine room")

    monkeypatch.setattr(home, "projects_for", fail)
    viewer.raise_request_exception = False
    response = viewer.get("/")
    html = response.content.decode()
    assert response.status_code == 500
    assert "The fault is ours" in html
    assert "secret" not in html
    assert "Traceback" not in html


@pytest.mark.usefixtures("chinese")
def test_error_pages_speak_the_readers_language(db: None) -> None:
    client = Client(headers={"accept-language": "zh-hans"})
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "这里没有内容" in response.content.decode()
    assert '<html lang="zh-Hans"' in response.content.decode()


def test_errors_are_plain_in_production_settings(settings: Settings) -> None:
    assert settings.DEBUG is False
