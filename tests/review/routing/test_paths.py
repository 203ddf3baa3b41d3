"""Cells of one column share a path."""

import pytest

from review.routing.paths import column_path


@pytest.mark.parametrize(
    ("path", "column"), [("/total", "/total"), ("/items/12/price", "/items/*/price"), ("/a1/b", "/a1/b")]
)
def test_row_numbers_become_stars(path: str, column: str) -> None:
    assert column_path(path) == column
