"""The single values of an answer with their paths: what everything here agrees on."""

from collections.abc import Iterator
from typing import Any

from inference.types.hints import pointer


def leaves(values: Any, base: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield (JSON Pointer, value) of all that is neither object nor array, in the order of the answer."""
    if isinstance(values, dict):
        for key, value in values.items():
            yield from leaves(value, pointer(base, key))
    elif isinstance(values, list):
        for position, value in enumerate(values):
            yield from leaves(value, pointer(base, position))
    else:
        yield base, values
