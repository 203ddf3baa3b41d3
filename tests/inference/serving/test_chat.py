import base64
import json
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import certifi
import httpx
import pytest

from inference.errors import AnswerLostError, EngineError, EngineUnavailableError
from inference.serving import chat
from inference.serving.chat import ServerClient, attempt, chat_client, refusal
from inference.serving.retry import ConnectionLostError, NotConnectedError, ServerFailedError
from tests.replay.server import ReplayServer


def client(answer: Callable[[httpx.Request], httpx.Response], **options: Any) -> ServerClient:
    return chat_client("http://vllm:8000", transport=httpx.MockTransport(answer), **options)


def raising(failure: Exception) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        raise failure

    return answer


def error_body(param: str | None, message: str = "patient Mary Smith, aged 41") -> bytes:
    return json.dumps({"error": {"message": message, "type": "BadRequestError", "param": param, "code": 400}}).encode()


@pytest.mark.parametrize(
    "url", ["http://vllm:8000", "http://vllm:8000/", "http://vllm:8000/v1", "http://vllm:8000/v1/"]
)
def test_attempt_posts_to_the_chat_endpoint_however_the_address_is_written(url: str) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=b"{}")

    assert attempt(chat_client(url, transport=httpx.MockTransport(answer)), b'{"a":1}', 5.0) == b"{}"
    assert (seen[0].method, str(seen[0].url)) == ("POST", "http://vllm:8000/v1/chat/completions")
    assert (seen[0].content, seen[0].headers["content-type"]) == (b'{"a":1}', "application/json")
    assert "authorization" not in seen[0].headers
    assert seen[0].extensions["timeout"]["read"] == 5.0


def test_key_goes_along_where_there_is_one() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200)

    attempt(client(answer, api_key="s3cret"), b"{}")
    assert seen == ["Bearer s3cret"]


def test_a_user_and_a_password_in_the_address_go_along_with_every_request() -> None:
    """A proxy in front of the server may ask for them."""
    seen: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.url.path, request.headers["authorization"]))
        return httpx.Response(200)

    with chat_client("http://stet:pa%20ss@vllm:8000", transport=httpx.MockTransport(answer)) as server:
        attempt(server, b"{}")
        server.get("/health")
    named = f"Basic {base64.b64encode(b'stet:pa ss').decode()}"
    assert seen == [("/v1/chat/completions", named), ("/health", named)]


@pytest.mark.parametrize("scheme", ["http", "https", "all"])
def test_a_proxy_of_the_environment_gets_no_document(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
        # Nobody listens there: a request that went to the proxy would fail.
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with ReplayServer([]) as replay, chat_client(replay.url) as client:
        assert client.get("/health").status_code == 200
        assert replay.n_connections == 1


def test_a_house_with_certificates_of_its_own_may_name_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing else of the environment is asked, but this must still work."""
    first, end, _ = Path(certifi.where()).read_text(encoding="utf-8").partition("-----END CERTIFICATE-----")
    (tmp_path / "own.pem").write_text(first + end + "\n", encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    made: list[ssl.SSLContext] = []
    monkeypatch.setattr(chat, "WholeExchanges", made.append)
    chat_client("https://vllm:8000").close()
    assert len(made[0].get_ca_certs()) == 1


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ReadError("reset"),
        httpx.WriteError("reset"),
        httpx.RemoteProtocolError("closed"),
    ],
)
def test_broken_connection_may_be_tried_again_at_once(failure: Exception) -> None:
    with pytest.raises(ConnectionLostError, match=type(failure).__name__):
        attempt(client(raising(failure)), b"{}")


def test_connection_that_was_never_made_has_lost_nothing() -> None:
    with pytest.raises(NotConnectedError) as caught:
        attempt(client(raising(httpx.ConnectError("refused"))), b"{}")
    assert not isinstance(caught.value, AnswerLostError)


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("slow"), httpx.WriteTimeout("slow")])
def test_time_that_ran_out_may_not(failure: Exception) -> None:
    with pytest.raises(AnswerLostError) as caught:
        attempt(client(raising(failure)), b"{}")
    assert caught.value.code == "answer_late"
    assert not isinstance(caught.value, ConnectionLostError)


@pytest.mark.parametrize("failure", [httpx.ConnectTimeout("gone"), httpx.PoolTimeout("all taken")])
def test_server_that_took_nothing_is_away(failure: Exception) -> None:
    with pytest.raises(EngineUnavailableError) as caught:
        attempt(client(raising(failure)), b"{}")
    assert not isinstance(caught.value, AnswerLostError)


@pytest.mark.parametrize(("seconds", "expected"), [(60.0, 5.0), (2.0, 2.0), (None, 5.0)])
def test_connecting_takes_no_longer_than_the_page_has(seconds: float | None, expected: float) -> None:
    seen: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.extensions["timeout"]["connect"])
        return httpx.Response(200)

    attempt(client(answer), b"{}", seconds)
    assert seen == [expected]


def test_failure_of_the_server_may() -> None:
    with pytest.raises(ServerFailedError):
        attempt(client(lambda request: httpx.Response(500)), b"{}")


@pytest.mark.parametrize(("status", "code"), [(502, "answer_lost"), (504, "answer_late")])
def test_proxy_whose_server_broke_off_says_that_it_had_the_page(status: int, code: str) -> None:
    error = refusal(status, b"")
    assert isinstance(error, AnswerLostError)
    assert error.code == code


@pytest.mark.parametrize("status", [408, 425, 429, 501, 503, 529])
def test_busy_server_is_asked_later(status: int) -> None:
    assert type(refusal(status, b"")) is EngineUnavailableError


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "STET_VLLM_API_KEY"), (403, "STET_VLLM_API_KEY"), (404, "STET_VLLM_URL"), (404, "serve_model")],
)
def test_wrong_set_up_fails_no_page_and_names_the_setting(status: int, hint: str) -> None:
    error = refusal(status, b'{"error":"Unauthorized"}')
    assert isinstance(error, EngineUnavailableError)
    assert hint in str(error)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refused_request_is_the_pages_end(status: int) -> None:
    assert isinstance(refusal(status, error_body(None)), EngineError)


@pytest.mark.parametrize(
    ("param", "remedy"),
    [("input_tokens", "max-model-len"), ("max_tokens", "x-output-limit"), ("image", "limit-mm-per-prompt")],
)
def test_refusal_names_the_parameter_and_the_remedy(param: str, remedy: str) -> None:
    message = str(refusal(400, error_body(param)))
    assert f"parameter {param}" in message
    assert remedy in message


@pytest.mark.parametrize("param", [None, "Mary Smith", "a" * 60, 7])
def test_words_of_the_server_never_reach_a_message(param: Any) -> None:
    message = str(refusal(400, error_body(param)))
    assert "Mary" not in message
    assert "parameter" not in message


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"error":"Unauthorized"}', b'{"error":null}'])
def test_refusal_in_any_form_is_understood(body: bytes) -> None:
    assert str(refusal(400, body)) == "the server refuses the request (400)"
