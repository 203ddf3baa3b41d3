"""What is tried out: a version and the model that runs it, with the questions that are put to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inference.serving.page_images import PreparedImage, prepare_page
from inference.serving.questions import Question, Turn
from inference.types import ImagingProfile, PageImage, RawAnswer, VlmSpec

MAX_TOKENS = 64

SECRET = "stet-7f31"  # noqa: S105 - no password: a word that no model writes unless it is made to
CHOICE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["code", "digit"],
    "properties": {"code": {"enum": [SECRET]}, "digit": {"enum": [1, 2]}},
}
"""An answer that nobody gives by chance, with one place where two tokens are allowed."""


@dataclass(frozen=True, slots=True)
class Subject:
    """`ask` puts questions one after the other, `ask_together` all at one time; both keep their order."""

    spec: VlmSpec
    ask: Callable[[Sequence[Question]], list[RawAnswer]]
    ask_together: Callable[[Sequence[Question]], list[RawAnswer]]

    def prepared(self, page: PageImage, profile: ImagingProfile | None = None) -> PreparedImage:
        """Return a page as this version's engine would send it."""
        return prepare_page(page, profile or self.spec.imaging)


def free_question(image: PreparedImage, max_tokens: int = MAX_TOKENS) -> Question:
    """Return a question that the model may answer as it likes."""
    return Question((Turn("user", (image, "OCR:")),), max_tokens)


def choice_question(image: PreparedImage) -> Question:
    """Return a question whose answer is fixed by its schema but for one digit."""
    return Question((Turn("user", (image, "What is printed on this page?")),), MAX_TOKENS, CHOICE_SCHEMA)
