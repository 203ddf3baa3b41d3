"""Log-probabilities of tokens become evidence for values: which tokens wrote which characters (B6)."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from inference.answers.leaves import leaves
from inference.answers.spans import value_spans
from inference.types import Token

# What vLLM reports for a token that the grammar forbids is -9999; real ones stay far above this.
FORBIDDEN = -1000.0


def token_evidence(text: str, tokens: Sequence[Token], values: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Map the path of each leaf of `values` to named numbers from the tokens that wrote it.

    `text` is the raw answer, `values` what was understood of it. The tokens of a value are those that hold one of its
    characters in `text` (an escape is its characters as written, quotes are not part) or the character after its last,
    since ending there was a choice too. The end token belongs to no value. Where a grammar left one choice, the token
    says nothing and does not count; a value of such tokens alone has no evidence, nor has one whose characters cannot
    be told for certain. The numbers: "token_min" (lowest probability), "token_mean" (geometric mean of probabilities),
    "token_margin" (smallest lead over the best other token, 0 where another one was likelier), "token_entropy"
    (largest, nats, over the alternatives known), "n_tokens". Margin and entropy are absent without alternatives.
    """
    ends = list(accumulate(len(token.data) for token in tokens))
    written = b"".join(token.data for token in tokens)
    encoded = text.encode("utf-8", "surrogatepass")
    if not encoded or not written.startswith(encoded):
        return {}
    spans = value_spans(text, values)
    starts = [0, *ends]
    evidence = {}
    for path, _ in leaves(dict(values)):
        if path not in spans:
            continue
        first, last = (_n_bytes(text, at) for at in (spans[path][0], spans[path][1] + 1))
        # Those that end behind its first byte and begin before its last: a table has as many values as tokens.
        its = tokens[bisect_right(ends, first) : bisect_left(starts, min(last, len(encoded)))]
        if choices := [token for token in its if not _is_forced(token)]:
            evidence[path] = _numbers(choices)
    return evidence


def _n_bytes(text: str, n_characters: int) -> int:
    """Return how many bytes the first characters of a text take."""
    return min(n_characters, len(text)) if text.isascii() else len(text[:n_characters].encode("utf-8", "surrogatepass"))


def _is_forced(token: Token) -> bool:
    return token.logprob == 0.0 and all(
        logprob <= FORBIDDEN for data, logprob in token.alternatives if data != token.data
    )


def _numbers(tokens: Sequence[Token]) -> dict[str, float]:
    logprobs = [token.logprob for token in tokens]
    numbers = {
        "token_min": math.exp(min(logprobs)),
        "token_mean": math.exp(sum(logprobs) / len(logprobs)),
        "n_tokens": float(len(tokens)),
    }
    if all(token.alternatives for token in tokens):
        numbers["token_margin"] = min(_margin(token) for token in tokens)
        numbers["token_entropy"] = max(_entropy(token) for token in tokens)
    return numbers


def _margin(token: Token) -> float:
    others = [math.exp(logprob) for data, logprob in token.alternatives if data != token.data]
    return max(math.exp(token.logprob) - max(others, default=0.0), 0.0)


def _entropy(token: Token) -> float:
    known = [(math.exp(logprob), logprob) for _, logprob in token.alternatives]
    rest = 1.0 - sum(share for share, _ in known)
    said = sum(share * logprob for share, logprob in known if share > 0.0)
    return -said - (rest * math.log(rest) if rest > 0.0 else 0.0)
