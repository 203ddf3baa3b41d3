"""Tokens that end inside a character: how vLLM and tokenizers tell them, and how they are told here."""

from collections.abc import Sequence
from dataclasses import replace

from inference.types import Token


def with_shared_bytes(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Give each token that only began a character one byte of it.

    vLLM (0.32) and decoding piece by piece report such tokens as nothing, and the whole character with the token that
    completes it, so that the choice between characters, which the first of them makes, would belong to no character.
    The bytes of all tokens together stay what they are.
    """
    shared: list[Token] = []
    n_waiting = 0
    for token in tokens:
        if not token.data:
            n_waiting += 1
            shared.append(token)
            continue
        n_bytes = _length_of_first_character(token.data)
        n_begun = min(n_waiting, n_bytes - 1)
        for back in range(n_begun):
            at = len(shared) - n_begun + back
            shared[at] = _renamed(shared[at], token.data[back : back + 1])
        shared.append(_renamed(token, token.data[n_begun:]) if n_begun else token)
        n_waiting = 0
    return tuple(shared)


def _renamed(token: Token, data: bytes) -> Token:
    """Return the token with other bytes, itself among its alternatives under the same ones."""
    alternatives = list(token.alternatives)
    own = next((n for n, one in enumerate(alternatives) if one == (token.data, token.logprob)), None)
    if own is not None:
        alternatives[own] = (data, token.logprob)
    return replace(token, data=data, alternatives=tuple(alternatives))


def _length_of_first_character(data: bytes) -> int:
    """Return how many bytes UTF-8 takes for the character that begins here; 1 where none does."""
    lead = data[0]
    return 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
