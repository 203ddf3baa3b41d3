"""Where an engine version is served: read strictly, and from one place."""

import pytest

from inference.errors import EngineUnavailableError
from inference.serving.environment import address_of, addresses, page_seconds, server_key, server_url

DIGEST = "1f2e3d4c" + "0" * 56
OTHER = "9a8b7c6d" + "0" * 56


def test_each_version_has_the_address_that_is_written_beside_its_digest() -> None:
    text = "1f2e3d4c=http://gpu-1:8000, 9A8B7C6D00 = https://gpu-2/ ,"
    assert addresses(text) == {"1f2e3d4c": "http://gpu-1:8000", "9a8b7c6d00": "https://gpu-2/"}
    assert addresses("  ") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://gpu-1:8000", "does not begin with 8 letters"),
        ("1f2e3d4=http://gpu-1:8000", "does not begin with 8 letters"),
        ("engine-1=http://gpu-1:8000", "does not begin with 8 letters"),
        (f"{'a' * 65}=http://gpu-1:8000", "does not begin with 8 letters"),
        ("1f2e3d4c=", "'' does not look like"),
        ("1f2e3d4c=gpu-1:8000", "'gpu-1:8000' does not look like"),
        ("1f2e3d4c=ftp://gpu-1", "does not look like"),
        ("1f2e3d4c=http://gpu-1:port", "does not look like"),
        ("1f2e3d4c=http://[gpu-1", "does not look like"),
        ("1f2e3d4c=http://a,1f2e3d4c=http://b", "may begin the same digest"),
        ("1f2e3d4c=http://a,1f2e3d4c00=http://b", "may begin the same digest"),
        ("1f2e3d4c00=http://a,1f2e3d4c=http://b", "may begin the same digest"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_what_is_wrong_with_it(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        addresses(text)


def test_a_version_without_an_address_of_its_own_has_that_of_all() -> None:
    urls = "1f2e3d4c=http://gpu-1:8000"
    assert address_of(DIGEST, urls=urls, url="http://gpu-0") == "http://gpu-1:8000"
    assert address_of(OTHER, urls=urls, url=" http://gpu-0 ") == "http://gpu-0"
    assert address_of(OTHER, urls=urls, url="") == ""


def test_the_server_is_the_one_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://gpu-0")
    monkeypatch.setenv("STET_VLLM_URLS", "1f2e3d4c=http://gpu-1:8000")
    assert (server_url(DIGEST), server_url(OTHER)) == ("http://gpu-1:8000", "http://gpu-0")


def test_a_version_that_no_variable_names_a_server_for_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_VLLM_URL", raising=False)
    monkeypatch.setenv("STET_VLLM_URLS", "1f2e3d4c=http://gpu-1:8000")
    with pytest.raises(EngineUnavailableError, match="STET_VLLM_URL names no server, and STET_VLLM_URLS none for 9a8b"):
        server_url(OTHER)


def test_addresses_that_cannot_be_understood_ask_no_other_server_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_VLLM_URL", "http://gpu-0")
    monkeypatch.setenv("STET_VLLM_URLS", "1f2e=http://gpu-1:8000")
    with pytest.raises(EngineUnavailableError, match="STET_VLLM_URLS cannot be understood"):
        server_url(OTHER)


def test_key_and_time_are_those_of_the_environment_or_their_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STET_VLLM_API_KEY", raising=False)
    monkeypatch.setenv("STET_MODEL_SECONDS", "")
    assert (server_key(), page_seconds()) == ("", 80.0)
    monkeypatch.setenv("STET_VLLM_API_KEY", "s3cret")
    monkeypatch.setenv("STET_MODEL_SECONDS", "30")
    assert (server_key(), page_seconds()) == ("s3cret", 30.0)
