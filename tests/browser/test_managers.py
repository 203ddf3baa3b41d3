"""The manager's pages in a browser: they follow the work, and a threshold says what it does before it is saved."""

import json
import re

import pytest
from playwright.sync_api import Route, WebSocketRoute, expect

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
    ada.page.locator("#all-tasks").check()
    assert ada.page.locator("input[name=task]:checked").count() == 2
    ada.page.locator("#all-tasks").uncheck()
    ada.page.locator("input[name=task]").last.check()
    assert ada.page.locator("#all-tasks").evaluate("box => box.indeterminate")
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


def test_a_page_says_that_somebody_else_changed_it_and_keeps_what_is_typed(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt", 1)
    ada, mia = visit(seeded, "ada"), visit(seeded, "mia")
    ada.page.goto(ada.url("policies/receipt/"), wait_until="networkidle")
    mia.page.goto(mia.url("policies/receipt/"), wait_until="networkidle")
    ada.page.locator("tr[data-path='/total'] input").first.fill("0.91")
    mia.page.get_by_role("button", name="Save as a draft").click()
    expect(ada.page.locator("#changes")).to_contain_text("Somebody changed this meanwhile")
    expect(ada.page.locator("tr[data-path='/total'] input").first).to_have_value("0.91")
    # Who changed it sees it as it is now.
    expect(mia.page.locator(".messages")).to_contain_text("saved as a draft")
    expect(mia.page.locator("#changes")).to_be_hidden()
    mia.page.goto(mia.url("operations/"), wait_until="networkidle")
    ada.page.goto(ada.url("operations/"), wait_until="networkidle")
    mia.page.get_by_role("button", name="Keep the prices").click()
    expect(ada.page.locator("#changes")).to_be_visible()
    ada.page.get_by_role("link", name="Show it anew").click()
    expect(ada.page.locator("#changes")).to_be_hidden()


def test_a_page_says_nothing_of_what_it_shows_already(house: ServedHouse, visit: Visit) -> None:
    """The server may tell of it again: a page was drawn before the relay came to it, or others are still in flight."""
    page = (ada := visit(house.project("receipt", 1), "ada")).page
    sockets: list[WebSocketRoute] = []

    def keep(socket: WebSocketRoute) -> None:
        sockets.append(socket)

    page.route_web_socket(re.compile("/events/"), keep)
    page.route("**/policies/receipt/", with_a_gap)
    page.goto(ada.url("policies/receipt/"))
    expect(page.locator("#live-state")).to_have_attribute("data-state", "live")
    notice = page.locator("#changes")
    after = int(notice.get_attribute("data-after") or 0)
    assert after > 2
    named = {"name": "policy.drafted", "payload": {"document_type": "receipt"}}
    for shown in (after, after - 1, 2):
        sockets[0].send(json.dumps({"id": shown, **named}))
    page.wait_for_timeout(200)
    expect(notice).to_be_hidden()
    sockets[0].send(json.dumps({"id": 1, **named}))
    expect(notice).to_be_visible()


def with_a_gap(route: Route) -> None:
    """Let a page be drawn as if the event 1 were not there yet; SQLite commits in order and shows no gaps."""
    answer = route.fetch()
    assert 'data-gaps="[]"' in answer.text()
    route.fulfill(response=answer, body=answer.text().replace('data-gaps="[]"', 'data-gaps="[[1, 1]]"'))


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
