"""Log-probabilities of tokens become evidence for values: which tokens wrote which characters (B6)."""

import math
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
        first = len(text[: spans[path][0]].encode("utf-8", "surrogatepass"))
        last = len(text[: spans[path][1] + 1].encode("utf-8", "surrogatepass"))
        its = [
            token
            for token, start, end in zip(tokens, starts, ends, strict=False)
            if start < last and end > first and start < len(encoded) and not _is_forced(token)
        ]
        if its:
            evidence[path] = _numbers(its)
    return evidence


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
    known = [math.exp(logprob) for _, logprob in token.alternatives]
    rest = max(1.0 - sum(known), 0.0)
    return -sum(share * math.log(share) for share in [*known, rest] if share > 0.0)
