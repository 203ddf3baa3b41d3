"""Repeated groups as a grid."""

from typing import Any

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
