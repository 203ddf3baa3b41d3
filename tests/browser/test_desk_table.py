"""Repeated groups as a grid."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.house import ServedHouse


def cell(row: int, column: str) -> str:
    return f".grid .field-input[data-path='/line_items/{row}/{column}']"


def column_of(page: Any, column: str) -> list[str]:
    found: list[str] = page.evaluate(
        "(name) => [...document.querySelectorAll(`.grid input[data-column='/${name}']`)].map((one) => one.value)",
        column,
    )
    return found


def test_a_wrong_amount_is_corrected_and_the_sum_agrees(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("invoice")
    rui = visit(seeded)
    page = rui.open_desk()
    assert rui.focused_path() == "/line_items/2/amount"
    expect(page.locator(".table-sums")).to_contain_text("25.10")
    expect(page.locator(".table-sums")).to_have_class("table-sums is-different")
    page.keyboard.type("7.60")
    expect(page.locator(".table-sums")).to_have_class("table-sums is-same")
    rui.press("Enter", "Enter")
    house.wait_for(lambda: house.state(seeded.tasks[0]) == "done", "the task is submitted")
    assert house.verdicts(seeded.tasks[0]) == {"/line_items/2/amount": ("corrected", "7.60")}


def test_arrows_walk_the_cells(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("invoice"))
    page = rui.open_desk()
    page.focus(cell(0, "description"))
    page.locator(cell(0, "description")).select_text()
    walked = []
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"):
        rui.press(key)
        walked.append(rui.focused_path())
    rows = ["0/quantity", "1/quantity", "1/amount", "0/amount", "0/quantity"]
    assert walked == [f"/line_items/{row}" for row in rows]


def test_rows_are_added_and_submitted(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("invoice")
    rui = visit(seeded)
    page = rui.open_desk()
    page.get_by_role("button", name="Add a row").click()
    expect(page.locator(cell(3, "description"))).to_be_focused()
    page.keyboard.type("Stapler")
    rui.press("Tab", "Tab")
    page.keyboard.type("6.00")
    page.focus(cell(2, "amount"))
    rui.press("Control+Enter")
    house.wait_for(lambda: house.state(seeded.tasks[0]) == "done", "the task is submitted")
    verdicts = house.verdicts(seeded.tasks[0])
    assert verdicts["/line_items/3/description"] == ("missing", "Stapler")
    assert verdicts["/line_items/3/amount"] == ("missing", "6.00")


def test_a_row_is_deleted_and_brought_back(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("invoice"))
    page = rui.open_desk()
    page.get_by_role("button", name="Delete row 2").click()
    assert column_of(page, "description") == ["Copy paper A4", "", "Pen blue"]
    expect(page.locator("tr.is-gone")).to_have_count(1)
    page.click("[data-act=undo]")
    assert column_of(page, "description") == ["Copy paper A4", "Ring binder", "Pen blue"]
    expect(page.locator("tr.is-gone")).to_have_count(0)


def test_rows_are_merged_and_split(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("invoice"))
    page = rui.open_desk()
    page.get_by_role("button", name="Merge row 1 with the next").click()
    assert column_of(page, "description") == ["Copy paper A4 Ring binder", "", "Pen blue"]
    assert column_of(page, "amount") == ["12.00", "", "8.60"]
    page.click("[data-act=undo]")
    page.focus(cell(0, "description"))
    page.evaluate("document.activeElement.setSelectionRange(5, 5)")
    page.get_by_role("button", name="Split row 1").click()
    assert column_of(page, "description") == ["Copy", "paper A4", "Ring binder", "Pen blue"]


def test_cells_of_a_spreadsheet_are_pasted(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("invoice"))
    page = rui.open_desk()
    page.focus(cell(1, "description"))
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text/plain", "Binder\\t3\\t4.00\\r\\nPencil\\t1\\t0.60\\r\\nGlue\\t1\\t1.00\\r\\n");
          const paste = new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true});
          document.activeElement.dispatchEvent(paste);
        }"""
    )
    assert column_of(page, "description") == ["Copy paper A4", "Binder", "Pencil", "Glue"]
    assert column_of(page, "amount") == ["12.00", "4.00", "0.60", "1.00"]


SUMS = ".table-sums"
MESSAGES = {"en": "the line items do not add up to the net amount", "zh-CN": "明细金额之和与不含税金额不符"}


def test_the_sum_follows_the_rule_of_the_type_and_not_a_guess(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("ruled"))
    page = rui.open_desk()
    assert rui.focused_path() == "/line_items/2/amount"
    expect(page.locator(SUMS)).to_have_text("Sum of Amount: 25.10; Net amount is 24.10")
    expect(page.locator(SUMS)).to_have_class("table-sums is-different")
    page.keyboard.type("7.60")
    expect(page.locator(SUMS)).to_have_text("Sum of Amount: 24.10, the same as Net amount")
    expect(page.locator(SUMS)).to_have_class("table-sums is-same")


def test_the_sum_is_judged_anew_when_the_total_is_typed(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("ruled"))
    page = rui.open_desk()
    net = page.locator(".field-input[data-path='/net']")
    for typed, stands in (
        ("25.10", "table-sums is-same"),
        ("25.11", "table-sums is-same"),
        ("25.12", "table-sums is-different"),
        ("25,10", "table-sums is-same"),
        ("(25.10)", "table-sums is-different"),
        ("", "table-sums"),
        ("by agreement", "table-sums"),
    ):
        net.fill(typed)
        expect(page.locator(SUMS)).to_have_class(stands)
    expect(page.locator(SUMS)).to_have_text("Sum of Amount: 25.10")


def test_amounts_are_added_up_in_every_way_they_are_typed(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("ruled"))
    page = rui.open_desk()
    for row, typed in enumerate(("1,012.00", "(4.50)", "￥8.60")):
        page.locator(cell(row, "amount")).fill(typed)
    expect(page.locator(SUMS)).to_contain_text("Sum of Amount: 1016.10")
    page.locator(cell(1, "amount")).fill("4.50-")
    page.locator(cell(2, "amount")).fill("")
    expect(page.locator(SUMS)).to_contain_text("Sum of Amount: 1007.50")


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_broken_rule_is_said_at_every_field_of_it(house: ServedHouse, visit: Visit, language: str) -> None:
    rui = visit(house.project("ruled"), locale=language)
    page = rui.open_desk()
    net = page.locator("[data-path='/net'] .field-why")
    expect(net).to_contain_text(MESSAGES[language])
    for row in range(3):
        expect(page.locator(cell(row, "amount"))).to_have_attribute("title", re.compile(MESSAGES[language]))
