"""A given answer's scores become an exchange of the shape in which answers come."""

import json
from typing import Any

import httpx
import pytest

from inference.serving.wire import raw_answer
from tests.replay.exchanges import Exchange
from tests.replay.server import CHAT
from tests.slips.scoring import SCORED, largest_difference, scored

ASKED = json.dumps({"model": "m", "messages": [{"role": "user", "content": "?"}], "logprobs": True, "max_tokens": 9})


def look(text: str, logprob: float, rank: int) -> dict[str, Any]:
    return {"decoded_token": text, "logprob": logprob, "rank": rank}


def answered(*tokens: tuple[str, float]) -> Exchange:
    content = [{"token": text, "logprob": logprob, "bytes": list(text.encode())} for text, logprob in tokens]
    message = {"content": "".join(text for text, _ in tokens)}
    choice = {"message": message, "finish_reason": "stop", "logprobs": {"content": content}}
    return Exchange(CHAT, {}, 200, {"id": "x", "choices": [choice], "usage": {"prompt_tokens": 2}})


def client(heard: list[dict[str, Any]]) -> httpx.Client:
    """A server that was given two tokens of question and "ab" as an answer; it would have written "cb"."""

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(json.loads(request.content))
        looks = [
            None,
            {"8": look("?", -1.0, 1)},
            {"1": look("a", -4.0, 7), "3": look("c", -0.1, 1), "4": look("d", -3.0, 2)},
            {"2": look("b", -0.2, 1), "4": look("d", -3.0, 2)},
        ]
        return httpx.Response(200, json={"prompt_token_ids": [0, 8, 1, 2], "prompt_logprobs": looks})

    return httpx.Client(base_url="http://server", transport=httpx.MockTransport(answer))


def test_a_given_answer_reads_like_one_that_came() -> None:
    heard: list[dict[str, Any]] = []
    exchange = scored(client(heard), ASKED.encode(), answered(("cb", -0.3)), "ab", 2)
    assert exchange.response["id"] == SCORED
    raw = raw_answer(json.dumps(exchange.response).encode(), is_free=False, seconds=0.0)
    assert (raw.text, raw.finish_reason, raw.n_tokens) == ("ab", "stop", 2)
    first, second = raw.tokens
    assert (first.data, first.logprob, first.alternatives) == (b"a", -4.0, ((b"c", -0.1), (b"d", -3.0)))
    assert (second.data, second.logprob) == (b"b", -0.2)


def test_the_server_is_asked_to_go_on_behind_the_answer_and_to_constrain_nothing() -> None:
    heard: list[dict[str, Any]] = []
    scored(client(heard), ASKED.encode(), answered(("cb", -0.3)), "ab", 2)
    [body] = heard
    assert body["messages"][-1] == {"role": "assistant", "content": "ab"}
    assert body["continue_final_message"] is True
    assert body["prompt_logprobs"] == 2
    assert "logprobs" not in body


def test_scores_of_another_text_are_refused() -> None:
    with pytest.raises(ValueError, match="another text"):
        scored(client([]), ASKED.encode(), answered(("cb", -0.3)), "cb", 2)


def test_two_accounts_of_an_answer_are_compared_token_by_token() -> None:
    one, other = answered(("a", -0.1), ("b", 0.0)), answered(("a", -0.2), ("b", -9.0))
    assert largest_difference(one, one) == 0.0
    assert largest_difference(one, other) == pytest.approx(0.9048 - 0.8187, abs=1e-3)
