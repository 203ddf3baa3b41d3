import pytest

from inference.types.nesting import nested


def test_rows_become_lists_and_the_rest_objects() -> None:
    values = {"/total": "9.00", "/line_items/0/amount": "4", "/line_items/1/amount": "5", "/line_items/1/name": None}
    assert nested(values) == {"total": "9.00", "line_items": [{"amount": "4"}, {"amount": "5", "name": None}]}


def test_objects_lie_in_each_other() -> None:
    assert nested({"/seller/name": "A", "/seller/id": "1"}) == {"seller": {"name": "A", "id": "1"}}


def test_a_row_that_is_left_out_is_empty() -> None:
    assert nested({"/rows/2/x": "a"}) == {"rows": [{}, {}, {"x": "a"}]}


@pytest.mark.parametrize(("path", "name"), [("/a~1b", "a/b"), ("/a~0b", "a~b"), ("/a~01", "a~1")])
def test_escaped_names_are_what_they_stand_for(path: str, name: str) -> None:
    assert nested({path: "x"}) == {name: "x"}


def test_nothing_is_an_empty_document() -> None:
    assert nested({}) == {}
