"""A browser for each of the cast, a picture to send, and the Chinese texts as they stand in the repository."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from django.test import Client
from PIL import Image
from pytest_django import Settings

from review.models import User
from tests.conftest import Cast

ROOT = Path(__file__).resolve().parents[3]
BACKEND = "django.contrib.auth.backends.ModelBackend"

Browse = Callable[[User], Client]


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


@pytest.fixture
def viewer(cast: Cast) -> Client:
    return browser(cast.viewer)


@pytest.fixture
def reviewer(cast: Cast) -> Client:
    return browser(cast.reviewer)


@pytest.fixture
def manager(cast: Cast) -> Client:
    return browser(cast.manager)


@pytest.fixture
def admin(cast: Cast) -> Client:
    return browser(cast.admin)


@pytest.fixture
def stranger(cast: Cast) -> Client:
    return browser(cast.stranger)


@pytest.fixture
def clients(viewer: Client, reviewer: Client, manager: Client, admin: Client, stranger: Client) -> dict[str, Client]:
    return {
        "viewer": viewer,
        "reviewer": reviewer,
        "manager": manager,
        "admin": admin,
        "stranger": stranger,
        "nobody": Client(),
    }


def picture(shade: int = 255) -> bytes:
    """A small JPEG; another shade, other bytes."""
    file = io.BytesIO()
    Image.new("RGB", (120, 160), (shade, shade, shade)).save(file, "JPEG")
    return file.getvalue()


@pytest.fixture
def chinese(settings: Settings, tmp_path: Path) -> None:
    """The catalogue compiled from its source, whatever lies compiled beside it."""
    source = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    compiled = tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.mo"
    compiled.parent.mkdir(parents=True)
    with source.open("rb") as read, compiled.open("wb") as written:
        write_mo(written, read_po(read, locale="zh_Hans"))
    settings.LOCALE_PATHS = [tmp_path / "locale"]
