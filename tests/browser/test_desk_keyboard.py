"""A reviewer at work without a mouse."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.house import ServedHouse

COUNT_KEYS = "window.nKeys = 0; addEventListener('keydown', () => { window.nKeys += 1 }, true)"


def wait_done(house: ServedHouse, task: int) -> None:
    house.wait_for(lambda: house.state(task) == "done", "the task is submitted")


def test_one_wrong_field_costs_its_characters_and_two_enters(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    page.evaluate(COUNT_KEYS)
    assert rui.focused_path() == "/total"
    page.keyboard.type("9.00")
    rui.press("Enter")
    expect(page.locator("#submit")).to_be_focused()
    rui.press("Enter")
    wait_done(house, seeded.tasks[0])
    assert page.evaluate("window.nKeys") == len("9.00") + 2
    assert house.verdicts(seeded.tasks[0]) == {"/total": ("corrected", "9.00")}
    expect(page.locator("#desk")).to_have_attribute("data-state", "empty")


def test_a_right_field_is_confirmed_by_enter(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("clean")
    rui = visit(seeded)
    rui.open_desk()
    rui.press("Enter", "Enter", "Enter")
    wait_done(house, seeded.tasks[0])
    assert house.verdicts(seeded.tasks[0]) == {"/date": ("confirmed", "2018-12-25"), "/total": ("confirmed", "9.00")}


def test_a_clean_document_is_one_keystroke(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("clean")
    rui = visit(seeded)
    rui.open_desk()
    rui.press("Control+Enter")
    wait_done(house, seeded.tasks[0])
    assert {verdict for verdict, _value in house.verdicts(seeded.tasks[0]).values()} == {"confirmed"}


def test_from_submit_to_the_next_task_without_loading_a_page(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt", 2)
    rui = visit(seeded)
    page = rui.open_desk()
    page.evaluate("window.isTheSamePage = true")
    page.keyboard.type("9.00")
    rui.press("Enter", "Enter")
    expect(page.locator("#desk-title")).to_have_text("receipt 000002.jpg")
    expect(page.locator(".field-input[data-path='/total']")).to_be_focused()
    assert page.evaluate("window.isTheSamePage")
    page.keyboard.type("9.00")
    rui.press("Enter", "Enter")
    wait_done(house, seeded.tasks[1])


def test_a_next_task_that_comes_late_is_not_given_back(house: ServedHouse, visit: Visit) -> None:
    """The answer about the next task arrives after the submit that needs it."""
    seeded = house.project("receipt", 3)
    rui = visit(seeded)
    slow = "delay => { const now = fetch; window.fetch = async (...of) => { const done = await now(...of); "
    slow += (
        "if (String(of[1]?.body).includes('besides')) await new Promise((on) => setTimeout(on, delay)); return done } }"
    )
    rui.page.add_init_script(f"({slow})(1500)")
    page = rui.open_desk()
    for number in (2, 3):
        page.keyboard.type("9.00")
        rui.press("Enter", "Enter")
        expect(page.locator("#desk-title")).to_have_text(f"receipt 00000{number}.jpg")
        expect(page.locator(".field-input[data-path='/total']")).to_be_focused()
    page.keyboard.type("9.00")
    rui.press("Enter", "Enter")
    for task in seeded.tasks:
        wait_done(house, task)


def test_letters_are_text_while_a_text_is_edited(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    page.keyboard.type("musix?")
    assert page.input_value(".field-input[data-path='/total']") == "musix?"
    assert page.locator("dialog[open]").count() == 0


@pytest.mark.parametrize(("key", "verdict"), [("m", "spurious"), ("i", "illegible")])
def test_one_key_each_for_absent_and_illegible(house: ServedHouse, visit: Visit, key: str, verdict: str) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    rui.open_desk()
    rui.press("Escape", key, "Enter")
    wait_done(house, seeded.tasks[0])
    assert house.verdicts(seeded.tasks[0]) == {"/total": (verdict, None)}


def test_undo_brings_back_what_stood_before(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    rui.press("Escape", "m")
    expect(page.locator("#submit")).to_be_focused()
    rui.press("u")
    assert rui.focused_path() == "/total"
    assert page.input_value(".field-input[data-path='/total']") == "9.10"
    expect(page.locator("#desk-left")).to_contain_text("1")
    rui.press("Enter", "Enter")
    wait_done(house, seeded.tasks[0])
    assert house.verdicts(seeded.tasks[0]) == {"/total": ("confirmed", "9.10")}


def test_undoing_the_first_save_of_a_field_leaves_no_label(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    page.focus(".field-input[data-path='/company']")
    rui.press("Enter")
    expect(page.locator("li[data-path='/company']")).to_have_attribute("data-state", "person")
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "the company is confirmed")
    rui.press("Escape", "u")
    expect(page.locator("li[data-path='/company']")).to_have_attribute("data-state", "ok")
    house.wait_for(lambda: len(house.edits(seeded.tasks[0])) == 2, "the confirmation is taken back")
    expect(page.locator("#desk-saved")).to_have_attribute("data-state", "saved")
    # Another look at the task finds it as undecided as the first.
    page = rui.open_desk()
    expect(page.locator("li[data-path='/company']")).to_have_attribute("data-state", "ok")
    assert rui.focused_path() == "/total"
    page.keyboard.type("9.00")
    rui.press("Enter", "Enter")
    wait_done(house, seeded.tasks[0])
    assert house.verdicts(seeded.tasks[0]) == {"/total": ("corrected", "9.00")}


def test_text_typed_back_to_what_was_read_decides_nothing(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    page.focus(".field-input[data-path='/company']")
    rui.press("End", "!")
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "what is typed is kept")
    rui.press("Backspace")
    house.wait_for(lambda: len(house.edits(seeded.tasks[0])) == 2, "and so is that it was taken back")
    assert house.edits(seeded.tasks[0])[1] == ("/company", 2, "", None)


def test_tab_walks_the_fields_in_the_order_of_the_schema(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    page.focus(".field-input[data-path='/company']")
    walked = ["/company"]
    for _ in range(12):
        rui.press("Tab")
        if (path := rui.focused_path()) and path != walked[-1]:
            walked.append(path)
    assert walked == ["/company", "/date", "/address", "/total"]


def test_arrows_move_between_fields_once_the_text_is_left(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    rui.open_desk()
    rui.press("Escape", "ArrowUp")
    assert rui.focused_path() == "/address"
    rui.press("ArrowDown")
    assert rui.focused_path() == "/total"


def test_skipping_needs_a_reason_and_two_keys(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt", 2)
    rui = visit(seeded)
    page = rui.open_desk()
    rui.press("Escape", "s", "Enter")
    expect(page.locator("#desk-title")).to_have_text("receipt 000002.jpg")
    assert house.rows("SELECT reason FROM review_taskskip WHERE task_id = ?", seeded.tasks[0])
    rui.press("Escape", "x", "Enter")
    expect(page.locator("#desk")).to_have_attribute("data-state", "empty")
    assert house.state(seeded.tasks[1]) == "unusable"
    expect(page.locator("#desk-empty-why")).to_contain_text("you skipped")


def test_the_cheat_sheet_opens_on_a_question_mark_and_closes_on_escape(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    rui.press("Escape", "?")
    expect(page.locator("#keys-dialog")).to_be_visible()
    rui.press("Escape")
    expect(page.locator("#keys-dialog")).to_be_hidden()


def test_an_empty_queue_fills_by_itself(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui, ana = visit(seeded), visit(seeded, "ana")
    rui.open_desk()
    ana.page.goto(ana.url("review/"))
    expect(ana.page.locator("#desk-empty-why")).to_contain_text("others hold")
    rui.press("Escape", "s", "Enter")
    expect(ana.page.locator("#desk-title")).to_have_text("receipt 000001.jpg")
