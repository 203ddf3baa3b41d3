"""Whether a language model left rows out: the words make a table, and each of its rows has to be in the answer (R5)."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from inference.fields.groups import MIN_COLUMNS
from inference.fields.normalise import TYPED, comparable
from inference.types import FieldReading, FieldSpec, GroupSpec

ROWS_LEFT_OUT = "rows_left_out"

Row = Mapping[str, FieldReading]
"""The printed cells of one row by the path of their column."""


def has_rows_left_out(group: GroupSpec, answered: Sequence[FieldReading], printed: Sequence[FieldReading]) -> bool:
    """Return whether a row of the printed table has no row in the answer that stands for it.

    Both are cells, as `read_rows` and `locate_groups` yield them; those of other groups are passed over. An answered
    row stands for one printed row at most, so of rows that are alike each has to be there.
    """
    table = [row for row in _rows(group, printed) if _is_row(group, row)]
    said = _rows(group, answered)
    if not table or not said:
        return bool(table)
    stands_for = np.array(
        [[_is_level(ours, theirs) or _is_equal(ours, theirs, group) for ours in said] for theirs in table]
    )
    return bool((maximum_bipartite_matching(csr_array(stands_for), perm_type="column") < 0).any())


def _rows(group: GroupSpec, cells: Sequence[FieldReading]) -> list[Row]:
    rows: dict[str, dict[str, FieldReading]] = {}
    for cell in cells:
        if cell.field_path.startswith(f"{group.path}/") and cell.raw_text is not None:
            number, _, column = cell.field_path.removeprefix(f"{group.path}/").partition("/")
            rows.setdefault(number, {})[f"/{column}"] = cell
    return list(rows.values())


def _is_row(group: GroupSpec, row: Row) -> bool:
    """Tell a row of the table from a line below it: all that a row needs is there, and a number where one belongs."""
    if len(row) < min(MIN_COLUMNS, len(group.columns)):
        return False
    typed = [row[column.path].value for column in group.columns if column.path in row and column.value_type in TYPED]
    has_typed = any(column.value_type in TYPED for column in group.columns)
    has_needed = all(column.path in row for column in group.columns if column.is_required)
    return has_needed and (any(value is not None for value in typed) or not has_typed)


def _is_level(answered: Row, printed: Row) -> bool:
    """Return whether the answered row was found on the printed one: half of its places, for one may be elsewhere."""
    boxes = [cell.bbox for cell in printed.values() if cell.bbox is not None]
    page_number = next(iter(printed.values())).page_number
    top, bottom = min(box.y0 for box in boxes), max(box.y1 for box in boxes)
    placed = [cell for cell in answered.values() if cell.bbox is not None]
    n_level = sum(
        cell.page_number == page_number and cell.bbox is not None and top <= cell.bbox.center[1] <= bottom
        for cell in placed
    )
    return bool(placed) and 2 * n_level >= len(placed)


def _is_equal(answered: Row, printed: Row, group: GroupSpec) -> bool:
    """Return whether the answered row says what is printed in every column: it was looked for in the wrong place."""
    return all(
        column.path in answered and _said(answered[column.path], column) == _said(printed[column.path], column)
        for column in group.columns
        if column.path in printed
    )


def _said(cell: FieldReading, column: FieldSpec) -> str:
    return comparable(cell.raw_text or "", column.value_type, column.locale)
