"""Generated tokens as text, piece by piece: when to stop, and how probable each was."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import StoppingCriteria

from inference.serving.closing import BraceScanner
from inference.serving.partial_tokens import with_shared_bytes
from inference.serving.pieces import Pieces
from inference.types import Token

FORBIDDEN = -9999.0
"""What a server reports for what a grammar forbids."""


class ClosedObject(StoppingCriteria):  # type: ignore[misc]
    """Stops a generation of one sequence after the brace that closes its first JSON object (R3)."""

    def __init__(self, tokenizer: Any, n_prompt_tokens: int) -> None:  # noqa: ANN401
        self._pieces = Pieces(tokenizer)
        self._scanner = BraceScanner()
        self._n_seen = n_prompt_tokens

    @property
    def is_closed(self) -> bool:
        """Whether that was the end of it."""
        return self._scanner.is_closed

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:  # noqa: ANN401, ARG002
        """Look at the tokens that are new; true for the sequence once its object is closed."""
        for token_id in input_ids[0, self._n_seen :].tolist():
            self._scanner.feed(self._pieces.push(token_id))
        self._n_seen = int(input_ids.shape[1])
        return torch.tensor([self.is_closed], device=input_ids.device, dtype=torch.bool)


def generated_tokens(tokenizer: Any, ids: Sequence[int], scores: Sequence[Any], n_top: int) -> tuple[Token, ...]:  # noqa: ANN401
    """Return the tokens with their log-probabilities; none where `n_top` alternatives are none.

    `scores` holds for each token the scores of the whole vocabulary, shape (1, vocabulary), a grammar's mask applied.
    """
    if n_top == 0:
        return ()
    pieces = Pieces(tokenizer)
    tokens = []
    for token_id, step in zip(ids, scores, strict=False):
        logprobs = torch.log_softmax(step[0].float(), dim=-1).clamp(min=FORBIDDEN)
        best = torch.topk(logprobs, n_top)
        data = pieces.push(token_id).encode()
        alternatives = tuple(
            (data if other == token_id else tokenizer.decode([other]).encode(), float(logprob))
            for other, logprob in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        tokens.append(Token(data, float(logprobs[token_id]), alternatives))
    return with_shared_bytes(tokens)
