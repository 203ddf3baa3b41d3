"""A setting that cannot be understood stops the start, and says which one it is."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ocrsite.env import BASE_DIR, env_bool, env_choice, env_int, env_list, env_url, secret_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", True),
        ("TRUE", True),
        (" yes ", True),
        ("on", True),
        ("0", False),
        ("False", False),
        ("no", False),
        ("off", False),
    ],
)
def test_yes_and_no_are_understood_in_any_case(monkeypatch: pytest.MonkeyPatch, text: str, expected: bool) -> None:
    monkeypatch.setenv("STET_X", text)
    assert env_bool("STET_X", default=not expected) is expected


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_switch_is_its_default(monkeypatch: pytest.MonkeyPatch, text: str, default: bool) -> None:
    monkeypatch.setenv("STET_X", text)
    assert env_bool("STET_X", default=default) is default


@pytest.mark.parametrize("text", ["2", "ja", "truee", "-1"])
def test_a_switch_that_is_neither_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("STET_X", text)
    with pytest.raises(ImproperlyConfigured, match="STET_X"):
        env_bool("STET_X", default=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  ", ""),
        (" http://gpu-1:8000 ", "http://gpu-1:8000"),
        ("https://vllm.example/", "https://vllm.example/"),
    ],
)
def test_an_address_is_read_and_none_is_none(monkeypatch: pytest.MonkeyPatch, text: str, expected: str) -> None:
    monkeypatch.setenv("STET_X", text)
    assert env_url("STET_X") == expected


@pytest.mark.parametrize("text", ["gpu-1:8000", "ftp://gpu-1", "http://", "/v1", "http:gpu"])
def test_what_is_no_address_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("STET_X", text)
    with pytest.raises(ImproperlyConfigured, match="STET_X must look like"):
        env_url("STET_X")


def test_a_number_is_read_and_an_empty_one_is_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_X", " 42 ")
    assert env_int("STET_X", default=1) == 42
    monkeypatch.setenv("STET_X", "")
    assert env_int("STET_X", default=1) == 1


@pytest.mark.parametrize("text", ["4.5", "ten", "1e3", "0x10"])
def test_a_number_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("STET_X", text)
    with pytest.raises(ImproperlyConfigured, match="STET_X must be a whole number"):
        env_int("STET_X", default=1)


def test_a_number_below_the_least_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_X", "9")
    assert env_int("STET_X", default=1, at_least=9) == 9
    with pytest.raises(ImproperlyConfigured, match="STET_X must be at least 10"):
        env_int("STET_X", default=20, at_least=10)


def test_a_choice_is_one_of_the_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_X", raising=False)
    assert env_choice("STET_X", default="a", choices=("a", "b")) == "a"
    monkeypatch.setenv("STET_X", "b")
    assert env_choice("STET_X", default="a", choices=("a", "b")) == "b"
    monkeypatch.setenv("STET_X", "c")
    with pytest.raises(ImproperlyConfigured, match="STET_X must be one of a, b"):
        env_choice("STET_X", default="a", choices=("a", "b"))


def test_a_list_drops_blanks_and_an_empty_one_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_X", raising=False)
    assert env_list("STET_X", default=["x"]) == ["x"]
    monkeypatch.setenv("STET_X", "a, b,,c ")
    assert env_list("STET_X", default=["x"]) == ["a", "b", "c"]
    monkeypatch.setenv("STET_X", "")
    assert env_list("STET_X", default=["x"]) == []


def test_the_secret_key_is_made_once_and_only_its_owner_may_read_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("STET_SECRET_KEY", raising=False)
    first = secret_key(tmp_path)
    assert len(first) >= 50
    assert secret_key(tmp_path) == first
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_a_secret_key_from_the_environment_wins_and_is_not_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STET_SECRET_KEY", "given")
    assert secret_key(tmp_path) == "given"
    assert not (tmp_path / "secret_key").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("STET_WORKERS", "none"), ("STET_DEBUG", "maybe"), ("STET_LOG_FORMAT", "xml"), ("STET_MAX_PAGES", "0")],
)
def test_a_wrong_setting_stops_every_command_with_its_name(tmp_path: Path, name: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=BASE_DIR,
        env=os.environ | {"STET_DATA_DIR": str(tmp_path), name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"A setting is wrong: {name}")
    assert len(done.stderr.splitlines()) == 1
