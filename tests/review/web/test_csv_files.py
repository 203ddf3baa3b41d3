"""Tables as files: readable by spreadsheets, harmless in them."""

import pytest

from review.web.csv_files import csv_file


def test_a_table_is_a_download_with_the_mark_that_spreadsheets_need() -> None:
    response = csv_file("收据", ["字段", "n"], [["合计", 3]])
    assert response.content == "\ufeff字段,n\r\n合计,3\r\n".encode()
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].startswith("attachment; filename*=utf-8''")
    assert response["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_is_never_a_formula(text: str) -> None:
    body = csv_file("a", ["x"], [[text]]).content.decode("utf-8-sig")
    assert f"'{text[0]}" in body


@pytest.mark.parametrize(("value", "cell"), [(-1.5, "-1.5"), (0.1, "0.1"), (None, ""), (0, "0"), ("a,b", '"a,b"')])
def test_numbers_are_numbers_and_nothing_is_nothing(value: object, cell: str) -> None:
    assert csv_file("a", ["x", "y"], [[value, 1]]).content.decode("utf-8-sig") == f"x,y\r\n{cell},1\r\n"
