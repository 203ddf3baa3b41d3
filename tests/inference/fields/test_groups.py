import pytest

from inference.fields.groups import body_rows, find_header, locate_groups
from inference.fields.locate import document_keywords
from inference.types import DocumentTypeSpec, FieldReading, FieldSpec, GroupSpec, ValueType, Word
from tests.inference.fields.pages import Line, page

COLUMNS = (
    FieldSpec("/text", ValueType.TEXT, True, keywords=("description", "item", "品名")),
    FieldSpec("/count", ValueType.NUMBER, keywords=("qty", "quantity", "数量")),
    FieldSpec("/price", ValueType.AMOUNT, keywords=("unit price", "price", "单价")),
    FieldSpec("/amount", ValueType.AMOUNT, True, keywords=("amount", "金额")),
)
TOTAL = FieldSpec("/total", ValueType.AMOUNT, keywords=("total", "合计"))
SPEC = DocumentTypeSpec(fields=(TOTAL,), groups=(GroupSpec("/rows", COLUMNS),))
INDEX = document_keywords(SPEC)
HEADER: tuple[Line, ...] = (("Description", 50, 100), ("Qty", 400, 100), ("Unit Price", 550, 100), ("Amount", 850, 100))


def row(y: int, *cells: str) -> list[Line]:
    """One row under HEADER: text aligned left, numbers right."""
    rights = (0, 430, 650, 910)
    return [
        (text, 50 if not right else right - 10 * len(text), y)
        for text, right in zip(cells, rights, strict=True)
        if text
    ]


def read(*items: Line | Word) -> dict[str, FieldReading]:
    return {answer.field_path: answer for answer in locate_groups([page(*items)], SPEC, INDEX)}


def values(*items: Line | Word) -> dict[str, str | None]:
    return {path: answer.value for path, answer in read(*items).items()}


def test_a_table_is_read_row_by_row() -> None:
    found = values(*HEADER, *row(140, "Widget", "4", "12.50", "50.00"), *row(180, "Bracket", "10", "3.20", "32.00"))
    assert found == {
        "/rows/0/text": "Widget",
        "/rows/0/count": "4",
        "/rows/0/price": "12.50",
        "/rows/0/amount": "50.00",
        "/rows/1/text": "Bracket",
        "/rows/1/count": "10",
        "/rows/1/price": "3.20",
        "/rows/1/amount": "32.00",
    }


def test_without_a_header_there_is_no_table() -> None:
    assert values(*row(140, "Widget", "4", "12.50", "50.00")) == {}
    assert values(("Description of services", 50, 100), *row(140, "Widget", "4", "12.50", "50.00")) == {}


def test_the_row_that_names_most_columns_is_the_header() -> None:
    layout = page(("Item amount due", 50, 40), *HEADER, *row(140, "Price list", "1", "2.00", "2.00"))
    found = find_header(layout, SPEC.groups[0], INDEX)
    assert found is not None
    number, headers = found
    assert number == 1
    assert [header.spec.path if header.spec else None for header in headers] == ["/text", "/count", "/price", "/amount"]


def test_a_header_read_as_one_run_of_words_is_taken_apart() -> None:
    items: list[Line] = [("Description", 50, 100), ("Qty", 165, 100), ("Amount", 200, 100)]
    found = values(*items, ("Widget", 50, 140), ("3", 170, 140), ("7.50", 220, 140))
    assert found == {"/rows/0/text": "Widget", "/rows/0/count": "3", "/rows/0/amount": "7.50"}


def test_a_column_that_nobody_asked_for_keeps_its_values_to_itself() -> None:
    header = (*HEADER, ("Code", 950, 100))
    found = values(*header, *row(140, "Widget", "4", "12.50", "50.00"), ("77", 955, 140))
    assert found["/rows/0/amount"] == "50.00"
    assert "77" not in found.values()


def test_the_totals_end_the_table() -> None:
    found = values(*HEADER, *row(140, "Widget", "4", "12.50", "50.00"), ("Total", 550, 180), ("50.00", 860, 180))
    assert len(found) == 4


def test_an_item_whose_name_holds_a_total_word_does_not_end_the_table() -> None:
    found = values(
        *HEADER, *row(140, "Total station hire", "1", "9.00", "9.00"), *row(180, "Tripod", "1", "2.00", "2.00")
    )
    assert (found["/rows/0/text"], found["/rows/1/text"]) == ("Total station hire", "Tripod")


def test_a_wide_gap_ends_the_table() -> None:
    found = values(*HEADER, *row(140, "Widget", "4", "12.50", "50.00"), *row(600, "Footer", "1", "1.00", "1.00"))
    assert {path.split("/")[2] for path in found} == {"0"}


