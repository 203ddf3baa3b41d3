"""Settings from the environment, parsed strictly: a value that cannot be understood stops the start with its name."""

import os
import secrets
import zoneinfo
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent

# A .env file beside manage.py is read where there is one; the environment itself always wins.
env = environ.Env()
if (BASE_DIR / ".env").is_file():
    env.read_env(str(BASE_DIR / ".env"))

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def env_bool(name: str, *, default: bool) -> bool:
    """Return a yes-or-no setting; raise ImproperlyConfigured for anything that is neither."""
    text = os.environ.get(name, "").strip().lower()
    if not text:
        return default
    if text in _TRUE | _FALSE:
        return text in _TRUE
    raise ImproperlyConfigured(f"{name} must be one of 1, 0, true, false, yes, no, on, off")


def env_int(name: str, *, default: int, at_least: int = 0) -> int:
    """Return a whole number of at least `at_least`; raise ImproperlyConfigured for anything else."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        number = int(text)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number") from None
    if number < at_least:
        raise ImproperlyConfigured(f"{name} must be at least {at_least}")
    return number


def env_choice(name: str, *, default: str, choices: tuple[str, ...]) -> str:
    """Return one of `choices`; raise ImproperlyConfigured for anything else."""
    text = os.environ.get(name, "").strip() or default
    if text not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}")
    return text


def env_list(name: str, *, default: list[str]) -> list[str]:
    """Return a comma-separated list, blanks dropped."""
    text = os.environ.get(name)
    if text is None:
        return default
    return [part.strip() for part in text.split(",") if part.strip()]


def env_url(name: str) -> str:
    """Return an address that begins with http:// or https://, or nothing; raise ImproperlyConfigured for others."""
    text = os.environ.get(name, "").strip()
    parts = urlsplit(text)
    if text and not (parts.scheme in {"http", "https"} and parts.hostname):
        raise ImproperlyConfigured(f"{name} must look like http://host:8000")
    return text


def env_folder(name: str, *, default: Path) -> Path:
    """Return a folder, made where it is missing; raise ImproperlyConfigured when it cannot be written to."""
    folder = Path(os.environ.get(name, "").strip() or default).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}: {folder} cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise ImproperlyConfigured(f"{name}: {folder} cannot be written to")
    return folder


def env_database(name: str, *, default: str) -> dict[str, Any]:
    """Return a database from its URL; raise ImproperlyConfigured for anything but SQLite and PostgreSQL."""
    try:
        database: dict[str, Any] = dict(env.db_url(name, default=default))
    except (ImproperlyConfigured, ValueError):
        database = {}
    engines = ("django.db.backends.sqlite3", "django.db.backends.postgresql")
    if database.get("ENGINE") not in engines:
        raise ImproperlyConfigured(f"{name} must look like postgres://user:password@host/name or sqlite:///path")
    return database


def env_time_zone(name: str, *, default: str) -> str:
    """Return the name of a time zone; raise ImproperlyConfigured for one that is unknown."""
    zone = os.environ.get(name, "").strip() or default
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ImproperlyConfigured(f"{name} must name a time zone, such as UTC or Asia/Kuala_Lumpur") from None
    return zone


def secret_key(data_dir: Path) -> str:
    """Return STET_SECRET_KEY, or a key made once and kept, readable by the owner alone, under the data folder."""
    if key := os.environ.get("STET_SECRET_KEY"):
        return key
    path = data_dir / "secret_key"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text(encoding="ascii").strip()
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key := secrets.token_urlsafe(50))
    return key
