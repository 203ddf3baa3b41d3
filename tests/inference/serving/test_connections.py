"""One deadline and one bound on the size hold for a whole exchange with a model server, however it comes in."""

import socket
import ssl

import httpcore
import httpx
import pytest

from inference.errors import AnswerLostError, EngineUnavailableError
from inference.serving.chat import attempt, chat_client
from inference.serving.connections import WholeExchanges, _Deadline
from inference.serving.retry import ConnectionLostError, NotConnectedError
from tests.inference.serving.trickling import (
    BODY,
    Manner,
    Trickling,
    answer_is_compressed,
    answer_never_ends,
    body_trickles,
    headers_trickle,
    request_is_taken_slowly,
)
from tests.replay.server import ReplayServer

REQUEST = b"{}"
LARGE = b" " * 40_000_000
"""More than both sockets hold between them."""


class SlowSocket:
    """Takes in a thousand bytes a second, by a clock that only it moves, and never answers."""

    def __init__(self) -> None:
        self.now = 0.0
        self.n_taken = 0
        self.is_closed = False

    def send(self, data: memoryview) -> int:
        n = min(len(data), 1000)
        self.n_taken += n
        self.now += 1.0
        return n

    def recv(self, n_bytes: int) -> bytes:
        raise TimeoutError

    def settimeout(self, seconds: float) -> None:
        """Wait for nothing."""

    def setsockopt(self, *option: int) -> None:
        """Be the same with any option."""

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowSocket:
    """What every connection is made to."""
    found = SlowSocket()
    monkeypatch.setattr(socket, "create_connection", lambda *_address, **_options: found)
    return found


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


def test_the_time_for_sending_is_not_given_anew_for_each_piece_that_is_taken(slow: SlowSocket) -> None:
    with (
        chat_client("http://vllm", transport=WholeExchanges(clock=lambda: slow.now)) as client,
        pytest.raises(AnswerLostError) as caught,
    ):
        attempt(client, b" " * 100_000, 5.0)
    assert caught.value.code == "answer_late"
    assert slow.n_taken < 6_000
    assert slow.is_closed


def test_a_compressed_answer_is_refused_before_it_is_unpacked() -> None:
    """Its size would be bounded as it is sent, and not as it is kept."""
    with (
        Trickling(answer_is_compressed) as server,
        chat_client(server.url, transport=WholeExchanges(max_bytes=1_000_000)) as client,
        pytest.raises(ConnectionLostError),
    ):
        attempt(client, REQUEST, 60.0)


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


def test_a_step_may_take_no_longer_than_what_is_left() -> None:
    """A server that falls silent after its first bytes has the rest of the time, not all of it once more."""
    now = [0.0]
    deadline = _Deadline(lambda: now[0])
    deadline.begin(5.0)
    now[0] = 3.0
    assert [deadline.left(timeout, httpcore.ReadTimeout) for timeout in (5.0, 1.0, None)] == [2.0, 1.0, 2.0]
    now[0] = 5.0
    with pytest.raises(httpcore.ReadTimeout):
        deadline.left(5.0, httpcore.ReadTimeout)


def test_time_that_is_over_before_a_connection_is_made_has_lost_nothing() -> None:
    times = iter([0.0, 10.0])
    with (
        chat_client("http://127.0.0.1:9", transport=WholeExchanges(clock=lambda: next(times))) as client,
        pytest.raises(EngineUnavailableError) as caught,
    ):
        attempt(client, REQUEST, 5.0)
    assert not isinstance(caught.value, AnswerLostError)


def test_a_connection_whose_time_is_over_before_it_is_encrypted_is_closed(slow: SlowSocket) -> None:
    times = iter([0.0, 1.0, 10.0])
    transport = WholeExchanges(ssl.create_default_context(), clock=lambda: next(times))
    with chat_client("https://vllm", transport=transport) as client, pytest.raises(EngineUnavailableError):
        attempt(client, REQUEST, 5.0)
    assert slow.is_closed


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
