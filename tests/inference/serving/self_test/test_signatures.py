import math

import pytest

from inference.serving.self_test.signatures import distance, probabilities
from inference.types import RawAnswer, Token


def token(text: str, share: float, **others: float) -> Token:
    listed = {text: share} | others
    alternatives = tuple((name.encode(), math.log(p) if p else -9999.0) for name, p in listed.items())
    return Token(text.encode(), math.log(share), alternatives)


def answer(*tokens: Token, text: str = "") -> RawAnswer:
    return RawAnswer(text or b"".join(one.data for one in tokens).decode(), "stop", tokens)


def test_what_the_grammar_forbids_has_no_probability() -> None:
    assert probabilities(token("a", 0.75, b=0.25, c=0.0)) == pytest.approx({b"a": 0.75, b"b": 0.25})


def test_a_chosen_token_counts_though_it_is_not_among_the_likeliest() -> None:
    assert probabilities(Token(b"a", math.log(0.1), ((b"b", math.log(0.9)),))) == pytest.approx({b"a": 0.1, b"b": 0.9})


def test_equal_answers_do_not_lie_apart() -> None:
    assert distance(answer(token("a", 0.9, b=0.1)), answer(token("a", 0.9, b=0.1))) == 0


def test_answers_lie_apart_by_their_largest_difference() -> None:
    one = answer(token("a", 0.9, b=0.1), token("c", 0.8))
    other = answer(token("a", 0.6, b=0.3), token("c", 0.7))
    assert distance(one, other) == pytest.approx(0.3)
    assert distance(one, other) == distance(other, one)


def test_nothing_is_compared_after_the_first_token_that_differs() -> None:
    one = answer(token("a", 0.5, b=0.4), token("c", 0.9))
    other = answer(token("b", 0.5, a=0.4), token("c", 0.1))
    assert distance(one, other) == pytest.approx(0.1)


def test_a_token_that_is_not_listed_is_below_those_that_are() -> None:
    one = answer(token("a", 0.9, b=0.1))
    other = answer(token("b", 0.6, c=0.3))
    assert distance(one, other) == pytest.approx(0.6)


@pytest.mark.parametrize(("text", "apart"), [("x", 0.0), ("y", 1.0)])
def test_without_probabilities_texts_are_compared(text: str, apart: float) -> None:
    assert distance(answer(text="x"), answer(text=text)) == apart
