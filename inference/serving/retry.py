"""When the same request is sent once more: where a connection broke, or the server stumbled. Nothing else is."""

from collections.abc import Callable
from typing import TypeVar

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from inference.errors import EngineUnavailableError

N_ATTEMPTS = 3

Answer = TypeVar("Answer")


class ConnectionLostError(EngineUnavailableError):
    """The connection could not be made, or broke before the answer was there.

    A server closes idle connections after five seconds, and after some errors the one it was on: a client that keeps
    connections will meet a closed one now and then.
    """


class ServerFailedError(EngineUnavailableError):
    """The server answered that it failed (500)."""


def with_retries(attempt: Callable[[], Answer], *, first_wait_seconds: float = 0.1) -> Answer:
    """Call `attempt` until it returns, at most three times, with growing random pauses; raise what it raised last.

    A request that ran out of time is not sent again: the server may still be working on it.
    """
    policy = Retrying(
        retry=retry_if_exception_type((ConnectionLostError, ServerFailedError)),
        stop=stop_after_attempt(N_ATTEMPTS),
        wait=wait_random_exponential(multiplier=first_wait_seconds, max=2.0),
        reraise=True,
    )
    return policy(attempt)
