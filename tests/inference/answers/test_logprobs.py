import math

import pytest

from inference.answers.logprobs import token_evidence
from inference.types import Token

FORBIDDEN = -9999.0


def token(data: str | bytes, probability: float = 0.9, runner_up: float = 0.05) -> Token:
    own = data if isinstance(data, bytes) else data.encode()
    return Token(own, math.log(probability), ((own, math.log(probability)), (b"~", math.log(runner_up))))


def forced(data: str) -> Token:
    return Token(data.encode(), 0.0, ((data.encode(), 0.0), (b"~", FORBIDDEN)))


def test_the_tokens_of_a_value_are_its_characters_and_the_one_that_ends_it() -> None:
    tokens = [
        forced('{"total": "'),
        token("12", 0.5),
        token(".5", 0.8),
        token('"', 0.6),
        forced("}"),
        token("</s>", 0.1),
    ]
    evidence = token_evidence('{"total": "12.5"}', tokens, {"total": "12.5"})
    assert evidence == {
        "/total": {
            "token_min": pytest.approx(0.5),
            "token_mean": pytest.approx((0.5 * 0.8 * 0.6) ** (1 / 3)),
            "token_margin": pytest.approx(0.45),
            "token_entropy": pytest.approx(-(0.5 * math.log(0.5) + 0.05 * math.log(0.05) + 0.45 * math.log(0.45))),
            "n_tokens": 3.0,
        }
    }
