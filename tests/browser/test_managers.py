"""The manager's pages in a browser: they follow the work, and a threshold says what it does before it is saved."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe import SOURCE, violations
from tests.browser.conftest import Visit
from tests.browser.house import ServedHouse


def test_the_queue_follows_who_takes_what_and_keeps_what_is_ticked(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt", 2)
    ada, rui = visit(seeded, "ada"), visit(seeded, "rui")
    ada.page.goto(ada.url("queue/"))
    expect(ada.page.locator(".answer")).to_contain_text("2 documents wait")
    expect(ada.page.get_by_text("Nobody is working on a document.")).to_be_visible()
    ada.page.locator("input[name=task]").last.check()
    rui.open_desk()
    expect(ada.page.locator("#queue-page tbody .status", has_text="rui").first).to_be_visible()
    expect(ada.page.locator("input[name=task]").last).to_be_checked()
    ada.page.locator("#priority").fill("7")
    ada.page.get_by_role("button", name="Set").click()
    expect(ada.page.locator(".messages")).to_contain_text("1 task changed.")
    expect(ada.page.locator("#queue-page tbody tr").first.locator("td.number").first).to_have_text("7")


def test_a_moved_threshold_says_what_it_would_have_done_and_saves_nothing(house: ServedHouse, visit: Visit) -> None:
    ada = visit(house.project("receipt", 2), "ada", reduced_motion="reduce")
    ada.page.goto(ada.url("policies/receipt/"))
    expect(ada.page.locator(".answer")).to_contain_text("The thresholds in force store")
    expect(ada.page.locator(".chart canvas")).to_be_visible()
    row = ada.page.locator("tr[data-path='/total']")
    row.locator("input").first.fill("0")
    row.locator("input").last.fill("0")
    expect(ada.page.locator(".answer")).to_contain_text("With these thresholds")
    expect(ada.page.locator(".chart canvas")).to_be_visible()
    expect(row.locator("input").last).to_have_value("0")
    ada.page.reload()
    expect(ada.page.locator(".answer")).to_contain_text("The thresholds in force store")
    ada.page.get_by_role("button", name="Save as a draft").click()
    expect(ada.page.locator(".messages")).to_contain_text(re.compile(r"Policy \d+ is saved as a draft"))


@pytest.mark.skipif(not SOURCE.is_file(), reason="axe-core is not installed (make assets)")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_behind_accuracy(house: ServedHouse, visit: Visit, theme: str) -> None:
    seeded = house.project("receipt", 1)
    mia = visit(seeded, "mia", color_scheme=theme, reduced_motion="reduce")
    page = mia.open_desk()
    page.keyboard.type("12.34")
    mia.press("Enter", "Control+Enter")
    expect(page.locator("#desk")).to_have_attribute("data-state", "empty")
    for path in ("accuracy/field/?field=receipt:/total", "accuracy/errors/"):
        page.goto(mia.url(path), wait_until="networkidle")
        assert violations(page) == []
    expect(page.locator("ins", has_text="12.34")).to_be_visible()
    expect(page.locator(".crop img").first).to_be_visible()
