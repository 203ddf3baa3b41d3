"""Rows of the pages."""

from tests.access_matrix.rows import Row

ROWS: list[Row] = []
