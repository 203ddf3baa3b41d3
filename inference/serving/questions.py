"""What is asked of a language model at one time, in no engine's own form; each engine puts it into its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from inference.errors import EngineError
from inference.serving.page_images import PreparedImage
from inference.types import RawAnswer

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: texts and images in the order in which the model sees them."""

    role: Role
    parts: tuple[str | PreparedImage, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """Turns, the last of them the user's; at most `max_tokens` tokens of answer.

    With a `schema` the answer is held to it while it is generated; without one it is free text that ends, at the
    latest, where its first JSON object is closed.
    """

    turns: tuple[Turn, ...]
    max_tokens: int
    schema: Mapping[str, Any] | None = None


class LanguageModel(Protocol):
    """A model that answers questions, wherever it runs."""

    def answer(self, questions: Sequence[Question], seconds: float | None = None) -> list[RawAnswer | EngineError]:
        """Return one answer a question, in their order; `seconds` is the time left for all of them, None is no bound.

        A question that this model never will answer has an error in the place of its answer. Raise
        EngineUnavailableError where none can be answered now.
        """
