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


def test_what_the_grammar_forces_does_not_count() -> None:
    tokens = [forced('{"total": "'), forced("1"), forced('"'), forced("}")]
    assert token_evidence('{"total": "1"}', tokens, {"total": "1"}) == {}


def test_a_character_in_two_tokens_belongs_to_its_value_with_both() -> None:
    first, second = "合".encode()[:2], "合".encode()[2:]
    tokens = [forced('{"seller": "'), token(first, 0.5), token(second, 0.9), token('"', 0.9), forced("}")]
    evidence = token_evidence('{"seller": "合"}', tokens, {"seller": "合"})
    assert evidence["/seller"]["n_tokens"] == 3
    assert evidence["/seller"]["token_min"] == pytest.approx(0.5)


def test_an_escape_is_the_characters_that_were_written() -> None:
    text = '{"a": "x\\u0041\\"y", "b": "7"}'
    tokens = [token(character, 0.5 if character == "7" else 0.9) for character in text]
    evidence = token_evidence(text, tokens, {"a": 'xA"y', "b": "7"})
    assert evidence["/a"]["n_tokens"] == len('x\\u0041\\"y') + 1
    assert evidence["/b"]["token_min"] == pytest.approx(0.5)
    assert evidence["/a"]["token_min"] == pytest.approx(0.9)


def test_the_end_token_belongs_to_no_value() -> None:
    evidence = token_evidence('{"a": 1', [token('{"a": '), token("1"), token("</s>", 0.1)], {"a": "1"})
    assert evidence == {}


def test_rows_and_nothing_have_evidence_of_their_own() -> None:
    text = '{"rows": [{"a": null}, {"a": "2"}]}'
    evidence = token_evidence(text, [token(character) for character in text], {"rows": [{"a": None}, {"a": "2"}]})
    assert set(evidence) == {"/rows/0/a", "/rows/1/a"}


def test_prose_around_the_answer_shifts_nothing() -> None:
    text = 'So {it} is: {"a": "7"}'
    evidence = token_evidence(text, [token(c, 0.3 if c == "7" else 0.9) for c in text], {"a": "7"})
    assert evidence["/a"]["token_min"] == pytest.approx(0.3)


@pytest.mark.parametrize("tokens", [[], [token("other")]])
def test_tokens_that_did_not_write_the_text_are_no_evidence(tokens: list[Token]) -> None:
    assert token_evidence('{"a": "7"}', tokens, {"a": "7"}) == {}


def test_a_value_that_does_not_stand_there_has_no_evidence() -> None:
    text = '{"a": "7"}'
    assert token_evidence(text, [token(c) for c in text], {"a": "8"}) == {}


def test_without_alternatives_there_is_no_margin_and_no_entropy() -> None:
    text = '{"a": "7"}'
    evidence = token_evidence(text, [Token(c.encode(), -0.1) for c in text], {"a": "7"})
    assert set(evidence["/a"]) == {"token_min", "token_mean", "n_tokens"}


def test_a_token_that_was_not_the_likeliest_has_no_lead() -> None:
    text = '{"a": "7"}'
    evidence = token_evidence(text, [token(c, 0.2, 0.7) for c in text], {"a": "7"})
    assert evidence["/a"]["token_margin"] == 0.0


def test_what_cannot_come_adds_nothing_to_the_doubt() -> None:
    impossible = Token(b"7", math.log(0.5), ((b"7", math.log(0.5)), (b"8", -math.inf)))
    tokens = [token('{"a": "'), impossible, token('"}')]
    assert token_evidence('{"a": "7"}', tokens, {"a": "7"})["/a"]["token_entropy"] == pytest.approx(math.log(2))
