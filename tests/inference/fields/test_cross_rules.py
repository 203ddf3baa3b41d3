import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.document_types import shipped_document_type
from inference.fields.cross_rules import EVIDENCE, cross_findings
from inference.fields.locate import locate
from inference.fields.score import CAPPED_BY_FINDING
from inference.types import DocumentTypeSpec, FieldReading, parse_document_type
from tests.inference.fields.invoices import INVOICES, PLAIN, WITHOUT_TAX, Invoice

TODAY = datetime.date(2026, 11, 29)
INVOICE = shipped_document_type("invoice")
AMOUNTS = st.decimals(min_value=Decimal("-9999.99"), max_value=Decimal("9999.99"), places=2)


def a_type(*rules: dict[str, Any]) -> DocumentTypeSpec:
    def leaf(value_type: str) -> dict[str, Any]:
        return {"type": ["string", "null"], "x-label": {"en": value_type}, "x-value-type": value_type}

    rows = {"count": leaf("number"), "price": leaf("amount"), "amount": leaf("amount"), "day": leaf("date")}
    return parse_document_type(
        {
            "type": "object",
            "x-label": {"en": "Thing"},
            "x-rules": [{"message": {"en": "does not fit"}, **rule} for rule in rules],
            "properties": {
                **{name: leaf("amount") for name in ("net", "tax", "gross")},
                **{name: leaf("date") for name in ("date", "due")},
                "rows": {
                    "type": "array",
                    "x-label": {"en": "Rows"},
                    "items": {"type": "object", "properties": rows},
                },
            },
        }
    )


GROSS = a_type({"rule": "sum", "name": "gross", "of": ["/net", "/tax"], "equals": "/gross", "tolerance": "0.01"})
ROWS = a_type({"rule": "sum", "name": "rows", "of": ["/rows/*/amount"], "equals": "/net"})
PRODUCT = a_type(
    {"rule": "product", "name": "row", "of": ["/rows/*/count", "/rows/*/price"], "equals": "/rows/*/amount"}
)
ORDER = a_type({"rule": "in_order", "name": "due_later", "of": ["/date", "/due"]})
PAST = a_type({"rule": "not_in_future", "name": "past", "field": "/date", "days": 1})


def read(values: dict[str, str | None], confidence: float | None = 0.9) -> list[FieldReading]:
    return [FieldReading(path, value, value, confidence, {"share": 1.0}) for path, value in values.items()]


