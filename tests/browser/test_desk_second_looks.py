"""A second person looks without seeing the first one's answers; a third decides between the two."""

from playwright.sync_api import expect

from tests.browser.conftest import Visit, Visitor
from tests.browser.house import Seeded, ServedHouse

TOTAL = ".field-input[data-path='/total']"
SHARE = "UPDATE review_project SET second_review_share = 1 WHERE slug = ?"


def answer(visitor: Visitor, total: str) -> str:
    """Open the desk, submit that total, and return what stood there before."""
    page = visitor.open_desk()
    before = page.input_value(TOTAL)
    page.keyboard.type(total)
    visitor.press("Enter", "Enter")
    expect(page.locator("#desk")).to_have_attribute("data-state", "empty")
    return before


def open_tasks(house: ServedHouse, seeded: Seeded) -> list[str]:
    query = "SELECT kind FROM review_reviewtask WHERE document_id = ? AND state = 'open'"
    return [kind for (kind,) in house.rows(query, seeded.documents[0])]


def test_two_blind_answers_that_differ_are_settled_by_a_third_person(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    house.change(SHARE, seeded.slug)
    rui, ana, mia = (visit(seeded, who) for who in ("rui", "ana", "mia"))
    assert answer(rui, "9.00") == "9.10"
    # The first reviewer is not asked again, and the second sees what the reader gave, not what the first one said.
    rui.page.reload()
    expect(rui.page.locator("#desk")).to_have_attribute("data-state", "empty")
    house.wait_for(lambda: len(open_tasks(house, seeded)) == 1, "a second look is asked for")
    assert answer(ana, "9.05") == "9.10"
    house.wait_for(lambda: open_tasks(house, seeded), "the two answers are to be settled")
    page = mia.open_desk()
    text = page.inner_text("#desk")
    assert "rui" not in text
    assert "ana" not in text
    chips = page.locator("li[data-path='/total'] .chip")
    assert sorted(chips.all_inner_texts()) == ["9.00", "9.05"]
    chips.filter(has_text="9.00").click()
    expect(page.locator(TOTAL)).to_have_value("9.00")
    expect(page.locator("#submit")).to_be_focused()
    mia.press("Enter")
    house.wait_for(lambda: open_tasks(house, seeded) == [], "it is settled")
