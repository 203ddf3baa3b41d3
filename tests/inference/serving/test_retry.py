from collections.abc import Callable

import pytest

from inference.errors import AnswerLostError, EngineError, EngineUnavailableError
from inference.serving.retry import (
    N_ATTEMPTS,
    ConnectionLostError,
    NotConnectedError,
    ServerFailedError,
    with_retries,
)


def failing(*failures: Exception) -> tuple[Callable[[], str], list[int]]:
    """An attempt that raises each of these in turn and then succeeds, and the count of its calls."""
    left, calls = list(failures), [0]

    def attempt() -> str:
        calls[0] += 1
        if left:
            raise left.pop(0)
        return "answer"

    return attempt, calls


@pytest.mark.parametrize("failure", [ConnectionLostError("reset"), NotConnectedError("gone"), ServerFailedError("500")])
def test_broken_connection_and_stumbling_server_are_tried_again(failure: Exception) -> None:
    attempt, calls = failing(failure, failure)
    assert with_retries(attempt, first_wait_seconds=0) == "answer"
    assert calls == [3]


def test_last_failure_is_the_one_that_is_raised() -> None:
    attempt, calls = failing(*(ConnectionLostError(f"number {n}") for n in range(1, 6)))
    with pytest.raises(ConnectionLostError, match="number 3"):
        with_retries(attempt, first_wait_seconds=0)
    assert calls == [N_ATTEMPTS]


@pytest.mark.parametrize("broken", [ConnectionLostError("reset"), ServerFailedError("500")])
def test_server_that_is_gone_after_it_had_the_request_is_not_simply_away(broken: Exception) -> None:
    """It may have died of this request: the attempt must count, or it would go round for ever."""
    attempt, _ = failing(broken, NotConnectedError("refused"), NotConnectedError("refused"))
    with pytest.raises(AnswerLostError) as caught:
        with_retries(attempt, first_wait_seconds=0)
    assert caught.value is broken


def test_server_that_was_never_reached_is_away() -> None:
    attempt, _ = failing(*[NotConnectedError("refused")] * N_ATTEMPTS)
    with pytest.raises(EngineUnavailableError) as caught:
        with_retries(attempt, first_wait_seconds=0)
    assert not isinstance(caught.value, AnswerLostError)


@pytest.mark.parametrize(
    "failure",
    [
        EngineError("refused"),
        EngineUnavailableError("busy"),
        AnswerLostError("answer_late", "out of time"),
        KeyError("bug"),
    ],
)
def test_nothing_else_is_tried_again(failure: Exception) -> None:
    attempt, calls = failing(failure)
    with pytest.raises(type(failure)):
        with_retries(attempt, first_wait_seconds=0)
    assert calls == [1]
