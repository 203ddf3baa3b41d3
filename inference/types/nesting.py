"""Values by field path, and the same values in the form that the schema describes."""

from collections.abc import Mapping, Sequence
from typing import Any


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as the document that the schema describes: "/line_items/0/amount" lies in a list of rows."""
    root: dict[str, Any] = {}
    for path, value in values.items():
        _put(root, [key.replace("~1", "/").replace("~0", "~") for key in path.split("/")[1:]], value)
    return root


def _put(node: Any, keys: Sequence[str], value: Any) -> None:  # noqa: ANN401 - a tree of mappings and lists
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        child: Any = value if following is None else [] if following.isdecimal() else {}
        if isinstance(node, list):
            row = int(key)
            node.extend({} for _ in range(row + 1 - len(node)))
            node = node[row]
        elif following is None:
            node[key] = child
        else:
            node = node.setdefault(key, child)
