"""The page beside the fields: boxes, words, pages, the line between the two sides, and what it all costs."""

import gzip
from itertools import takewhile
from typing import Any

from playwright.sync_api import Request, Response, expect

from tests.browser.conftest import Visit
from tests.browser.house import ServedHouse

TOTAL = ".field-input[data-path='/total']"
# Where a share of the page is on the screen.
AT = """([x, y]) => {
  const osd = window.OpenSeadragon.getViewer("viewer"), {width, height} = osd.world.getItemAt(0).getBounds();
  const point = osd.viewport.pixelFromPoint(new OpenSeadragon.Point(x * width, y * height), true);
  const frame = document.getElementById("viewer").getBoundingClientRect();
  return [frame.left + point.x, frame.top + point.y];
}"""

COUNT_FRAMES = """window.nFrames = 0;
window.OpenSeadragon.getViewer("viewer").addHandler("update-viewport", () => { window.nFrames += 1 });"""


def place_of(page: Any, x: float, y: float) -> tuple[float, float]:
    page.wait_for_timeout(400)
    found = page.evaluate(AT, [x, y])
    return found[0], found[1]


def test_opening_a_task_asks_little_of_the_network(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    asked: list[Request] = []
    rui.page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - it marks functions, not methods
    page = rui.open_desk()
    page.wait_for_load_state("networkidle")
    # By when they were asked: a slow picture may come after what was asked behind it.
    before = list(takewhile(lambda request: "/image/" not in request.url, asked))
    answers = [answer for request in asked if (answer := request.response()) is not None]
    sizes = [size_of(answer) for request in before if (answer := request.response()) is not None]
    assert 3 < len(sizes) <= len(before) <= 12, [request.url for request in before]
    assert sum(sizes) <= 350_000
    assert {answer.status for answer in answers} <= {200, 304}


def size_of(answer: Response) -> int:
    return int(answer.headers.get("content-length") or len(gzip.compress(answer.body())))


def test_clicking_a_word_fills_the_field_and_further_clicks_join(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    with rui.page.expect_response("**/words/"):
        page = rui.open_desk()
    page.mouse.click(*place_of(page, 0.79, 0.465))
    expect(page.locator(TOTAL)).to_have_value("10.00")
    page.mouse.click(*place_of(page, 0.79, 0.5))
    expect(page.locator(TOTAL)).to_have_value("10.00 1.00")
    expect(page.locator(TOTAL)).to_be_focused()
    rui.press("Escape", "u")
    expect(page.locator(TOTAL)).to_have_value("9.10")


def test_clicking_the_box_of_another_field_goes_there(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    page.evaluate("window.OpenSeadragon.getViewer('viewer').viewport.goHome(true)")
    page.mouse.click(*place_of(page, 0.3, 0.07))
    assert rui.focused_path() == "/company"


def test_a_field_on_another_page_brings_its_page(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("long"))
    page = rui.open_desk()
    expect(page.locator("#page-number")).to_have_text("3 / 3")
    expect(page.locator(".thumb[aria-current]")).to_contain_text("3")
    assert page.locator(".thumb .thumb-mark svg").count() == 1
    rui.press("Escape", "[")
    expect(page.locator("#page-number")).to_have_text("2 / 3")
    rui.press("]")
    expect(page.locator("#page-number")).to_have_text("3 / 3")


def test_the_split_is_moved_by_keys_and_remembered(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    page.focus("#splitter")
    width = page.locator("#viewer").bounding_box()
    rui.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
    narrower = page.locator("#viewer").bounding_box()
    assert width is not None
    assert narrower is not None
    assert narrower["width"] < width["width"] - 20
    page.reload()
    page.wait_for_selector("#desk[data-state=task]")
    assert page.get_attribute("#splitter", "aria-valuenow") == "52"


def test_a_row_keeps_its_height_whatever_is_decided(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    heights = "[...document.querySelectorAll('.rows .field')].map((row) => row.getBoundingClientRect().height)"
    before = page.evaluate(heights)
    page.keyboard.type("9.00")
    rui.press("Enter")
    expect(page.locator("li[data-path='/total']")).to_have_attribute("data-state", "person")
    assert page.evaluate(heights) == before
    # Nobody's choice has a probability.
    assert "%" not in page.inner_text("li[data-path='/total']")
    assert page.inner_text("li[data-path='/total'] del") == "1"


def test_two_thousand_words_stay_smooth(house: ServedHouse, visit: Visit) -> None:
    """One canvas is drawn anew; what counts is the share of a frame that the drawing takes, in the page's own time."""
    seeded = house.project("dense")
    rui = visit(seeded)
    with rui.page.expect_response("**/words/"):
        page = rui.open_desk()
    page.click("[data-act=pick]")
    assert page.evaluate("document.querySelectorAll('#viewer *').length") < 60
    page.click("[data-act=zoom-fit]")
    x, y = place_of(page, 0.5, 0.5)
    page.mouse.move(x, y)
    page.evaluate(COUNT_FRAMES)
    for _ in range(5):
        page.mouse.wheel(0, -120)
    for step in range(40):
        page.mouse.move(x + step, y + step)
    page.wait_for_timeout(1000)
    assert page.evaluate("window.nFrames") >= 5
    # A click still finds the one word under it.
    page.mouse.click(*place_of(page, (20 + 10 * 43 + 12) / 900, (20 + 25 * 27 + 8) / 1400))
    expect(page.locator(TOTAL)).to_have_value("25.10")


def test_crops_show_the_part_of_the_page(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    darkest = page.evaluate(
        """() => {
          const canvas = document.querySelector("li[data-path='/total'] canvas");
          const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.reduce((least, value, at) => (at % 4 === 0 ? Math.min(least, value) : least), 255);
        }"""
    )
    assert darkest < 80


def test_a_marked_area_is_read_again_and_offered(house: ServedHouse, visit: Visit) -> None:
    rui = visit(house.project("receipt"))
    page = rui.open_desk()
    page.click("[data-act=zoom-fit]")
    left, top = place_of(page, 0.75, 0.39)
    right, bottom = place_of(page, 0.9, 0.43)
    page.keyboard.down("Shift")
    page.mouse.move(left, top)
    page.mouse.down()
    page.mouse.move(right, bottom, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.locator(".region-offer")).to_contain_text("9.00", timeout=20_000)
    page.get_by_role("button", name="Take it").click()
    expect(page.locator(TOTAL)).to_have_value("9.00")
    expect(page.locator(TOTAL)).to_be_focused()


def test_the_time_at_work_is_kept(house: ServedHouse, visit: Visit) -> None:
    seeded = house.project("receipt")
    rui = visit(seeded)
    page = rui.open_desk()
    page.keyboard.type("9.00")
    page.wait_for_timeout(2500)
    rui.press("Enter", "Enter")
    query = "SELECT field_path, seconds FROM review_timespent WHERE task_id = ?"
    house.wait_for(lambda: house.rows(query, seeded.tasks[0]), "the time is reported")
    seconds = dict(house.rows(query, seeded.tasks[0]))
    assert seconds[""] >= seconds["/total"] >= 1
