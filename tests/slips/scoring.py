"""What a real server thinks of an answer that its model did not give: the answer's tokens, scored as they stand."""

import copy
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from tests.replay.exchanges import Exchange
from tests.replay.record import RecordingTransport
from tests.replay.server import CHAT

SCORED = "scored"
"""The id of a response that was put together from the scores of an answer that was given to the model."""


class AskingTransport(RecordingTransport):
    """Keeps the last chat request too, as it went to the server, pictures and all."""

    asked: bytes = b""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if request.url.path == CHAT:
            self.asked = self._renamed(request).content
        return response


def scored(client: httpx.Client, asked: bytes, answered: Exchange, text: str, top: int) -> Exchange:
    """Return `answered` with another answer in it, and with the log-probabilities that the server gives its tokens.

    `asked` is the request that was answered. The server is given question and answer and tells how likely it held
    each token, before any grammar's mask; of the end token it is told nothing. Raise ValueError where what it tells
    is not about this text.
    """
    body = {name: value for name, value in json.loads(asked).items() if name not in _OF_WRITING}
    body["messages"].append({"role": "assistant", "content": text})
    body |= {
        "max_tokens": 1,
        "prompt_logprobs": top,
        "return_token_ids": True,
        "add_generation_prompt": False,
        "continue_final_message": True,
    }
    told = client.post(CHAT, json=body, timeout=120)
    told.raise_for_status()
    data = told.json()
    first = answered.response["usage"]["prompt_tokens"]
    ids, looks = data["prompt_token_ids"][first:], data["prompt_logprobs"][first:]
    entries = [_entry(token, look, top) for token, look in zip(ids, looks, strict=True)]
    if "".join(entry["token"] for entry in entries) != text:
        raise ValueError("the server scored another text")
    response = copy.deepcopy(answered.response)
    response["id"] = SCORED
    response["choices"][0]["message"]["content"] = text
    response["choices"][0]["logprobs"]["content"] = entries
    response["usage"] |= {"completion_tokens": len(entries), "total_tokens": first + len(entries)}
    return Exchange(answered.path, answered.request, 200, response)


_OF_WRITING = frozenset({"structured_outputs", "logprobs", "top_logprobs"})


def _entry(token_id: int, look: Mapping[str, Any], top: int) -> dict[str, Any]:
    """Return one token as a chat response tells it."""
    own = look[str(token_id)]
    best = sorted((one for one in look.values() if one["rank"] <= top), key=lambda one: one["rank"])
    return {**_told(own), "top_logprobs": [_told(one) for one in best]}


def _told(look: Mapping[str, Any]) -> dict[str, Any]:
    text = look["decoded_token"]
    return {"token": text, "logprob": look["logprob"], "bytes": list(text.encode())}


def largest_difference(one: Exchange, other: Exchange) -> float:
    """Return how far two accounts of the same answer differ in a token's probability, forced tokens left out."""

    def choices(exchange: Exchange) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = exchange.response["choices"][0]["logprobs"]["content"]
        return found

    pairs = zip(choices(one), choices(other), strict=False)
    return max(abs(_probability(a) - _probability(b)) for a, b in pairs if a["logprob"] and b["logprob"])


def _probability(entry: Mapping[str, Any]) -> float:
    return math.exp(entry["logprob"])
