import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fields.folding import FoldedPage
from inference.fields.ground import AS_PRINTED, AS_VALUE, GROUNDED, Place, ground
from inference.fields.layout import PageLayout
from inference.fields.normalise import normalise
from inference.fields.spans import typed_spans
from inference.types import FieldSpec, ValueType
from tests.inference.fields.pages import SIDE, Line, field, page

AMOUNT, DATE, NUMBER = field(ValueType.AMOUNT), field(ValueType.DATE), field(ValueType.NUMBER)
NAME, ADDRESS = field(ValueType.NAME), field(ValueType.ADDRESS, max_lines=6)
SHOP = page(
    ("SAM SAM TRADING CO (67890-X)", 100, 100),
    ("67,JLN MEWAH 25/63 TMN SRI MUDA,", 100, 125),
    ("40400 SHAH ALAM.", 100, 150),
    ("TEL: 03-5122 1234", 100, 175),
    ("29-12-2017", 600, 100),
    ("TOTAL RM", 100, 300),
    ("14.10", 400, 300),
    ("CASH", 100, 325),
    ("20.00", 400, 325),
)


def places(text: str, spec: FieldSpec, layout: PageLayout = SHOP) -> list[Place]:
    return ground(
        text, normalise(text, spec.value_type, spec.locale), spec, FoldedPage(layout), typed_spans(layout, spec)
    )


def best(text: str, spec: FieldSpec, layout: PageLayout = SHOP) -> Place:
    return places(text, spec, layout)[0]


def lines(*items: Line) -> PageLayout:
    return page(*items)


@pytest.mark.parametrize(
    ("text", "spec", "printed"),
    [
        ("14.10", AMOUNT, "14.10"),
        ("RM14.1", AMOUNT, "14.10"),
        ("2017-12-29", DATE, "29-12-2017"),
        ("29 DEC 2017", DATE, "29-12-2017"),
    ],
)
def test_a_typed_value_is_found_however_it_is_printed(text: str, spec: FieldSpec, printed: str) -> None:
    place = best(text, spec)
    assert (place.similarity, place.span.text) == (AS_VALUE, printed)
    assert place.is_grounded


def test_a_value_has_the_box_of_its_own_characters() -> None:
    layout = lines(("TOTAL RM 14.10", 100, 300))
    assert list(best("14.10", AMOUNT, layout).span.bbox) == pytest.approx([0.16, 0.3, 0.24, 0.32])


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("14.70", AMOUNT),
        ("4.10", AMOUNT),
        ("14.00", AMOUNT),
        ("2017-12-28", DATE),
        ("2020-12-29", DATE),
    ],
)
def test_a_digit_apart_is_not_found_but_shown_where_it_nearly_stands(text: str, spec: FieldSpec) -> None:
    (place,) = places(text, spec)
    assert not place.is_grounded
    assert place.similarity <= 0.5
    assert place.span.text in ("14.10", "29-12-2017")


@pytest.mark.parametrize(
    ("text", "spec"), [("99.99", AMOUNT), ("41.01", AMOUNT), ("1999-01-31", DATE), ("", AMOUNT), ("none", AMOUNT)]
)
def test_what_is_not_there_has_no_place(text: str, spec: FieldSpec) -> None:
    assert places(text, spec) == []


def test_all_places_of_a_value_are_given_in_the_order_of_the_spans() -> None:
    layout = lines(("TOTAL 8.20", 100, 100), ("CASH 8.20", 100, 140))
    spans = list(reversed(typed_spans(layout, AMOUNT)))
    found = ground("8.20", normalise("8.20", ValueType.AMOUNT), AMOUNT, FoldedPage(layout), spans)
    assert [place.span for place in found] == spans


@pytest.mark.parametrize("printed", ["TOTAL:I4.1O", "14. 10*", "TOTALRM14.1O"])
def test_letters_that_readers_take_for_digits_are_looked_through(printed: str) -> None:
    place = best("14.10", AMOUNT, lines((printed, 100, 100)))
    assert place.similarity in (AS_PRINTED, AS_VALUE)


@pytest.mark.parametrize("printed", ["114.1O", "14.1O5", "I4.10.2", "3/14.1O"])
def test_a_part_of_a_longer_number_is_not_the_value(printed: str) -> None:
    assert not any(place.is_grounded for place in places("14.10", AMOUNT, lines((printed, 100, 100))))


@pytest.mark.parametrize("printed", ["ill", "SIS", "Bill to", "1O1"])
def test_words_are_no_numbers_though_their_letters_look_like_digits(printed: str) -> None:
    assert not any(place.is_grounded for place in places("1", NUMBER, lines((printed, 100, 100))))


@pytest.mark.parametrize(
    ("printed", "is_there"),
    [("Ref: ABC DEF 12", True), ("ABCDEF12", True), ("XABC DEF 12", False), ("ABC DEF 1Z", False)],
)
def test_the_letters_of_a_number_must_be_the_very_ones(printed: str, is_there: bool) -> None:
    found = places("ABCDEF12", field(ValueType.ID), lines((printed, 100, 100)))
    assert any(place.is_grounded for place in found) is is_there


