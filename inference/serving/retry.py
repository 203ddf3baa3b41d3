"""When the same request is sent once more: where a connection broke, or the server stumbled. Nothing else is."""

import functools
from collections.abc import Callable
from typing import TypeVar

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from inference.errors import AnswerLostError, EngineUnavailableError

N_ATTEMPTS = 3

Answer = TypeVar("Answer")


class NotConnectedError(EngineUnavailableError):
    """No connection could be made: nothing was sent."""


class ConnectionLostError(AnswerLostError):
    """The connection broke before the answer was there.

    A server closes idle connections after five seconds, and after some errors the one it was on: a client that keeps
    connections will meet a closed one now and then. It may as well have died of the request.
    """

    def __init__(self, message: str) -> None:
        super().__init__("answer_lost", message)


class ServerFailedError(AnswerLostError):
    """The server answered that it failed (500)."""

    def __init__(self, message: str) -> None:
        super().__init__("answer_lost", message)


def with_retries(attempt: Callable[[], Answer], *, first_wait_seconds: float = 0.1) -> Answer:
    """Call `attempt` until it returns, at most three times, with growing random pauses; raise what it raised last.

    Where no connection could be made in the end, but an earlier one broke, that one is raised: the server had the
    request, and may have died of it. A request that ran out of time is not sent again: the server may still be working
    on it.
    """
    broken: list[ConnectionLostError | ServerFailedError] = []

    def once() -> Answer:
        try:
            return attempt()
        except (ConnectionLostError, ServerFailedError) as failure:
            broken.append(failure)
            raise

    try:
        return _policy(first_wait_seconds)(once)
    except NotConnectedError:
        if broken:
            raise broken[-1] from None
        raise


@functools.cache
def _policy(first_wait_seconds: float) -> Retrying:
    """Return how often and after what pauses; it keeps its state by thread."""
    return Retrying(
        retry=retry_if_exception_type((NotConnectedError, ConnectionLostError, ServerFailedError)),
        stop=stop_after_attempt(N_ATTEMPTS),
        wait=wait_random_exponential(multiplier=first_wait_seconds, max=2.0),
        reraise=True,
    )
