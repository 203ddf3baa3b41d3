"""A reader for text that is nearly JSON, led by the names that the document type asks for (B1).

Every character is accounted for: a mark, white space, a comment, or part of a name or a value. Where a mark is missing
or written otherwise there must be one way only to read on; each such place is noted. Everything else is refused.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from inference.answers.cursor import Cursor
from inference.answers.marks import CLOSE, CLOSE_ARRAY, CLOSE_OBJECT, COLONS, OPEN_ARRAY, OPEN_OBJECT, QUOTES
from inference.answers.names import Names
from inference.answers.strict import DuplicateKeyError, NotStrictError
from inference.answers.texts import read_bare, read_text

Node = Mapping[str, Any]


class Reading(NamedTuple):
    """An object, where its text ends, and the names of what was mended in it."""

    answer: dict[str, Any]
    end: int
    repairs: tuple[str, ...]


def read_leniently(text: str, start: int, schema: Node, names: Names) -> Reading:
    """Read the object that begins at `start`, with or without its opening bracket; raise NotStrictError.

    Where brackets were missing the answer must hold every name that was asked for: else its end may be missing too.
    """
    cursor = Cursor(text, start, names)
    try:
        answer = _Reader(cursor).object(schema)
    except RecursionError:
        raise NotStrictError("is nested too deeply") from None
    if "brackets_added" in cursor.repairs and not _is_complete(answer, schema):
        raise NotStrictError("lacks brackets and names: something may be missing")
    return Reading(answer, cursor.at, tuple(cursor.repairs))


def _is_complete(answer: object, node: Node) -> bool:
    if isinstance(answer, dict):
        children = node.get("properties", {})
        return children.keys() <= answer.keys() and all(
            _is_complete(answer[name], child) for name, child in children.items()
        )
    if isinstance(answer, list):
        return all(_is_complete(row, node.get("items", {})) for row in answer)
    return True


class _Reader:
    """Reads objects and rows at a cursor; `open` are the nodes of the schema that are open, the outermost first."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.open: list[Node] = []

    def object(self, node: Node) -> dict[str, Any]:
        """Read an object with the names of `node`."""
        cursor = self.cursor
        cursor.skip()
        if not cursor.take(OPEN_OBJECT, "{"):
            cursor.mended("brackets_added")
        cursor.value_end = cursor.at
        self.open.append(node)
        cursor.depth += 1
        members: dict[str, Any] = {}
        has_comma = True
        while not self.is_closed(CLOSE_OBJECT, "}", is_awaited=has_comma and bool(members)):
            if self.belongs_outside(node):
                cursor.mended("brackets_added")
                break
            if not has_comma:
                cursor.mended("commas_added")
            name = self.name()
            if name in members:
                raise DuplicateKeyError
            if name not in node["properties"]:
                raise cursor.refusal("a name was not asked for here")
            members[name] = self.value(node["properties"][name])
            has_comma = cursor.comma()
        self.open.pop()
        cursor.depth -= 1
        return members

    def rows(self, node: Node) -> list[dict[str, Any]]:
        """Read an array of objects."""
        cursor = self.cursor
        is_opened = cursor.take(OPEN_ARRAY, "[")
        if not is_opened:
            cursor.mended("brackets_added")
        cursor.value_end = cursor.at
        rows: list[dict[str, Any]] = []
        has_comma = True
        while not self.is_closed(CLOSE_ARRAY, "]", is_awaited=has_comma and bool(rows)):
            if cursor.peek() not in OPEN_OBJECT:
                if not cursor.is_member(cursor.at):
                    raise cursor.refusal("what is between rows is no row")
                cursor.mended("brackets_added")
                return self.opened(rows, is_opened=is_opened)
            if not has_comma:
                cursor.mended("commas_added")
            rows.append(self.object(node["items"]))
            has_comma = cursor.comma()
        return self.opened(rows, is_opened=is_opened or cursor.text[cursor.at - 1] in CLOSE_ARRAY)

    def opened(self, rows: list[dict[str, Any]], *, is_opened: bool) -> list[dict[str, Any]]:
        """Return rows that had a bracket at one end at least: without any, nobody can tell how many were meant."""
        if not is_opened:
            raise self.cursor.refusal("rows lack both brackets")
        return rows

    def is_closed(self, closing: str, usual: str, *, is_awaited: bool) -> bool:
        """Whether what is open ends here: by its bracket, or because nothing else can follow.

        `is_awaited` says that a comma has promised one more.
        """
        cursor = self.cursor
        is_over = cursor.is_over(cursor.at if is_awaited else cursor.value_end)
        n_comments = cursor.skip()
        mark = cursor.peek()
        if mark and mark in closing:
            if is_awaited:
                cursor.mended("commas_removed")
            if n_comments and usual == "]":
                raise cursor.refusal("a comment stands where rows may have been left out")
            return cursor.take(closing, usual)
        if is_over or mark in CLOSE:
            if is_awaited:
                raise cursor.refusal("ends where something was to follow")
            cursor.mended("brackets_added")
            cursor.at = cursor.value_end
            return True
        return False

    def belongs_outside(self, node: Node) -> bool:
        """Whether the next member is one of an object further out, or another row: a bracket is missing here."""
        cursor = self.cursor
        if cursor.peek() in OPEN_OBJECT:
            return cursor.depth > 1
        name = cursor.names.at(cursor.text, cursor.at)
        return name not in node["properties"] and any(name in outer["properties"] for outer in self.open[:-1])

    def name(self) -> str:
        """Read a name and its colon."""
        cursor = self.cursor
        found = cursor.names.key.match(cursor.text, cursor.at)
        if found is None:
            raise cursor.refusal("a name was expected")
        cursor.at = found.end()
        if found[0][-1] != ":":
            cursor.mended("marks_narrowed")
        written = found[0].rstrip(COLONS).rstrip()
        if not written[0] == written[-1] == '"':
            cursor.mended("quotes_straightened" if written[0] in QUOTES else "quotes_added")
        return written.strip(QUOTES).strip()

    def value(self, node: Node) -> Any:  # noqa: ANN401
        """Read the value of a member."""
        self.cursor.skip()
        mark = self.cursor.peek()
        if mark and mark in OPEN_OBJECT + OPEN_ARRAY:
            if "array" in node["type"]:
                return self.rows(node)
            if "object" in node["type"] and mark in OPEN_OBJECT:
                return self.object(node)
        return read_text(self.cursor) if mark and mark in QUOTES else read_bare(self.cursor)
