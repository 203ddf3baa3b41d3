"""Every page for everybody: axe finds nothing in light and dark, and Chinese is whole, an input method included."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import SOURCE, violations
from tests.browser.conftest import Visit
from tests.browser.house import Seeded, ServedHouse

TOTAL = ".field-input[data-path='/total']"
PAGES = [
    "documents/",
    "documents/{document}/",
    "queue/",
    "accuracy/",
    "policies/",
    "policies/receipt/",
    "targets/receipt/",
    "learning/",
    "types/receipt/rollouts/",
    "operations/",
    "reviewers/",
    "exports/",
    "data-sets/",
    "tokens/",
    "nowhere/",
]

pytestmark = pytest.mark.skipif(not SOURCE.is_file(), reason="axe-core is not installed (make assets)")


@pytest.fixture(scope="module")
def seeded(house: ServedHouse) -> Seeded:
    """Looked at by all tests here, changed by none."""
    return house.project("receipt", 2)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_on_the_pages(seeded: Seeded, visit: Visit, path: str, theme: str) -> None:
    ada = visit(seeded, "ada", color_scheme=theme, reduced_motion="reduce")
    ada.page.goto(ada.url(path.format(document=seeded.documents[0])), wait_until="networkidle")
    assert violations(ada.page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["receipt", "invoice", "long"])
def test_axe_finds_nothing_at_the_desk(house: ServedHouse, visit: Visit, kind: str, theme: str) -> None:
    rui = visit(house.project(kind), color_scheme=theme, reduced_motion="reduce")
    page = rui.open_desk()
    assert violations(page) == []
    page.keyboard.type("9.00")
    rui.press("Enter")
    rui.press("u", "?")
    expect(page.locator("#keys-dialog")).to_be_visible()
    assert violations(page) == []
    rui.press("Escape", "s")
    expect(page.locator("#reason-dialog")).to_be_visible()
    assert violations(page) == []
    rui.press("Enter")
    expect(page.locator("#desk")).to_have_attribute("data-state", "empty")
    assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_before_signing_in(seeded: Seeded, visit: Visit, theme: str) -> None:
    rui = visit(seeded, color_scheme=theme)
    rui.context.clear_cookies()
    rui.page.goto(rui.address + "/sign-in/")
    assert violations(rui.page) == []


def visible_text(page: Page) -> str:
    return str(page.evaluate("document.body.innerText"))


def in_chinese(visit: Visit, seeded: Seeded, who: str = "rui") -> Page:
    visitor = visit(seeded, who, locale="zh-CN")
    return visitor.open_desk()


def test_the_desk_speaks_chinese(house: ServedHouse, visit: Visit) -> None:
    page = in_chinese(visit, house.project("receipt"))
    assert page.get_attribute("html", "lang") == "zh-Hans"
    expect(page.locator("label[for=field-3]")).to_have_text("合计")
    text = visible_text(page)
    # What stays Latin: names, file names, keys, values.
    words = set(re.findall(r"[A-Za-z]{4,}", text)) - {"Stet", "Receipts", "English", "Ctrl", "Enter", "receipt"}
    assert words == set()


def test_nothing_is_confirmed_while_an_input_method_composes(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    page = in_chinese(visit, seeded)
    company = ".field-input[data-path='/company']"
    page.focus(company)
    page.locator(company).select_text()
    keyboard = page.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "ni hao", "selectionStart": 6, "selectionEnd": 6})
    process = {"type": "rawKeyDown", "key": "Process", "code": "Enter", "windowsVirtualKeyCode": 229}
    keyboard.send("Input.dispatchKeyEvent", process)
    # Some systems name the key although it belongs to the input method.
    page.evaluate(
        """() => document.activeElement.dispatchEvent(
             new KeyboardEvent("keydown", {key: "Enter", code: "Enter", isComposing: true, bubbles: true}))"""
    )
    expect(page.locator(company)).to_be_focused()
    assert house.edits(seeded.tasks[0]) == []
    keyboard.send("Input.insertText", {"text": "你好"})
    expect(page.locator(company)).to_have_value("你好")
    page.keyboard.press("Enter")
    expect(page.locator(TOTAL)).to_be_focused()
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "the company is saved")
    assert house.edits(seeded.tasks[0])[0][2:] == ("corrected", "你好")


def test_the_desk_is_whole_at_twice_the_size(house: ServedHouse, visit: Visit) -> None:
    """200 % on 1,280 pixels leaves 640."""
    rui = visit(house.project("receipt"))
    rui.page.set_viewport_size({"width": 640, "height": 400})
    page = rui.open_desk()
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
    page.keyboard.type("9.00")
    rui.press("Enter")
    expect(page.locator("#submit")).to_be_focused()
    expect(page.locator("#submit")).to_be_in_viewport()
