"""What a version asks of a page, as a conversation to learn from: the very turns that its engine asks."""

from collections.abc import Mapping
from typing import Any, cast

from inference.serving.page_images import PreparedImage
from inference.serving.prompts import Prompt, turns_for

_PICTURE = cast("PreparedImage", object())


def asked_of(prompt: Prompt, schema: Mapping[str, Any]) -> list[str | None]:
    """Return the question about one page as texts around its picture (None), in the order in which they are asked."""
    # The picture's own pixels stand nowhere in the texts.
    [turn] = turns_for(prompt, schema, _PICTURE)
    return [part if isinstance(part, str) else None for part in turn.parts]


def as_parts(asked: list[str | None]) -> tuple[Mapping[str, str], ...]:
    """Return a question as typed parts, in TRL's form."""
    return tuple({"type": "image"} if part is None else {"type": "text", "text": part} for part in asked)
