"""Single values in text that is nearly JSON: texts in any quotes, and values that have none."""

import re

from inference.answers.cursor import Cursor
from inference.answers.marks import (
    CLOSE,
    CLOSING,
    COLONS,
    COMMAS,
    COMMENT,
    ESCAPE,
    ESCAPED,
    OPEN_ARRAY,
    OPEN_OBJECT,
    QUOTES,
    any_of,
)

NULLS = frozenset({"null", "None", "Null", "NULL"})
# Bare words that stand for no text: what they were to mean, nobody can know.
UNKNOWABLE = frozenset({"NaN", "nan", "Infinity", "-Infinity", "undefined", "true", "false", "True", "False"})
NOT_BARE = QUOTES + OPEN_OBJECT + OPEN_ARRAY + CLOSE + "\\"
MAX_BARE = 200
SEPARATOR = any_of(COMMAS + COLONS + OPEN_OBJECT + OPEN_ARRAY + CLOSE)


def read_text(cursor: Cursor) -> str:
    """Read a text in quotes: it ends at the first quote behind which the structure goes on."""
    opening = cursor.text[cursor.at]
    closing = CLOSING[opening]
    at = cursor.at + 1
    parts: list[str] = []
    while at < len(cursor.text):
        character = cursor.text[at]
        if character == "\\":
            part, at = _unescape(cursor, at)
            parts.append(part)
        elif character in closing and cursor.ends_value(at + 1):
            _note_writing(cursor, cursor.text[cursor.at : at + 1])
            cursor.at = at + 1
            return "".join(parts)
        else:
            parts.append(character)
            at += 1
    raise cursor.refusal("a text has no end")


def _note_writing(cursor: Cursor, written: str) -> None:
    """Note how a text (with its quotes) was written."""
    inner = ESCAPE.sub("", written[1:-1])
    if written != f'"{written[1:-1]}"':
        cursor.mended("quotes_straightened")
    own = {written[0], written[-1]}
    if own & set(inner):
        _refuse_swallowed(cursor, inner, own)
        cursor.mended("quotes_escaped")
    if cursor.names.quoted.search(inner):
        raise cursor.refusal("a text seems to hold another member")
    if inner.strip() and inner.rstrip()[-1] in COMMAS + COLONS:
        raise cursor.refusal("a text seems to end before its last mark")
    if any(character < " " for character in inner):
        cursor.mended("controls_escaped")


def _refuse_swallowed(cursor: Cursor, inner: str, own: set[str]) -> None:
    """Refuse a text with quotes in it that may be the ends of two texts, between which a mark was lost."""
    if cursor.names.beside_quote.search(inner) or re.search(rf"{any_of(''.join(own))}\s*{SEPARATOR}", inner):
        raise cursor.refusal("a text seems to hold another member")
    is_odd = sum(map(inner.count, own)) % 2 == 1
    if is_odd and own & {inner.strip()[0], inner.strip()[-1]}:
        raise cursor.refusal("a quote may be one too many")


def _unescape(cursor: Cursor, at: int) -> tuple[str, int]:
    """Return what an escape stands for and where it ends. A backslash before a mark is one too many."""
    found = ESCAPE.match(cursor.text, at)
    if found is None:
        raise cursor.refusal("ends inside an escape")
    code, character = found.groups()
    if code is not None:
        return _code_point(cursor, int(code, 16), found.end())
    if character in ESCAPED:
        return ESCAPED[character], found.end()
    cursor.mended("escapes_mended")
    return (found[0] if character.isalnum() else character), found.end()


def _code_point(cursor: Cursor, code: int, end: int) -> tuple[str, int]:
    """Return the character of an escape by code, of two of them where they are a surrogate pair."""
    if 0xD800 <= code < 0xDC00:
        low = ESCAPE.match(cursor.text, end)
        if low is not None and low[1] is not None and 0xDC00 <= int(low[1], 16) < 0xE000:
            return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00), low.end()
    if 0xD800 <= code < 0xE000:
        raise cursor.refusal("half a character is escaped")
    return chr(code), end


def read_bare(cursor: Cursor) -> str | None:
    """Read a value without quotes: null, a number, a date, a word."""
    start = end = cursor.at
    while end - start <= MAX_BARE and not cursor.ends_value(end, is_bare=True):
        if cursor.text[end] in NOT_BARE:
            raise cursor.refusal("a value was expected")
        end += 1
    written = cursor.text[start:end].strip()
    # A comment behind it may as well be the rest of it.
    if COMMENT.match(cursor.text, cursor.over_blanks(end)):
        raise cursor.refusal("a value was expected")
    has_content = any(map(str.isalnum, written)) and written not in UNKNOWABLE and written[-1] not in COMMAS
    if not has_content or end - start > MAX_BARE:
        raise cursor.refusal("a value was expected")
    if end == len(cursor.text) and written not in NULLS:
        raise cursor.refusal("ends inside a value")
    cursor.at = end
    if written != "null":
        cursor.mended("literals_mended" if written in NULLS else "quotes_added")
    return None if written in NULLS else written
