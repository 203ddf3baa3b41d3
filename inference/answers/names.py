"""The names that a document type asks for: the fixed points in a text that is broken."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inference.answers.marks import COLONS, OPEN_OBJECT, QUOTES, any_of

QUOTE, COLON = any_of(QUOTES), any_of(COLONS)


def names_below(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of all properties, at any depth."""
    for name, child in node.get("properties", {}).items():
        yield name
        yield from names_below(child)
    if "items" in node:
        yield from names_below(node["items"])


class Names:
    """Patterns that find names in a text: `key` any, `quoted` and `bare` known ones, `anchor` an answer's first."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        known = _one_of(set(names_below(schema)))
        roots = _one_of(set(schema["properties"]))
        self.quoted = re.compile(rf"{QUOTE}\s*(?:{known})\s*{QUOTE}\s*{COLON}")
        self.bare = re.compile(rf"(?:{known})\s*{COLON}")
        self.beside_quote = re.compile(rf"{QUOTE}\s*(?:{known})\b|\b(?:{known})\s*{QUOTE}")
        self.key = re.compile(
            rf"{QUOTE}\s*[^\n{re.escape(QUOTES + COLONS)}]{{1,60}}{QUOTE}\s*{COLON}|{self.bare.pattern}"
        )
        self.anchor = re.compile(
            rf"{any_of(OPEN_OBJECT)}\s*{QUOTE}?\s*(?:{roots})\s*{QUOTE}?\s*{COLON}|{QUOTE}\s*(?:{roots})\s*{QUOTE}\s*{COLON}"
        )

    def at(self, text: str, at: int) -> str | None:
        """Return the known name that stands at a place, with its colon, or None."""
        found = self.quoted.match(text, at) or self.bare.match(text, at)
        return None if found is None else found[0].rstrip(COLONS).strip(QUOTES + " \t\r\n")


def _one_of(names: set[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
