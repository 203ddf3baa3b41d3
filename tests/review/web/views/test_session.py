"""Signing in and out, being locked out, language and theme."""

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from review.models import User
from tests import factories
from tests.conftest import Cast

COOKIE = django_settings.LANGUAGE_COOKIE_NAME


def sign_in(client: Client, name: str = "vik", password: str = factories.PASSWORD, **more: str) -> object:
    return client.post(reverse("sign_in"), {"username": name, "password": password, **more})


def test_right_name_and_password_open_the_home_page(client: Client, cast: Cast) -> None:
    response = client.post(reverse("sign_in"), {"username": "vik", "password": factories.PASSWORD})
    assert response.status_code == 302
    assert response["Location"] == "/"
    assert client.get(reverse("documents", args=[cast.project.slug])).status_code == 200


def test_the_page_that_asked_for_it_comes_after_signing_in(client: Client, cast: Cast) -> None:
    wanted = reverse("documents", args=[cast.project.slug])
    asked = client.get(wanted)
    response = client.post(asked["Location"], {"username": "vik", "password": factories.PASSWORD, "next": wanted})
    assert response["Location"] == wanted


def test_signing_in_leads_to_no_other_site(client: Client, cast: Cast) -> None:
    body = {"username": "vik", "password": factories.PASSWORD, "next": "https://evil.example/"}
    assert client.post(reverse("sign_in"), body)["Location"] == "/"


@pytest.mark.parametrize("name", ["vik", "nobody"])
def test_wrong_name_and_wrong_password_look_alike(client: Client, cast: Cast, name: str) -> None:
    response = client.post(reverse("sign_in"), {"username": name, "password": "wrong"})
    html = response.content.decode()
    assert response.status_code == 200
    assert "do not go together" in html
    assert 'role="alert"' in html
    assert f'value="{name}"' in html
    assert 'value="wrong"' not in html


def test_too_many_attempts_lock_the_name_out_with_a_way_forward(client: Client, cast: Cast, settings: Settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(3):
        response = client.post(reverse("sign_in"), {"username": "vik", "password": "wrong"})
    assert response.status_code == 429
    assert "Wait a quarter of an hour" in response.content.decode()
    locked = client.post(reverse("sign_in"), {"username": "vik", "password": factories.PASSWORD})
    assert locked.status_code == 429
    other = client.post(reverse("sign_in"), {"username": "rui", "password": factories.PASSWORD})
    assert other.status_code == 302


def test_signing_out_ends_the_session(client: Client, cast: Cast) -> None:
    sign_in(client)
    response = client.post(reverse("sign_out"))
    assert response["Location"] == reverse("sign_in")
    assert client.get(reverse("documents", args=[cast.project.slug])).status_code == 302


def test_signing_out_needs_a_post(client: Client, cast: Cast) -> None:
    sign_in(client)
    assert client.get(reverse("sign_out")).status_code == 405
    assert client.get(reverse("documents", args=[cast.project.slug])).status_code == 200


def test_whoever_is_signed_in_is_not_asked_again(client: Client, cast: Cast) -> None:
    sign_in(client)
    assert client.get(reverse("sign_in"))["Location"] == "/"


# --- language ----------------------------------------------------------------------------------------------------


def test_chosen_language_is_stored_with_the_person(client: Client, cast: Cast) -> None:
    sign_in(client)
    response = client.post(reverse("choose_language"), {"language": "zh-hans", "next": "/projects/receipts/documents/"})
    assert response["Location"] == "/projects/receipts/documents/"
    assert response.cookies[COOKIE].value == "zh-hans"
    assert User.objects.get(username="vik").language == "zh-hans"


def test_stored_language_comes_back_on_another_machine(client: Client, cast: Cast) -> None:
    User.objects.filter(username="vik").update(language="zh-hans")
    response = client.post(reverse("sign_in"), {"username": "vik", "password": factories.PASSWORD})
    assert response.cookies[COOKIE].value == "zh-hans"


def test_language_can_be_chosen_before_signing_in(client: Client, db: None) -> None:
    response = client.post(reverse("choose_language"), {"language": "zh-hans", "next": reverse("sign_in")})
    assert response.cookies[COOKIE].value == "zh-hans"


@pytest.mark.usefixtures("chinese")
def test_pages_are_chinese_once_chosen(client: Client, cast: Cast) -> None:
    sign_in(client)
    client.post(reverse("choose_language"), {"language": "zh-hans"})
    html = client.get(reverse("documents", args=[cast.project.slug])).content.decode()
    assert '<html lang="zh-Hans"' in html
    assert "<h1>文档</h1>" in html


def test_an_unknown_language_changes_nothing(client: Client, cast: Cast) -> None:
    sign_in(client)
    response = client.post(reverse("choose_language"), {"language": "xx"})
    assert COOKIE not in response.cookies
    assert User.objects.get(username="vik").language == ""


# --- theme -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chosen_theme_is_on_the_page_without_a_flash(client: Client, db: None, theme: str) -> None:
    client.post(reverse("choose_theme"), {"theme": theme})
    assert f'data-theme="{theme}"' in client.get(reverse("sign_in")).content.decode()


def test_automatic_theme_leaves_it_to_the_system(client: Client, db: None) -> None:
    client.post(reverse("choose_theme"), {"theme": "dark"})
    client.post(reverse("choose_theme"), {"theme": "auto"})
    assert "data-theme=" not in client.get(reverse("sign_in")).content.decode()


def test_an_unknown_theme_changes_nothing(client: Client, db: None) -> None:
    response = client.post(reverse("choose_theme"), {"theme": '"><script>'})
    assert "stet_theme" not in response.cookies


def test_a_forged_theme_cookie_never_reaches_the_page(client: Client, db: None) -> None:
    client.cookies["stet_theme"] = 'x" onload="alert(1)'
    assert "onload" not in client.get(reverse("sign_in")).content.decode()


@pytest.mark.parametrize("name", ["choose_theme", "choose_language"])
def test_choices_lead_back_to_our_pages_only(client: Client, db: None, name: str) -> None:
    response = client.post(reverse(name), {"theme": "dark", "language": "en", "next": "https://evil.example/"})
    assert response["Location"] == "/"
    assert client.get(reverse(name)).status_code == 405