def broken(spec: DocumentTypeSpec, values: dict[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Return the findings of each field that has any."""
    found = cross_findings(read(values), spec, TODAY)
    return {reading.field_path: reading.findings for reading in found if reading.findings}


def test_what_adds_up_has_no_finding_and_evidence_of_it() -> None:
    found = cross_findings(read({"/net": "100.00", "/tax": "6.00", "/gross": "106.00"}), GROSS, TODAY)
    assert [reading.findings for reading in found] == [(), (), ()]
    assert [reading.evidence for reading in found] == [{"share": 1.0, EVIDENCE: 1.0}] * 3
    assert [reading.confidence for reading in found] == [0.9] * 3


def test_every_field_of_a_broken_rule_is_told_and_loses_its_certainty() -> None:
    found = cross_findings(read({"/net": "100.00", "/tax": "6.00", "/gross": "160.00"}), GROSS, TODAY)
    assert [reading.findings for reading in found] == [("rule:gross",)] * 3
    assert [reading.evidence[EVIDENCE] for reading in found] == [0.0] * 3
    assert [reading.confidence for reading in found] == [CAPPED_BY_FINDING] * 3


@pytest.mark.parametrize(("gross", "is_broken"), [("106.01", False), ("105.99", False), ("106.02", True)])
def test_the_tolerance_is_the_largest_difference_that_passes(gross: str, is_broken: bool) -> None:
    assert bool(broken(GROSS, {"/net": "100.00", "/tax": "6.00", "/gross": gross})) == is_broken


@pytest.mark.parametrize("lacking", ["/net", "/tax", "/gross"])
@pytest.mark.parametrize("value", [None, "", "see above", "NaN", "Infinity"])
def test_a_rule_that_lacks_a_number_says_nothing(lacking: str, value: str | None) -> None:
    values = {"/net": "100.00", "/tax": "6.00", "/gross": "1.00", lacking: value}
    found = cross_findings(read(values), GROSS, TODAY)
    assert all(reading.findings == () and EVIDENCE not in reading.evidence for reading in found)


def test_earlier_findings_stay_and_a_confidence_that_is_missing_stays_missing() -> None:
    readings = [
        FieldReading("/net", "1", "1.00", None, {}, ("amount_ambiguous",)),
        FieldReading("/tax", "1", "1.00", 0.2, {}),
        FieldReading("/gross", "3", "3.00", 0.7, {}),
    ]
    net, tax, gross = cross_findings(readings, GROSS, TODAY)
    assert net.findings == ("amount_ambiguous", "rule:gross")
    assert net.confidence is None
    assert (tax.confidence, gross.confidence) == (0.2, CAPPED_BY_FINDING)


def test_applying_the_rules_again_changes_nothing() -> None:
    once = cross_findings(read({"/net": "1.00", "/tax": "1.00", "/gross": "3.00"}), GROSS, TODAY)
    assert cross_findings(once, GROSS, TODAY) == once


def test_the_rows_of_a_group_are_added_up_and_all_its_cells_take_part() -> None:
    rows = {"/rows/0/amount": "50.00", "/rows/1/amount": "32.00", "/rows/10/amount": "18.00"}
    assert broken(ROWS, {"/net": "100.00", **rows}) == {}
    wrong = broken(ROWS, {"/net": "100.00", **rows, "/rows/1/amount": "23.00"})
    assert wrong == dict.fromkeys(["/net", *rows], ("rule:rows",))


@pytest.mark.parametrize("cells", [{}, {"/rows/0/count": "1"}, {"/rows/0/amount": "1.00", "/rows/1/count": "1"}])
def test_rows_that_are_not_read_or_lack_a_cell_say_nothing_of_the_sum(cells: dict[str, str | None]) -> None:
    assert broken(ROWS, {"/net": "100.00", **cells}) == {}


def test_a_product_holds_or_breaks_in_each_row_by_itself() -> None:
    values = {
        "/rows/0/count": "4", "/rows/0/price": "12.50", "/rows/0/amount": "50.00",
        "/rows/1/count": "10", "/rows/1/price": "3.20", "/rows/1/amount": "23.00",
        "/rows/2/count": "1", "/rows/2/amount": "7.00",
    }  # fmt: skip
    told = ["/rows/1/count", "/rows/1/price", "/rows/1/amount"]
    assert broken(PRODUCT, dict(values)) == dict.fromkeys(told, ("rule:row",))
    found = {reading.field_path: reading.evidence for reading in cross_findings(read(dict(values)), PRODUCT, TODAY)}
    assert found["/rows/0/amount"][EVIDENCE] == 1.0
    assert EVIDENCE not in found["/rows/2/amount"]


@pytest.mark.parametrize(
    ("date", "due", "is_broken"),
    [
        ("2026-03-05", "2026-04-04", False),
        ("2026-03-05", "2026-03-05", False),
        ("2026-04-05", "2026-04-04", True),
        ("2026-04", "2026-04-04", False),
        ("2026-04-20", "2026-04", False),
        ("2026-05", "2026-04-30", True),
        ("2026-02-29", "2026-01-01", False),
    ],
)
def test_dates_in_order_may_be_equal_and_a_month_counts_with_all_its_days(date: str, due: str, is_broken: bool) -> None:
    assert bool(broken(ORDER, {"/date": date, "/due": due})) == is_broken


@pytest.mark.parametrize(
    ("date", "is_broken"),
    [("2026-11-29", False), ("2026-11-30", False), ("2026-12-01", True), ("2026-11", False), ("2026-12", True)],
)
def test_a_date_may_lie_as_many_days_ahead_as_the_rule_grants(date: str, is_broken: bool) -> None:
    assert broken(PAST, {"/date": date}) == ({"/date": ("rule:past",)} if is_broken else {})


def test_several_rules_are_judged_by_themselves_and_one_broken_one_decides_the_evidence() -> None:
    both = a_type(
        {"rule": "sum", "name": "rows", "of": ["/rows/*/amount"], "equals": "/net"},
        {"rule": "sum", "name": "gross", "of": ["/net", "/tax"], "equals": "/gross"},
    )
    values = {"/net": "5.00", "/tax": "1.00", "/gross": "7.00", "/rows/0/amount": "4.00"}
    assert broken(both, dict(values))["/net"] == ("rule:rows", "rule:gross")
    found = {reading.field_path: reading for reading in cross_findings(read({**values, "/gross": "6.00"}), both, TODAY)}
    assert found["/net"].evidence[EVIDENCE] == 0.0
    assert found["/gross"].evidence[EVIDENCE] == 1.0


@given(st.lists(AMOUNTS, min_size=1, max_size=6), AMOUNTS)
def test_a_sum_is_exact_whatever_the_amounts(amounts: list[Decimal], error: Decimal) -> None:
    cells = {f"/rows/{number}/amount": f"{amount:.2f}" for number, amount in enumerate(amounts)}
    total = sum(amounts, Decimal(0)) + error
    assert bool(broken(ROWS, {"/net": f"{total:.2f}", **cells})) == (error != 0)


@pytest.mark.parametrize("invoice", INVOICES, ids=lambda invoice: invoice.name)
def test_the_rules_that_ship_hold_on_invoices_that_are_right(invoice: Invoice) -> None:
    before = locate([invoice.reading()], INVOICE)
    found = cross_findings(before, INVOICE, TODAY)
    assert [reading.findings for reading in found] == [reading.findings for reading in before]
    assert any(EVIDENCE in reading.evidence for reading in found)


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("/line_items/1/amount", "33.00", "rule:rows_add_up"),
        ("/tax", "2.00", "rule:net_and_tax"),
        ("/date", "2027-03-05", "rule:date_not_in_future"),
    ],
)
def test_the_rules_that_ship_notice_a_wrong_value(path: str, value: str, code: str) -> None:
    values: dict[str, str | None] = {**PLAIN.expected, path: value}
    assert code in broken(INVOICE, values)[path]


def test_an_invoice_that_prints_neither_net_nor_tax_is_left_alone() -> None:
    assert broken(INVOICE, dict(WITHOUT_TAX.expected)) == {}