def test_text_longer_than_any_candidate_is_found_too() -> None:
    clause = [f"clause {n} says that party {n * 7} shall not" for n in range(40)]
    layout = lines(*((text, 100, 20 + 22 * n) for n, text in enumerate(clause)))
    place = best(" ".join(clause), field(ValueType.TEXT), layout)
    assert place.similarity == 1.0
    assert len(place.span.runs) == 40


def test_running_text_is_found_over_several_lines_without_case_and_marks() -> None:
    place = best("67 Jln Mewah 25/63, Tmn Sri Muda, 40400 Shah Alam", ADDRESS)
    assert place.similarity == 1.0
    assert place.n_digit_errors == 0
    assert place.span.text == "67,JLN MEWAH 25/63 TMN SRI MUDA, 40400 SHAH ALAM"
    assert (place.span.bbox.y0, place.span.bbox.y1) == pytest.approx((0.125, 0.17))


def test_text_is_found_inside_a_line_and_its_edges_are_known() -> None:
    span = best("SAM SAM TRADING", NAME).span
    assert span.text == "SAM SAM TRADING"
    assert span.run.text[span.end :] == " CO (67890-X)"


@pytest.mark.parametrize(
    ("claimed", "n_errors"),
    [
        ("67,JLN MEWAH 25/68 TMN SRI MUDA, 40400 SHAH ALAM.", 1),
        ("61,JLN MEWAH 25/63 TMN SRI MUDA, 40900 SHAH ALAM.", 2),
        ("67,JLN MEWAH 25/63 TMN SRI MUDA, 4O4OO SHAH ALAM.", 0),
        ("67,JLN MEWEH 25/63 TMN SRI MUDA, 40400 SHAH ALAM.", 0),
        ("67,JLN MEWAH 25/63 TMN SRI MUDA, 404 SHAH ALAM.", 2),
    ],
)
def test_wrong_digits_in_running_text_are_counted_and_wrong_letters_are_not(claimed: str, n_errors: int) -> None:
    place = best(claimed, ADDRESS)
    assert place.is_grounded
    assert place.n_digit_errors == n_errors


def test_misread_letters_lower_the_similarity_only() -> None:
    place = best("67,JLN MEWAH TMN SRI MUDA", ADDRESS, lines(("67,JLN MEVAH TNN SRI MUBA", 100, 100)))
    assert place.is_grounded
    assert place.similarity == pytest.approx(1 - 3 / 20)


def test_an_invented_name_is_not_grounded_anywhere() -> None:
    assert not any(place.is_grounded for place in places("GOLDEN DRAGON RESTAURANT", NAME))


def test_text_across_columns_is_found_by_rows() -> None:
    layout = lines(("UNIHAKKA", 100, 100), ("INTERNATIONAL", 500, 100), ("other", 100, 125), ("things", 500, 125))
    place = best("Unihakka International", NAME, layout)
    assert place.similarity == 1.0
    assert len(place.span.runs) == 2


@pytest.mark.parametrize(("claimed", "is_there"), [("金星", True), ("金皇", False), ("金星超市有限公司", True)])
def test_short_text_must_be_there_as_it_is(claimed: str, is_there: bool) -> None:
    found = places(claimed, NAME, lines(("欢迎光临金星超市有限公司", 100, 100)))
    assert any(place.is_grounded for place in found) is is_there


def test_nothing_is_found_on_an_empty_page() -> None:
    assert places("14.10", AMOUNT, lines()) == places("ACME", NAME, lines()) == []


@given(st.decimals("0.01", "99999.99", places=2), st.decimals("0.01", "99999.99", places=2))
def test_an_amount_is_grounded_exactly_where_the_same_amount_is_printed(claimed: object, printed: object) -> None:
    layout = lines((f"TOTAL {printed}", 100, 100))
    found = any(place.is_grounded for place in places(str(claimed), AMOUNT, layout))
    assert found is (claimed == printed)


@given(st.text("abcdefgh 123", min_size=1, max_size=30), st.text("abcdefgh 123", min_size=1, max_size=30))
def test_similarity_is_a_share_and_whole_for_what_is_printed(claimed: str, printed: str) -> None:
    layout = lines((printed, 100, 100))
    assert all(0.0 <= place.similarity <= 1.0 for place in places(claimed, NAME, layout))
    same = places(printed, NAME, layout)
    assert not layout.runs or not any(map(str.isalnum, printed)) or same[0].similarity == 1.0


def test_a_page_of_many_words_is_searched_in_little_time() -> None:
    crowded = lines(*((f"word {n} and {n * 7919 % 10007} more", 20 + 500 * (n % 2), n) for n in range(SIDE // 2)))
    started = time.process_time()
    places("a rather long address that is not on this page, 40400 Shah Alam, Selangor", ADDRESS, crowded)
    assert time.process_time() - started < 5.0


def test_the_bound_lies_between_nearly_and_as_printed() -> None:
    assert 0.5 < GROUNDED < AS_PRINTED < AS_VALUE
