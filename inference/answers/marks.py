"""The marks of JSON and what models write in their place."""

import re

# Each quote that may open a text, with those that may close it.
CLOSING = {
    '"': '"', "“": "”“", "”": "”", "„": "“”", "‟": "”", "＂": "＂", "«": "»", "»": "«",
    "'": "'", "‘": "’", "’": "’", "‚": "‘’", "‹": "›", "›": "‹", "`": "`'",
}  # fmt: skip
QUOTES = "".join(CLOSING)
OPEN_OBJECT, CLOSE_OBJECT = "{｛", "}｝"
OPEN_ARRAY, CLOSE_ARRAY = "[［", "]］"
CLOSE = CLOSE_OBJECT + CLOSE_ARRAY
COLONS = ":："
COMMAS = ",，"

SPACE = re.compile(r"\s*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
ESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# What cannot continue an object: a fence, an end token, or running text on a line of its own or behind a bracket.
_RUNNING_TEXT = rf"(?=[^\s{QUOTES}{{｛}}｝\[［\]］,，:：/#.…])"
END_OF_ANSWER = re.compile(rf"\s*(?:\Z|```|~~~|;\s*\Z|</s>|<\||(?:\n|(?<=[}}｝\]］])\s)\s*{_RUNNING_TEXT})")


def any_of(characters: str) -> str:
    """Return a character class of a regular expression."""
    return f"[{re.escape(characters)}]"
