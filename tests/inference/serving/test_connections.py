"""One deadline and one bound on the size hold for a whole exchange with a model server, however it comes in."""

import ssl

import httpx
import pytest

from inference.errors import AnswerLostError, EngineUnavailableError
from inference.serving.chat import attempt, chat_client
from inference.serving.connections import WholeExchanges
from inference.serving.retry import ConnectionLostError, NotConnectedError
from tests.inference.serving.trickling import (
    BODY,
    Manner,
    Trickling,
    answer_never_ends,
    body_trickles,
    headers_trickle,
    request_is_taken_slowly,
)
from tests.replay.server import ReplayServer

REQUEST = b"{}"
LARGE = b" " * 40_000_000
"""More than both sockets hold between them."""


@pytest.mark.parametrize("manner", [body_trickles, headers_trickle])
def test_an_answer_that_trickles_in_is_late(manner: Manner) -> None:
    """Each byte comes well within the time; all of them together would not for a long while."""
    with Trickling(manner) as server, chat_client(server.url) as client, pytest.raises(AnswerLostError) as caught:
        attempt(client, REQUEST, 1.0)
    assert caught.value.code == "answer_late"
    assert not isinstance(caught.value, ConnectionLostError)
    assert server.was_left
    assert 0 < server.n_sent < len(BODY)


def test_a_server_that_takes_the_request_in_slowly_is_late() -> None:
    with (
        Trickling(request_is_taken_slowly) as server,
        chat_client(server.url) as client,
        pytest.raises(AnswerLostError) as caught,
    ):
        attempt(client, LARGE, 1.0)
    assert caught.value.code == "answer_late"
    assert server.was_left
    assert server.n_taken < len(LARGE)


def test_an_answer_without_end_is_given_up_by_its_size() -> None:
    with (
        Trickling(answer_never_ends) as server,
        chat_client(server.url, transport=WholeExchanges(max_bytes=10_000_000)) as client,
        pytest.raises(AnswerLostError) as caught,
    ):
        attempt(client, REQUEST, 60.0)
    assert caught.value.code == "answer_lost"
    assert server.was_left


def test_an_exchange_leaves_its_deadline_to_no_other() -> None:
    """The clock runs on after an exchange; the next one on the same connection has the time that it was given."""
    now = [0.0]
    with (
        ReplayServer([]) as replay,
        httpx.Client(base_url=replay.url, transport=WholeExchanges(clock=lambda: now[0])) as client,
    ):
        for timeout in (5.0, 5.0, None, 5.0):
            assert client.get("/health", timeout=timeout).status_code == 200
            now[0] += 100.0
        assert replay.n_connections == 1


def test_time_that_is_over_before_a_connection_is_made_has_lost_nothing() -> None:
    times = iter([0.0, 10.0])
    with (
        chat_client("http://127.0.0.1:9", transport=WholeExchanges(clock=lambda: next(times))) as client,
        pytest.raises(EngineUnavailableError) as caught,
    ):
        attempt(client, REQUEST, 5.0)
    assert not isinstance(caught.value, AnswerLostError)


def test_errors_are_those_of_httpx() -> None:
    with chat_client("http://127.0.0.1:9") as client, pytest.raises(NotConnectedError, match="ConnectError"):
        attempt(client, REQUEST, 5.0)


def test_certificates_are_asked_for_where_the_address_is_encrypted() -> None:
    with ReplayServer([]) as replay:
        url = replay.url.replace("http:", "https:")
        transport = WholeExchanges(ssl.create_default_context())
        # What listens there speaks no TLS: it is found out, and told as an error of the connection.
        with chat_client(url, transport=transport) as client, pytest.raises(NotConnectedError):
            attempt(client, REQUEST, 5.0)
