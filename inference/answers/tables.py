"""Tables as language models write them (Markdown, HTML, TSV, running text) become one grid (B5)."""

import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from inference.fields.normalise import folded

Grid = list[list[str]]
"""Rows of cells, each a text without white space at its ends; all rows have the same number of cells."""

SPLIT_PIPES = re.compile(r"(?<!\\)((?:\\\\)*)\|")
RULE = re.compile(r"\s*:?-+:?\s*")
GAP = re.compile(r" {2,}|\t")
PAIR = re.compile(r"\s*(?:[-*•]\s+)?([^:：\n]{1,80})[:：]\s*(.*)")


class TableError(ValueError):
    """No table is found in the text. The message repeats none of it."""


def read_table(text: str) -> Grid:
    """Return the grid of the first table in a text, whichever of the forms it has; raise TableError without one."""
    for is_like, read in READERS:
        if is_like(text):
            grid = _squared(read(text))
            if grid:
                return grid
    raise TableError("holds no table")


def rows_of_table(text: str, node: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """Return the rows of a repeated group (`node` describes one) that a model wrote as a table.

    The header names the columns, by their names or labels in any language. Raise TableError where it names anything
    else that has a value, or a column twice.
    """
    known = {
        folded(word): name
        for name, column in node["properties"].items()
        for word in (*column.get("x-label", {}).values(), name)
    }
    header, *rows = read_table(text)
    names = [known.get(folded(cell)) for cell in header]
    found = [name for name in names if name is not None]
    has_unknown = any(name is None and any(row[n] for row in rows) for n, name in enumerate(names))
    if has_unknown or not found or len(set(found)) < len(found):
        raise TableError("has columns that nobody asked for")
    return [{name: row[n] or None for n, name in enumerate(names) if name is not None} for row in rows]


def _squared(rows: Sequence[Sequence[str]]) -> Grid:
    """Return rows of one length, without rows in which nothing stands."""
    kept = [[cell.strip() for cell in row] for row in rows]
    kept = [row for row in kept if any(row)]
    width = max(map(len, kept), default=0)
    return [row + [""] * (width - len(row)) for row in kept]


# --- Markdown ---------------------------------------------------------------------------------------------------------


def _is_markdown(text: str) -> bool:
    return any(_is_rule(line) for line in text.splitlines())


def _is_rule(line: str) -> bool:
    return "|" in line and all(RULE.fullmatch(cell) for cell in _pipe_cells(line))


def _pipe_cells(line: str) -> list[str]:
    """Split a line at its pipes; an escaped pipe belongs to its cell."""
    parts = SPLIT_PIPES.split(line.strip())
    # The split keeps the backslashes before each pipe as a part of their own: they end the cell before it.
    cells = [parts[n] + (parts[n + 1] if n + 1 < len(parts) else "") for n in range(0, len(parts), 2)]
    if cells and not cells[0].strip():
        cells = cells[1:]
    if cells and not cells[-1].strip() and line.rstrip().endswith("|"):
        cells = cells[:-1]
    return cells


def _read_markdown(text: str) -> Grid:
    lines = text.splitlines()
    rule = next(n for n, line in enumerate(lines) if _is_rule(line))
    first = max(rule - 1, 0)
    rows = []
    for n, line in enumerate(lines[first:], start=first):
        if "|" not in line:
            break
        if n != rule:
            rows.append([_plain_markdown(cell) for cell in _pipe_cells(line)])
    return rows


def _plain_markdown(cell: str) -> str:
    return re.sub(r"\\([\\|])", r"\1", re.sub(r"<br\s*/?>", "\n", cell.strip()))


# --- HTML -------------------------------------------------------------------------------------------------------------


class _TableParser(HTMLParser):
    """Collects the cells of the first table; end tags may be missing, spans repeat nothing and leave empty cells."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: Grid = []
        self.is_cell = False
        self.is_over = False
        self.column = 0
        self.held: dict[tuple[int, int], str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.is_over:
            return
        if tag == "tr":
            self.is_cell = False
            self.rows.append([])
        elif tag in {"td", "th"}:
            self._open_cell(dict(attrs))
        elif tag == "br" and self.is_cell:
            self.handle_data("\n")

    def _open_cell(self, attributes: dict[str, str | None]) -> None:
        if not self.rows:
            self.rows.append([])
        row, number = self.rows[-1], len(self.rows) - 1
        while (number, len(row)) in self.held:
            row.append("")
        n_columns, n_rows = (_span(attributes.get(name)) for name in ("colspan", "rowspan"))
        self.column = len(row)
        for below in range(1, n_rows):
            for beside in range(n_columns):
                self.held[number + below, self.column + beside] = ""
        row.extend([""] * n_columns)
        self.is_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th", "tr"}:
            self.is_cell = False
        elif tag == "table":
            self.is_over = True

    def handle_data(self, data: str) -> None:
        if self.is_cell and not self.is_over:
            self.rows[-1][self.column] += data


def _span(value: str | None) -> int:
    return min(max(int(value), 1), 100) if value and value.isdecimal() else 1


def _is_html(text: str) -> bool:
    return re.search(r"<t[dh][\s>]", text, re.IGNORECASE) is not None


def _read_html(text: str) -> Grid:
    parser = _TableParser()
    parser.feed(text)
    parser.close()
    return parser.rows


# --- tab-separated and running text -----------------------------------------------------------------------------------


def _is_tabbed(text: str) -> bool:
    return any("\t" in line and line.strip() for line in text.splitlines())


def _read_tabbed(text: str) -> Grid:
    lines = [line for line in text.splitlines() if line.strip()]
    first = next(n for n, line in enumerate(lines) if "\t" in line)
    rows = []
    for line in lines[first:]:
        if "\t" not in line:
            break
        rows.append([_plain_tabbed(cell) for cell in line.split("\t")])
    return rows


def _plain_tabbed(cell: str) -> str:
    return re.sub(r"\\([tn\\])", lambda found: {"t": "\t", "n": "\n", "\\": "\\"}[found[1]], cell)


def _is_prose(text: str) -> bool:
    return any(PAIR.fullmatch(line) or GAP.search(line.strip()) for line in text.splitlines())


def _read_prose(text: str) -> Grid:
    """Read "name: value" lines in blocks, one block a row under a header; or columns set apart by wide gaps."""
    blocks = [block for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    pairs = [[found.groups() for line in block.splitlines() if (found := PAIR.fullmatch(line))] for block in blocks]
    pairs = [block for block in pairs if block]
    if pairs:
        header = list(dict.fromkeys(name.strip() for block in pairs for name, _ in block))
        rows = [{name.strip(): value for name, value in block} for block in pairs]
        return [header, *([row.get(name, "") for name in header] for row in rows)]
    return [GAP.split(line.strip()) for line in text.splitlines() if GAP.search(line.strip())]


READERS: tuple[tuple[Callable[[str], bool], Callable[[str], Grid]], ...] = (
    (_is_html, _read_html),
    (_is_markdown, _read_markdown),
    (_is_tabbed, _read_tabbed),
    (_is_prose, _read_prose),
)
