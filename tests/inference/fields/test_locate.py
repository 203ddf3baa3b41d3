"""`receipts.json` holds eight stored readings of receipts: ICDAR 2019 SROIE, CC BY 4.0 (see samples/README.md)."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.document_types import shipped_document_type
from inference.fields.locate import document_keywords, locate
from inference.fields.normalise import comparable
from inference.fields.prior import PriorScorer
from inference.fields.scored import KEPT_CANDIDATES
from inference.types import BBox, DocumentTypeSpec, FieldReading, FieldSpec, PageReading, ValueType, Word
from tests.inference.fields.invoices import CHINESE, INVOICES, PLAIN, WITHOUT_TAX, Invoice
from tests.inference.fields.pages import field, reading

RECEIPT = shipped_document_type("receipt")
INVOICE = shipped_document_type("invoice")
STORED = json.loads(Path(__file__).with_name("receipts.json").read_text(encoding="utf-8"))


def stored_reading(name: str) -> PageReading:
    data = STORED[name]
    width, height = data["size"]
    words = tuple(
        Word(text, BBox(x0 / width, y0 / height, x1 / width, y1 / height), score)
        for text, x0, y0, x1, y1, score in data["words"]
    )
    return PageReading(width, height, words, 0.0)


def by_path(readings: Sequence[PageReading], spec: DocumentTypeSpec, **options: Any) -> dict[str, FieldReading]:
    return {answer.field_path: answer for answer in locate(readings, spec, **options)}


def one_field(spec: FieldSpec, *pages: PageReading) -> FieldReading:
    (answer,) = locate(pages, DocumentTypeSpec(fields=(spec,)))
    return answer


@pytest.mark.parametrize("name", sorted(STORED))
def test_real_receipts_are_read_without_any_training(name: str) -> None:
    found = by_path([stored_reading(name)], RECEIPT)
    truth = STORED[name]["truth"]
    for spec in RECEIPT.fields:
        value = found[spec.path].value
        assert value is not None
        assert comparable(value, spec.value_type, spec.locale) == comparable(
            truth[spec.path[1:]], spec.value_type, spec.locale
        )


@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice.name)
def test_invoices_are_read_by_the_same_mechanism(invoice: Invoice) -> None:
    found = by_path([invoice.reading()], INVOICE)
    assert {path: found[path].value for path in invoice.expected if path in found} == invoice.expected


def test_what_an_invoice_does_not_print_is_not_invented() -> None:
    found = by_path([WITHOUT_TAX.reading()], INVOICE)
    for path in ("/net", "/tax"):
        assert found[path].value is None
        assert found[path].confidence is None
        assert found[path].findings == ("not_found",)


@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice.name)
def test_invoices_have_no_rows_that_are_not_printed(invoice: Invoice) -> None:
    rows = {path for path in by_path([invoice.reading()], INVOICE) if path.startswith("/line_items/")}
    assert rows == {path for path in invoice.expected if path.startswith("/line_items/")}


def test_every_field_is_answered_in_schema_order_even_without_a_word() -> None:
    for pages in ([], [reading()], [reading(), reading()]):
        answers = locate(pages, RECEIPT)
        assert [answer.field_path for answer in answers] == [spec.path for spec in RECEIPT.fields]
        assert all(answer.value is None and answer.findings == ("not_found",) for answer in answers)
        assert all(answer.confidence is None and answer.candidates == () for answer in answers)


def test_the_box_and_the_text_are_those_on_the_page() -> None:
    total = by_path([PLAIN.reading()], INVOICE)["/gross"]
    assert total.raw_text == "£120.00"
    assert total.page_number == 1
    assert total.bbox is not None
    assert total.bbox.x1 == pytest.approx(0.94)
    date = by_path([CHINESE.reading()], INVOICE)["/date"]
    assert date.raw_text == "2024年03月05日"


def test_a_box_in_the_middle_of_a_line_covers_only_the_value() -> None:
    answer = one_field(field(ValueType.DATE, keywords=("date",)), reading(("Date: 01/02/2018 cashier", 100, 100)))
    assert answer.bbox == pytest.approx((0.16, 0.1, 0.26, 0.12))


def test_values_are_found_on_later_pages() -> None:
    spec = field(ValueType.AMOUNT, keywords=("total",))
    answer = one_field(spec, reading(("Page one", 100, 100)), reading(("Total 12.00", 100, 100)))
    assert (answer.value, answer.page_number) == ("12.00", 2)


def test_the_keyword_decides_between_two_amounts() -> None:
    page = reading(("Total", 100, 800), ("12.00", 800, 800), ("Cash", 100, 840), ("50.00", 800, 840))
    spec = field(ValueType.AMOUNT, keywords=("total",), keywords_against=("cash",))
    assert one_field(spec, page).value == "12.00"
    swapped = field(ValueType.AMOUNT, keywords=("cash",), keywords_against=("total",))
    assert one_field(swapped, page).value == "50.00"


def test_the_region_decides_where_no_keyword_does() -> None:
    page = reading(("01/02/2018", 100, 50), ("03/04/2018", 800, 900))
    assert one_field(field(ValueType.DATE, region=BBox(0, 0, 1, 0.2)), page).value == "2018-02-01"
    assert one_field(field(ValueType.DATE, region=BBox(0.5, 0.8, 1, 1)), page).value == "2018-04-03"


def test_arithmetic_decides_where_no_keyword_does() -> None:
    # What was given is the largest; what it leaves after the change is what was due.
    page = reading(("15.40", 700, 300), ("50.00", 700, 400), ("34.60", 700, 500))
    spec = field(ValueType.AMOUNT, is_required=True)
    assert one_field(spec, page).value == "15.40"
    other = reading(("15.40", 700, 300), ("50.00", 700, 400), ("34.70", 700, 500))
    assert one_field(spec, other).value == "50.00"


def test_the_pattern_decides_between_two_ids() -> None:
    page = reading(("No 12345", 100, 100), ("No AB-9", 100, 200))
    spec = field(ValueType.ID, keywords=("no",), pattern=r"^[A-Z]{2}-\d$")
    assert one_field(spec, page).value == "AB-9"


def test_a_required_field_shows_its_best_guess_and_an_optional_one_stays_empty() -> None:
    page = reading(("12", 100, 100), ("Thank you", 100, 300))
    optional = field(ValueType.AMOUNT, keywords=("total",))
    required = field(ValueType.AMOUNT, keywords=("total",), is_required=True)
    assert one_field(optional, page).findings == ("not_found",)
    guess = one_field(required, page)
    assert guess.value == "12.00"
    assert guess.confidence is not None
    assert guess.confidence < 0.5


def test_candidates_of_an_empty_answer_are_still_there_to_pick_from() -> None:
    answer = one_field(field(ValueType.AMOUNT, keywords=("total",)), reading(("12", 100, 100)))
    assert answer.value is None
    assert [candidate.value for candidate in answer.candidates] == ["12.00"]


def test_candidates_are_kept_best_first_with_features_up_to_a_limit() -> None:
    page = reading(*((f"{number}.50", 100, 20 + 30 * number) for number in range(30)), ("Total 99.00", 300, 960))
    answer = one_field(field(ValueType.AMOUNT, keywords=("total",), is_required=True), page)
    scores = [candidate.score for candidate in answer.candidates]
    assert len(scores) == KEPT_CANDIDATES
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert answer.candidates[0].value == answer.value == "99.00"
    assert answer.candidates[0].features["keyword_left"] > 0.5


def test_answers_become_json() -> None:
    total = by_path([stored_reading("055")], RECEIPT)["/total"]
    (best, *_) = json.loads(json.dumps(total.candidates_as_json()))
    assert set(best) == {"text", "value", "page_number", "bbox", "features", "score"}
    assert isinstance(total.evidence, Mapping)
    json.dumps(dict(total.evidence))


def test_two_fields_never_claim_the_same_words() -> None:
    name = FieldSpec("/name", ValueType.NAME, True, keywords_inside=("ltd",), max_lines=3)
    place = FieldSpec("/place", ValueType.ADDRESS, True, keywords_inside=("street", "leeds"), max_lines=3)
    page = reading(("Acme Ltd", 100, 100), ("1 High Street", 100, 125), ("Leeds", 100, 150))
    found = by_path([page], DocumentTypeSpec(fields=(name, place)))
    assert found["/name"].value == "Acme Ltd"
    assert found["/place"].value == "1 High Street Leeds"


def test_a_field_that_stays_empty_claims_no_words() -> None:
    absent = FieldSpec("/absent", ValueType.NAME, keywords=("buyer",), keywords_against=("acme",))
    name = FieldSpec("/name", ValueType.NAME, True, keywords=("seller",))
    page = reading(("Acme", 100, 900))
    found = by_path([page], DocumentTypeSpec(fields=(absent, name)))
    assert found["/absent"].value is None
    assert found["/name"].value == "Acme"


def test_doubts_about_the_value_are_findings_and_cap_confidence() -> None:
    page = reading(("Date: 03/04/2018", 100, 100))
    clear = one_field(field(ValueType.DATE, keywords=("date",), locale="en-GB"), page)
    doubtful = one_field(field(ValueType.DATE, keywords=("date",), locale="en"), page)
    assert clear.findings == ()
    assert doubtful.findings == ("date_ambiguous",)
    assert (clear.value, doubtful.value) == ("2018-04-03", None)
    assert clear.confidence is not None
    assert doubtful.confidence is not None
    assert doubtful.confidence <= 0.5 < clear.confidence


def test_text_that_is_no_value_keeps_its_raw_text() -> None:
    answer = one_field(
        field(ValueType.DATE, keywords=("date",), is_required=True), reading(("Date 31/02/2018", 100, 100))
    )
    assert (answer.raw_text, answer.value) == ("31/02/2018", None)
    assert answer.findings == ("date_impossible",)
    assert answer.confidence is not None
    assert answer.confidence <= 0.5


def test_a_value_printed_twice_is_surer_than_one_with_a_rival() -> None:
    spec = field(ValueType.AMOUNT, keywords=("total",), is_required=True)
    agreed = one_field(spec, reading(("Total 12.00", 100, 500), ("Total 12.00", 100, 600)))
    disputed = one_field(spec, reading(("Total 12.00", 100, 500), ("Total 13.00", 100, 600)))
    assert agreed.confidence is not None
    assert disputed.confidence is not None
    assert agreed.confidence > disputed.confidence
    assert agreed.evidence["agreement"] > 0 == disputed.evidence["agreement"]


def test_a_poor_reading_or_a_poor_image_is_less_sure() -> None:
    spec = field(ValueType.AMOUNT, keywords=("total",))
    item = ("Total 12.00", 100, 500)
    good = one_field(spec, reading(item, quality={"contrast": 0.5, "sharpness": 4000.0}))
    blurred = one_field(spec, reading(item, quality={"contrast": 0.5, "sharpness": 100.0}))
    word = reading(item).words[0]
    unsure = one_field(spec, reading(Word(word.text, word.bbox, 0.6)))
    confidences = [answer.confidence for answer in (good, blurred, unsure)]
    assert None not in confidences
    assert confidences[0] == max(confidences, key=lambda value: value or 0.0)
    assert len(set(confidences)) == 3


class LastScorer:
    """Prefers whatever comes last."""

    def score(self, spec: FieldSpec, candidates: Sequence[Mapping[str, float]]) -> list[float]:
        return [float(number) for number, _ in enumerate(candidates)]


def test_another_scorer_takes_over() -> None:
    page = reading(("Total 12.00", 100, 100), ("13.00", 100, 200), ("14.00", 100, 300))
    spec = DocumentTypeSpec(fields=(field(ValueType.AMOUNT, keywords=("total",)),))
    assert by_path([page], spec)["/field"].value == "12.00"
    assert by_path([page], spec, scorer=LastScorer())["/field"].value == "14.00"
    assert by_path([page], spec, scorer=PriorScorer())["/field"].value == "12.00"


def test_locating_twice_gives_the_same() -> None:
    page = stored_reading("055")
    assert locate([page], RECEIPT) == locate([page], RECEIPT)


def test_the_index_holds_words_of_fields_and_columns() -> None:
    index = document_keywords(INVOICE)
    assert index.positions(["grand total", "unit price", "单价"]).size == 3


def test_a_receipt_costs_far_less_than_its_reading() -> None:
    pages = [stored_reading(name) for name in sorted(STORED)]
    locate(pages[:1], RECEIPT)
    started = time.process_time()
    for page in pages:
        locate([page], RECEIPT)
    assert (time.process_time() - started) / len(pages) < 0.25


ITEMS = st.lists(
    st.tuples(
        st.one_of(
            st.text(max_size=12), st.sampled_from(["Total", "RM 12.00", "Acme Ltd", "1/2/2018", "数量", "金额", "合计"])
        ),
        st.integers(0, 990),
        st.integers(0, 980),
    ),
    max_size=14,
)


@settings(max_examples=60)
@given(st.lists(ITEMS, max_size=2), st.sampled_from([RECEIPT, INVOICE]))
def test_any_page_gives_one_sound_answer_a_field(
    pages: list[list[tuple[str, int, int]]], spec: DocumentTypeSpec
) -> None:
    answers = locate([reading(*items) for items in pages], spec)
    paths = [answer.field_path for answer in answers]
    assert paths[: len(spec.fields)] == [item.path for item in spec.fields]
    assert len(paths) == len(set(paths))
    for answer in answers:
        assert spec.spec_of(answer.field_path) is not None
        assert answer.confidence is None or 0.0 <= answer.confidence <= 1.0
        assert answer.value is None or answer.raw_text
        assert (answer.raw_text is None) == (answer.bbox is None) == (answer.confidence is None)


@pytest.mark.engine
@pytest.mark.parametrize(
    "invoice", [item for item in INVOICES if item.language == "en"], ids=lambda invoice: invoice.name
)
def test_the_real_engine_reads_rendered_invoices(invoice: Invoice) -> None:
    engine_module = pytest.importorskip("inference.engines.rapidocr", reason="the CPU engine is not installed")
    found = by_path([engine_module.RapidOCREngine().read_page(invoice.image())], INVOICE)
    wrong = {
        path: found[path].value if path in found else None
        for path, value in invoice.expected.items()
        if path not in found
        or comparable(found[path].value or "", INVOICE.spec_of(path).value_type, INVOICE.locale)  # type: ignore[union-attr]
        != comparable(value, INVOICE.spec_of(path).value_type, INVOICE.locale)  # type: ignore[union-attr]
    }
    assert wrong == {}


def test_a_date_that_may_be_two_has_no_value_and_both_to_choose_from() -> None:
    answer = one_field(field(ValueType.DATE, locale="en", is_required=True), reading(("Date: 03/04/2018", 100, 100)))
    assert (answer.value, answer.raw_text, answer.findings) == (None, "03/04/2018", ("date_ambiguous",))
    assert answer.confidence is not None
    assert answer.confidence <= 0.5
    assert [candidate.value for candidate in answer.candidates] == ["2018-04-03", "2018-03-04"]
    assert {candidate.text for candidate in answer.candidates} == {"03/04/2018"}
