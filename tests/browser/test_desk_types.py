"""A reviewer says what a document is, without a mouse and without leaving the desk."""

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.house import ServedHouse


def slug_of(house: ServedHouse, document: object) -> str:
    statement = "SELECT t.slug FROM review_document d JOIN review_documenttype t ON t.id = d.document_type_id"
    return str(house.rows(f"{statement} WHERE d.id = {document}")[0][0])


def test_what_looks_like_another_type_moves_with_two_keys_and_the_next_task_comes(
    house: ServedHouse, visit: Visit
) -> None:
    seeded = house.project("lookalike", 2)
    rui = visit(seeded)
    page = rui.open_desk()
    document = house.rows(f"SELECT document_id FROM review_reviewtask WHERE id = {seeded.tasks[0]}")[0][0]
    expect(page.locator("#desk-looks")).to_contain_text("It looks like “Invoice” (93 %, learned from 40 documents).")
    rui.press("Escape", "t")
    expect(page.locator("#type-dialog")).to_be_visible()
    expect(page.locator("#type-choice")).to_have_value("invoice")
    rui.press("Enter")
    expect(page.locator("#desk-title")).to_have_text("receipt 000002.jpg")
    assert house.state(seeded.tasks[0]) == "cancelled"
    assert slug_of(house, document) == "invoice"
    expect(page.locator("#desk-notice")).to_contain_text("Moved to “Invoice”")


def test_enter_on_the_choice_moves_it_also_where_a_button_opened_the_dialog(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("lookalike", 2)
    rui = visit(seeded)
    page = rui.open_desk()
    page.locator("[data-act=type]").click()
    expect(page.locator("#type-choice")).to_be_focused()
    rui.press("Enter")
    expect(page.locator("#desk-title")).to_have_text("receipt 000002.jpg")
    expect(page.locator("#type-dialog")).to_be_hidden()
    assert house.state(seeded.tasks[0]) == "cancelled"


def test_a_type_that_is_right_after_all_is_said_to_be_and_the_work_goes_on(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("lookalike")
    rui = visit(seeded)
    page = rui.open_desk()
    page.get_by_role("button", name="is right").click()
    expect(page.locator("#desk-looks")).to_be_hidden()
    assert rui.focused_path() == "/total"
    page.keyboard.type("9.00")
    rui.press("Enter", "Enter")
    house.wait_for(lambda: house.state(seeded.tasks[0]) == "done", "the task is submitted")
    assert house.verdicts(seeded.tasks[0]) == {"/total": ("corrected", "9.00")}


def test_what_the_last_document_looks_like_is_not_said_while_the_next_task_is_fetched(
    house: ServedHouse, visit: Visit
) -> None:
    seeded = house.project("lookalike")
    rui = visit(seeded)
    page = rui.open_desk()
    expect(page.locator("#desk-looks")).to_be_visible()
    page.route("**/review-tasks/lease/", lambda route: route.abort())
    rui.press("Escape", "t", "Enter")
    expect(page.locator("#desk")).to_have_attribute("data-state", "loading")
    expect(page.locator("#desk-looks")).to_be_hidden()
