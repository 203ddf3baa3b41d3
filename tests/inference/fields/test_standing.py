"""Values that came without a place find theirs among the words of the page, or have none."""

import pytest

from inference.fields.standing import Said, Standing, stand
from inference.types import DocumentTypeSpec, FieldSpec, GroupSpec, PageReading, ValueType
from tests.inference.fields.pages import CHARACTER, HEIGHT, SIDE, field, reading

TOTAL = field(ValueType.AMOUNT, path="/total", keywords=("total",))
DATE = field(ValueType.DATE, path="/date")
COMPANY = field(ValueType.NAME, path="/company")
AMOUNT = field(ValueType.AMOUNT, path="/amount")
SPEC = DocumentTypeSpec((COMPANY, DATE, TOTAL), (GroupSpec("/rows", (AMOUNT,)),))
SHOP = reading(
    ("SAM SAM TRADING CO", 100, 100), ("Date: 29-12-2017", 600, 100), ("TOTAL RM", 100, 300), ("14.10", 400, 300)
)


def standing(text: str, spec: FieldSpec, *pages: PageReading, path: str = "", on: int | None = None) -> Standing | None:
    path = path or spec.path
    return stand(pages or (SHOP,), SPEC, {path: Said(text, spec, on)}).get(path)


def left_of(found: Standing | None) -> float:
    assert found is not None
    return round(found.bbox.x0 * SIDE)


@pytest.mark.parametrize(
    ("text", "spec", "left", "n_characters"),
    [
        ("RM 14.1", TOTAL, 400, 5),
        ("2017-12-29", DATE, 660, 10),
        ("29 DEC 2017", DATE, 660, 10),
        ("Sam Sam Trading Co", COMPANY, 100, 18),
    ],
)
def test_a_value_stands_where_it_is_printed_however_it_is_written(
    text: str, spec: FieldSpec, left: int, n_characters: int
) -> None:
    found = standing(text, spec)
    assert found is not None
    assert found.page_number == 1
    box = [edge * SIDE for edge in found.bbox]
    assert box[0] == pytest.approx(left, abs=1)
    assert box[2] - box[0] == pytest.approx(n_characters * CHARACTER, abs=2)
    assert box[3] - box[1] == pytest.approx(HEIGHT, abs=2)


@pytest.mark.parametrize(("text", "spec"), [("14.11", TOTAL), ("2017-12-28", DATE), ("KEDAI PAPAN", COMPANY)])
def test_a_value_that_is_not_printed_stands_nowhere(text: str, spec: FieldSpec) -> None:
    assert standing(text, spec) is None


def test_of_two_places_the_one_beside_its_keyword_is_the_fields() -> None:
    page = reading(("Cash", 100, 250), ("14.10", 400, 250), ("Total", 100, 300), ("14.10", 600, 300))
    assert left_of(standing("14.10", TOTAL, page)) == 600


def test_the_page_that_was_named_is_the_only_one_looked_at() -> None:
    other = reading(("TOTAL RM", 100, 300), ("14.10", 500, 300))
    found = standing("14.10", TOTAL, SHOP, other, on=2)
    assert found is not None
    assert (found.page_number, left_of(found)) == (2, 500)
    assert standing("2017-12-29", DATE, SHOP, other, on=2) is None


def test_a_cell_that_other_rows_may_say_too_stands_nowhere() -> None:
    rows = reading(("Nail", 100, 200), ("2.00", 400, 200), ("Screw", 100, 300), ("2.00", 400, 300), ("7.00", 400, 400))
    assert standing("2.00", AMOUNT, rows, path="/rows/0/amount") is None
    assert left_of(standing("7.00", AMOUNT, rows, path="/rows/1/amount")) == 400


def test_columns_of_two_tables_are_looked_for_each_by_its_own_kind() -> None:
    day = field(ValueType.DATE, path="/amount")
    spec = DocumentTypeSpec((), (GroupSpec("/rows", (AMOUNT,)), GroupSpec("/visits", (day,))))
    page = reading(("7.00", 100, 200), ("29 DEC 2017", 400, 200))
    said = {"/rows/0/amount": Said("7.00", AMOUNT, None), "/visits/0/amount": Said("2017-12-29", day, None)}
    found = stand((page,), spec, said)
    assert {path: left_of(place) for path, place in found.items()} == {"/rows/0/amount": 100, "/visits/0/amount": 400}


def test_pages_without_words_hold_nothing() -> None:
    assert standing("14.10", TOTAL, reading()) is None
