import pytest

from inference.fields.spans import spans_for, text_spans, typed_spans
from inference.types import ValueType
from tests.inference.fields.pages import field, index_of, page, word

NAME = field(ValueType.NAME, keywords=("bill to", "客户", "customer"), max_lines=2)
ADDRESS = field(ValueType.ADDRESS, max_lines=3)


def names(*items: tuple[str, int, int]) -> list[str]:
    return [span.text for span in text_spans(page(*items), NAME, index_of(NAME))]


def test_typed_values_are_found_inside_runs_with_their_own_box() -> None:
    layout = page(("TOTAL RM 12.00", 100, 100))
    (span,) = typed_spans(layout, field(ValueType.AMOUNT))
    assert span.text == "RM 12.00"
    assert span.normalised.value == "12.00"
    assert span.bbox.x0 == pytest.approx(0.16)
    assert span.bbox.x1 == pytest.approx(0.24)


def test_a_typed_value_over_two_boxes_is_found_when_they_are_close() -> None:
    layout = page(("19 MAR", 100, 100), ("2018", 165, 100))
    (span,) = typed_spans(layout, field(ValueType.DATE))
    assert span.normalised.value == "2018-03-19"


def test_a_typed_span_keeps_the_score_of_its_own_words() -> None:
    layout = page(word("TOTAL", 100, 100, score=0.5), word("12.00", 155, 100, score=0.95))
    (span,) = typed_spans(layout, field(ValueType.AMOUNT))
    assert span.ocr_score == 0.95


def test_impossible_values_stay_candidates_without_a_value() -> None:
    (span,) = typed_spans(page(("31/02/2018", 100, 100)), field(ValueType.DATE))
    assert span.normalised.value is None
    assert span.normalised.findings == ("date_impossible",)


def test_each_run_is_a_candidate_for_free_text() -> None:
    assert names(("ACME LTD", 100, 100), ("12 High Street", 100, 300)) == ["ACME LTD", "12 High Street"]


def test_lines_below_are_joined_up_to_the_limit() -> None:
    layout = page(("1 High St", 100, 100), ("Leeds", 100, 125), ("LS1 2AB", 100, 150), ("England", 100, 175))
    found = [span.text for span in text_spans(layout, ADDRESS, index_of(ADDRESS))]
    assert "1 High St Leeds LS1 2AB" in found
    assert "Leeds LS1 2AB England" in found
    assert all("1 High St" not in text or "England" not in text for text in found)


def test_a_block_is_boxed_around_all_its_lines() -> None:
    layout = page(("1 High St", 100, 100), ("Leeds LS1 2AB", 90, 125))
    block = next(span for span in text_spans(layout, ADDRESS, index_of(ADDRESS)) if len(span.runs) == 2)
    assert block.bbox == pytest.approx((0.09, 0.1, 0.22, 0.145))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Bill To: Acme Ltd", "Acme Ltd"),
        ("BILL TO Acme Ltd", "Acme Ltd"),
        ("Customer : Acme Ltd", "Acme Ltd"),
        ("客户：上海公司", "上海公司"),
        ("客户上海公司", "上海公司"),
    ],
)
def test_what_follows_a_label_is_a_candidate_of_its_own(text: str, value: str) -> None:
    found = names((text, 100, 100))
    assert value in found
    assert len(found) == 2


@pytest.mark.parametrize("text", ["Time: Acme Ltd", "Acme Ltd: London", "Customers Acme"])
def test_other_words_before_a_colon_are_no_label(text: str) -> None:
    assert len(names((text, 100, 100))) == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("AEON CO. (M) BHD (126926-H)", "AEON CO. (M) BHD"),
        ("MYDIN SDN BHD(728515-M)", "MYDIN SDN BHD"),
        ("99 SPEED MART S/B 519537-X)", "99 SPEED MART S/B"),
        ("KING'S CONFECTIONERY S/B 273500-U (KSB)", "KING'S CONFECTIONERY S/B"),
        ("MOONLIGHT SDN BHD 862725-U", "MOONLIGHT SDN BHD"),
    ],
)
def test_a_name_is_offered_without_the_registration_number_behind_it(text: str, value: str) -> None:
    assert sorted(names((text, 100, 100))) == sorted([text.strip("(),;: "), value]) or value in names((text, 100, 100))


@pytest.mark.parametrize("text", ["BEMED (SP) SDN BHD", "7 ELEVEN", "ACME (M) BHD", "(126926-H)"])
def test_a_name_without_a_number_behind_it_is_offered_once(text: str) -> None:
    assert len(names((text, 100, 100))) == 1


def test_an_address_keeps_its_trailing_number() -> None:
    layout = page(("LEEDS (12345)", 100, 100))
    assert [span.text for span in text_spans(layout, ADDRESS, index_of(ADDRESS))] == ["LEEDS (12345)"]


def test_marks_alone_are_no_candidate() -> None:
    assert names(("*****", 100, 100), ("- - -", 100, 300)) == []


def test_endless_text_is_no_candidate() -> None:
    assert names(("x" * 401, 0, 100)) == []


def test_spans_are_typed_or_free_by_the_field() -> None:
    layout = page(("ACME 12.00", 100, 100))
    amount = field(ValueType.AMOUNT)
    assert [span.text for span in spans_for(layout, amount, index_of(amount))] == ["12.00"]
    assert [span.text for span in spans_for(layout, NAME, index_of(NAME))] == ["ACME 12.00"]
