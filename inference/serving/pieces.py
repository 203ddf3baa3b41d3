"""Token ids as text, one by one."""

from typing import Protocol

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer says of bytes that are no whole character."""

_N_CONTEXT = 6
"""A tokenizer joins pieces by what stands before; so many tokens before are enough."""

_MAX_PARTS = 4
"""UTF-8 has at most so many bytes a character: what is unfinished after as many tokens was never text."""


class Tokenizer(Protocol):
    """What is used of a tokenizer of transformers."""

    def decode(
        self, ids: list[int], *, skip_special_tokens: bool = ..., clean_up_tokenization_spaces: bool = ...
    ) -> str:
        """Return the text of these tokens."""


class Pieces:
    """Says which text each token adds: one that ends inside a character none, the one that completes it all of it."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids: list[int] = []
        self._n_given = 0

    def push(self, token_id: int) -> str:
        """Return the text that this token adds."""
        self._ids.append(token_id)
        start = max(0, self._n_given - _N_CONTEXT)
        before = self._decoded(self._ids[start : self._n_given])
        text = self._decoded(self._ids[start:])
        if text.endswith(UNFINISHED) and len(self._ids) - self._n_given < _MAX_PARTS:
            return ""
        self._n_given = len(self._ids)
        return text[len(before) :]

    def _decoded(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
