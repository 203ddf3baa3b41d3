"""Whatever happens to the tab, the server or the lease: what was typed is there."""

from playwright.sync_api import Route, expect

from tests.browser.conftest import Visit
from tests.browser.house import ServedHouse

TOTAL = ".field-input[data-path='/total']"
COMPANY = ".field-input[data-path='/company']"


def test_a_field_is_saved_when_it_is_left(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    page.keyboard.type("9.00")
    page.focus(COMPANY)
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "the total is saved")
    assert house.edits(seeded.tasks[0]) == [("/total", 1, "corrected", "9.00")]


def test_a_field_is_saved_while_somebody_still_types(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    page = visit(seeded).open_desk()
    page.focus(COMPANY)
    page.keyboard.press("End")
    page.keyboard.type("!")
    expect(page.locator("#desk-saved")).to_have_attribute("data-state", "unsaved")
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "the company is saved without being left")
    assert house.edits(seeded.tasks[0])[0][3] == "BOOK TA K (TAMAN DAYA) SDN BHD!"
    expect(page.locator(COMPANY)).to_be_focused()
    expect(page.locator("#desk-saved")).to_have_attribute("data-state", "saved")


def test_a_tab_that_is_killed_leaves_a_draft_that_comes_back(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    # Nothing reaches the server from here on, as when the machine loses its network.
    page.route("**/fields/", lambda route: route.abort())
    page.keyboard.type("9.0")
    page.close(run_before_unload=False)
    assert house.edits(seeded.tasks[0]) == []
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    rui.context.route("**/fields/", hold)
    rui.page = rui.context.new_page()
    rui.listen()
    again = rui.open_desk()
    # Looked at before the server has it: once it does, the text may take the server's form of an amount.
    assert again.input_value(TOTAL) == "9.0"
    expect(again.locator(".notice-line")).to_contain_text("Total")
    held[0].continue_()
    rui.context.unroute("**/fields/")
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "what came back is saved")
    assert house.edits(seeded.tasks[0])[0][3] == "9.00"


def test_a_server_that_is_killed_loses_nothing(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    page = visit(seeded).open_desk()
    house.kill_web()
    try:
        page.keyboard.type("9.00")
        page.keyboard.press("Enter")
        expect(page.locator(".notice-line")).to_contain_text("No connection")
        expect(page.locator("#desk-saved")).to_have_attribute("data-state", "unsaved")
    finally:
        house.revive_web()
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "it is saved as soon as the server is back")
    expect(page.locator("#desk-saved")).to_have_attribute("data-state", "saved")
    page.locator("#submit").focus()
    page.keyboard.press("Enter")
    house.wait_for(lambda: house.state(seeded.tasks[0]) == "done", "the task is submitted")
    assert house.verdicts(seeded.tasks[0]) == {"/total": ("corrected", "9.00")}


