"""How far two answers lie apart, by the probabilities of their tokens: finer than their texts."""

import math
from collections.abc import Mapping

from inference.types import RawAnswer, Token

FORBIDDEN = -9000.0
"""What the grammar forbids comes with a log-probability of -9999."""


def distance(one: RawAnswer, other: RawAnswer) -> float:
    """Return the largest difference of a token's probability (0-1) between two answers.

    Tokens are compared place by place up to the first place where different ones were chosen; answers without
    log-probabilities are 0 or 1 apart by their texts.
    """
    if not (one.tokens and other.tokens):
        return float(one.text != other.text)
    largest = 0.0
    for ours, theirs in zip(one.tokens, other.tokens, strict=False):
        largest = max(largest, _apart(ours, theirs))
        if ours.data != theirs.data:
            break
    return largest


def _apart(ours: Token, theirs: Token) -> float:
    mine, its = probabilities(ours), probabilities(theirs)
    return max(_one_sided(mine, its), _one_sided(its, mine))


def _one_sided(mine: Mapping[bytes, float], its: Mapping[bytes, float]) -> float:
    """Return how much likelier a token is here than there; one that is not listed there is below all that are."""
    least = min(its.values(), default=0.0)
    return max((share - its.get(data, least) for data, share in mine.items()), default=0.0)


def probabilities(token: Token) -> dict[bytes, float]:
    """Return the probability of the token and of each alternative that was not forbidden."""
    listed = {**dict(token.alternatives), token.data: token.logprob}
    return {data: math.exp(logprob) for data, logprob in listed.items() if logprob > FORBIDDEN}