def test_a_line_without_numbers_continues_the_text_above() -> None:
    answers = read(
        *HEADER,
        *row(140, "Widget,", "4", "12.50", "50.00"),
        ("large and blue", 50, 165),
        *row(190, "Bolt", "1", "1.00", "1.00"),
    )
    assert answers["/rows/0/text"].value == "Widget, large and blue"
    assert answers["/rows/1/text"].value == "Bolt"
    box = answers["/rows/0/text"].bbox
    assert box is not None
    assert (box.y0, box.y1) == (0.14, 0.185)


def test_text_before_the_first_row_is_left_out() -> None:
    found = values(*HEADER, ("Our services:", 50, 125), *row(150, "Widget", "4", "12.50", "50.00"))
    assert found["/rows/0/text"] == "Widget"


def test_an_empty_cell_is_left_out_unless_it_is_required() -> None:
    found = values(*HEADER, *row(140, "Widget", "", "12.50", ""))
    assert found == {"/rows/0/text": "Widget", "/rows/0/price": "12.50", "/rows/0/amount": None}
    missing = read(*HEADER, *row(140, "Widget", "", "12.50", ""))["/rows/0/amount"]
    assert missing.findings == ("not_found",)
    assert missing.confidence is None


def test_cells_that_the_reader_joined_are_taken_apart() -> None:
    joined = Word("4 12.50 50.00", page(*row(140, "", "4", "12.50", "50.00")).content, 0.9)
    stretched = Word(joined.text, joined.bbox._replace(x0=0.4, x1=0.91, y0=0.14, y1=0.16), 0.9)
    found = values(*HEADER, ("Widget", 50, 140), stretched)
    assert found["/rows/0/count"] == "4"
    assert found["/rows/0/amount"] == "50.00"


def test_a_cell_that_does_not_normalise_keeps_its_text() -> None:
    answer = read(*HEADER, *row(140, "Widget", "four", "12.50", "50.00"))["/rows/0/count"]
    assert (answer.raw_text, answer.value) == ("four", None)
    assert answer.findings == ("not_normalised",)
    assert answer.confidence is not None
    assert answer.confidence <= 0.5


def test_cells_carry_box_page_and_evidence() -> None:
    answer = read(*HEADER, *row(140, "Widget", "4", "12.50", "50.00"))["/rows/0/amount"]
    assert answer.page_number == 1
    assert answer.bbox == pytest.approx((0.86, 0.14, 0.91, 0.16))
    assert set(answer.evidence) == {"keyword", "ocr_score", "alignment"}
    assert answer.evidence["alignment"] == pytest.approx(1.0)
    assert answer.confidence is not None
    assert answer.confidence > 0.8


def test_a_badly_read_cell_is_less_sure() -> None:
    (bad,) = page(("50.00", 860, 140)).runs[0].words
    sure = read(*HEADER, *row(140, "Widget", "4", "12.50", "50.00"))["/rows/0/amount"].confidence
    unsure = read(*HEADER, *row(140, "Widget", "4", "12.50", ""), Word(bad.text, bad.bbox, 0.4))[
        "/rows/0/amount"
    ].confidence
    assert sure is not None
    assert unsure is not None
    assert unsure < sure


def test_rows_are_numbered_on_over_pages_that_repeat_the_header() -> None:
    first = page(*HEADER, *row(140, "Widget", "4", "12.50", "50.00"), number=1)
    second = page(*HEADER, *row(140, "Bolt", "1", "1.00", "1.00"), number=2)
    answers = {answer.field_path: answer for answer in locate_groups([first, second], SPEC, INDEX)}
    assert answers["/rows/1/text"].value == "Bolt"
    assert answers["/rows/1/text"].page_number == 2


def test_chinese_headers_name_columns() -> None:
    header: list[Line] = [("品名", 50, 100), ("数量", 400, 100), ("单价", 550, 100), ("金额", 850, 100)]
    found = values(*header, ("办公用纸", 50, 140), ("20", 410, 140), ("25.00", 550, 140), ("500.00", 840, 140))
    assert found == {
        "/rows/0/text": "办公用纸",
        "/rows/0/count": "20",
        "/rows/0/price": "25.00",
        "/rows/0/amount": "500.00",
    }


def test_only_one_cell_keeps_a_column_that_two_name() -> None:
    layout = page(("Item", 50, 100), ("Description", 200, 100), ("Amount", 600, 100))
    found = find_header(layout, SPEC.groups[0], INDEX)
    assert found is not None
    named = [header.spec.path for header in found[1] if header.spec is not None]
    assert named == ["/text", "/amount"]


def test_body_rows_end_with_the_page() -> None:
    layout = page(*HEADER)
    found = find_header(layout, SPEC.groups[0], INDEX)
    assert found is not None
    assert list(body_rows(layout, *found, SPEC, INDEX)) == []


def test_a_type_without_groups_has_no_rows() -> None:
    alone = DocumentTypeSpec(fields=(TOTAL,))
    assert list(locate_groups([page(*HEADER)], alone, document_keywords(alone))) == []