def test_a_submit_without_a_server_is_sent_when_it_is_back(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    page = visit(seeded).open_desk()
    house.kill_web()
    try:
        page.keyboard.type("9.00")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        expect(page.locator(".notice-line")).to_contain_text("submitted by itself")
        expect(page.locator("#desk-saved")).to_have_text("not submitted yet")
        # It may have arrived: what one typed now might be lost.
        expect(page.locator(TOTAL)).not_to_be_editable()
    finally:
        house.revive_web()
    house.wait_for(lambda: house.state(seeded.tasks[0]) == "done", "it is submitted without a further key")
    assert house.verdicts(seeded.tasks[0]) == {"/total": ("corrected", "9.00")}
    expect(page.locator("#desk")).to_have_attribute("data-state", "empty")


def test_a_submit_whose_answer_is_lost_counts_once(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    n_sent = 0

    def lose(route: Route) -> None:
        nonlocal n_sent
        n_sent += 1
        if n_sent > 1:
            route.continue_()
            return
        route.fetch()
        route.abort()

    page.route("**/submit/", lose)
    page.keyboard.type("9.00")
    rui.press("Enter", "Enter")
    expect(page.locator("#desk")).to_have_attribute("data-state", "empty")
    assert n_sent == 2
    revisions = "SELECT revision FROM review_record WHERE document_id = ?"
    assert house.rows(revisions, seeded.documents[0]) == [(1,)]


def test_who_does_not_want_to_wait_for_the_submit_goes_on_working(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    page.route("**/submit/", lambda route: route.abort())
    page.keyboard.type("9.00")
    rui.press("Enter", "Enter")
    page.get_by_role("button", name="Go on working on it").click()
    page.fill(TOTAL, "9.05")
    page.unroute("**/submit/")
    rui.press("Enter", "Enter")
    house.wait_for(lambda: house.state(seeded.tasks[0]) == "done", "the task is submitted")
    assert house.verdicts(seeded.tasks[0]) == {"/total": ("corrected", "9.05")}


def test_two_reviewers_never_hold_the_same_task(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt", 4)
    rui, ana = visit(seeded), visit(seeded, "ana")
    rui.page.goto(rui.url("review/"), wait_until="commit")
    ana.page.goto(ana.url("review/"), wait_until="commit")
    for one in (rui, ana):
        one.page.wait_for_selector("#desk[data-state=task]")
    first, second = (one.page.inner_text("#desk-title") for one in (rui, ana))
    assert first != second
    holders = house.rows(
        "SELECT id, lease_holder_id FROM review_reviewtask WHERE lease_holder_id IS NOT NULL AND project_id ="
        " (SELECT id FROM review_project WHERE slug = ?)",
        seeded.slug,
    )
    assert len({task for task, _holder in holders}) == len(holders)


def test_a_task_taken_over_shows_what_was_typed(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui, mia = visit(seeded), visit(seeded, "mia")
    page = rui.open_desk()
    page.route("**/heartbeat/", lambda route: route.abort())
    mia.page.goto(mia.url("documents/"))
    released = mia.page.evaluate(
        """async (path) => (await fetch(path, {method: "POST", body: "{}", headers: {
            "Content-Type": "application/json",
            "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value}})).status""",
        f"/api/v1/projects/{seeded.slug}/review-tasks/{seeded.tasks[0]}/release/",
    )
    assert released == 204
    page.keyboard.type("9.00")
    page.focus(COMPANY)
    expect(page.locator(".lost")).to_contain_text("9.00")
    expect(page.locator(TOTAL)).not_to_be_editable()
    page.unroute("**/heartbeat/")
    page.get_by_role("button", name="Take it again").click()
    page.wait_for_selector("#desk[data-state=task] .viewer[data-shown]")
    assert page.input_value(TOTAL) == "9.00"
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "it is saved now")


def test_two_tabs_of_one_person_show_both_values(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    other = rui.context.new_page()
    other.goto(rui.url("review/"))
    other.wait_for_selector("#desk[data-state=task] .viewer[data-shown]")
    other.keyboard.type("9.00")
    other.keyboard.press("Enter")
    house.wait_for(lambda: house.edits(seeded.tasks[0]), "the other tab has saved")
    page.bring_to_front()
    page.fill(TOTAL, "9.05")
    page.focus(COMPANY)
    expect(page.locator(".field-conflict")).to_be_visible()
    page.get_by_role("button", name="mine: 9.05").click()
    house.wait_for(lambda: len(house.edits(seeded.tasks[0])) == 2, "mine is a further version")
    assert [edit[1:] for edit in house.edits(seeded.tasks[0])] == [(1, "corrected", "9.00"), (2, "corrected", "9.05")]


def test_a_value_that_is_none_comes_back_with_the_reason(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    page.keyboard.type("nine")
    rui.press("Enter", "Enter")
    expect(page.locator(TOTAL)).to_have_attribute("aria-invalid", "true")
    expect(page.locator("li[data-path='/total'] .field-why")).to_contain_text("not an amount")
    assert page.input_value(TOTAL) == "nine"
    assert house.state(seeded.tasks[0]) == "open"
