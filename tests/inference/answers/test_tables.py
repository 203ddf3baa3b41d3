import html
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.answers.tables import Grid, TableError, read_table, rows_of_table
from tests.inference.answers.types_read import bill

ITEMS: dict[str, Any] = bill()["properties"]["items"]["items"]
WANTED = [["Item", "Amount"], ["tea", "1.00"], ["a | b", ""]]


def as_markdown(grid: Grid) -> str:
    def line(cells: list[str]) -> str:
        escaped = [cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "<br>") for cell in cells]
        return "| " + " | ".join(escaped) + " |"

    return "\n".join([line(grid[0]), "|" + " --- |" * len(grid[0]), *map(line, grid[1:])])


def as_html(grid: Grid) -> str:
    def cell(text: str) -> str:
        return "<td>" + html.escape(text).replace("\n", "<br/>") + "</td>"

    return "<table>" + "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in grid) + "</table>"


def as_tabbed(grid: Grid) -> str:
    def cell(text: str) -> str:
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")

    return "\n".join("\t".join(map(cell, row)) for row in grid)


def as_prose(grid: Grid) -> str:
    blocks = ["\n".join(f"- {name}: {cell}" for name, cell in zip(grid[0], row, strict=True)) for row in grid[1:]]
    return "\n\n".join(blocks)


LETTERS = st.characters(exclude_categories=("C", "Z"), exclude_characters="<>`*_")
CELLS = st.text(LETTERS | st.sampled_from(' |\\"&,:'), max_size=12).map(lambda text: " ".join(text.split()))
NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=8)


@st.composite
def grids(draw: st.DrawFn, min_columns: int = 1) -> Grid:
    """A grid with a header of different names and at least one row; no row is empty."""
    header = draw(st.lists(NAMES, min_size=min_columns, max_size=5, unique=True))
    row = st.lists(CELLS, min_size=len(header), max_size=len(header)).filter(any)
    return [header, *draw(st.lists(row, min_size=1, max_size=6))]


@settings(deadline=None)
@given(grids())
def test_a_grid_survives_markdown(grid: Grid) -> None:
    assert read_table(as_markdown(grid)) == grid


@settings(deadline=None)
@given(grids())
def test_a_grid_survives_html(grid: Grid) -> None:
    assert read_table(as_html(grid)) == grid


@settings(deadline=None)
@given(grids(min_columns=2))
def test_a_grid_survives_tabs(grid: Grid) -> None:
    assert read_table(as_tabbed(grid)) == grid


@settings(deadline=None)
@given(grids())
def test_a_grid_survives_running_text(grid: Grid) -> None:
    assert read_table(as_prose(grid)) == grid


@pytest.mark.parametrize(
    "text",
    [
        "Here:\n\n| Item | Amount |\n|:---|---:|\n| tea | 1.00 |\n| a \\| b | |\n\nThat is all | of it.",
        "Item | Amount\n--- | ---\ntea | 1.00\na \\| b |",
        "<p>x</p><TABLE border=1><thead><tr><th>Item<th>Amount</thead><tr><td>tea<td> 1.00\n<tr><td>a | b<td></TABLE>",
        "Rows follow.\nItem\tAmount\ntea\t1.00\na | b\t\nEnd.",
        "* Item: tea\n* Amount: 1.00\n\n* Item: a | b\n* Amount:",
        "Item：tea\nAmount：1.00\n\nItem：a | b",
    ],
)
def test_the_forms_that_models_use_become_the_same_grid(text: str) -> None:
    assert read_table(text) == WANTED


def test_columns_set_apart_by_wide_gaps_are_a_grid() -> None:
    assert read_table("Item      Amount\ngreen tea  1.00") == [["Item", "Amount"], ["green tea", "1.00"]]


def test_a_cell_over_several_columns_or_rows_leaves_empty_cells() -> None:
    text = "<table><tr><td rowspan=2>a</td><td colspan=2>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    assert read_table(text) == [["a", "b", ""], ["", "c", "d"]]


def test_short_rows_are_filled_up_and_empty_ones_left_out() -> None:
    assert read_table("<table><tr><td>a<td>b<tr><td> <td><tr><td>c</table>") == [["a", "b"], ["c", ""]]


def test_only_the_first_table_is_read() -> None:
    assert read_table("<table><tr><td>a</table><table><tr><td>b</table>") == [["a"]]


@pytest.mark.parametrize("text", ["", "no table here", "<table></table>", "<td></td>", "\t\nx"])
def test_no_table_is_an_error(text: str) -> None:
    with pytest.raises(TableError):
        read_table(text)


@given(st.text(alphabet="|-:\\<>tdr/ab \t\n", max_size=80))
def test_nothing_makes_it_fail_in_another_way(text: str) -> None:
    try:
        grid = read_table(text)
    except TableError:
        return
    assert len({len(row) for row in grid}) == 1


def test_a_table_becomes_the_rows_of_a_group_by_its_header() -> None:
    assert rows_of_table("| Amount | Text |\n|---|---|\n| 1.00 | tea |", ITEMS) == [{"amount": "1.00", "text": "tea"}]


def test_labels_in_any_language_name_a_column() -> None:
    node = {"properties": {"text": {"x-label": {"en": "Item", "zh": "品名"}}}}
    assert rows_of_table("品名\t\n茶\t", node) == [{"text": "茶"}]


@pytest.mark.parametrize(
    "text", ["| Colour | Text |\n|---|---|\n| red | tea |", "| Text | text |\n|---|---|\n| a | b |", "no table"]
)
def test_a_table_whose_columns_are_not_all_known_is_no_group(text: str) -> None:
    with pytest.raises(TableError):
        rows_of_table(text, ITEMS)
