"""What opening a task costs, and how long a reviewer waits from one document to the next.

    .venv/bin/python -m tests.browser.measure [--tasks 12]

A served house with drawn receipts; times are those of the browser's own clock, on the machine as it is.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, chromium
from tests.browser.house import ServedHouse

WATCH = """
window.waits = [];
let since = null;
addEventListener("keydown", (event) => {
  if (event.key === "Enter" && document.activeElement.id === "submit") since = performance.now();
}, true);
addEventListener("focusin", (event) => {
  if (since === null || !event.target.matches(".field-input")) return;
  window.waits.push(performance.now() - since);
  since = null;
}, true);
"""
RESOURCES = """() => {
  const all = [performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource")];
  const image = all.find((one) => one.name.includes("/image/"));
  const before = all.filter((one) => one.startTime < image.startTime);
  const sum = (some) => some.reduce((bytes, one) => bytes + one.transferSize, 0);
  return {n: before.length, bytes: sum(before), n_in_all: all.length, bytes_in_all: sum(all)};
}"""


def measure(page: Page, address: str, n_tasks: int) -> dict[str, Any]:
    """Open the desk, submit all tasks but the last, and return the figures."""
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_selector("#desk[data-state=task] .viewer[data-shown]")
    page.wait_for_timeout(500)
    cost = page.evaluate(RESOURCES)
    for number in range(1, n_tasks):
        page.wait_for_timeout(700)
        page.keyboard.type("9.00")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        # Looked at from outside: the page's policy lets nobody compile a condition in it.
        while page.evaluate("window.waits.length") < number:
            page.wait_for_timeout(50)
    waits = page.evaluate("window.waits")
    return {**cost, "submit_to_next_ms": {"median": statistics.median(waits), "most": max(waits), "n": len(waits)}}


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=12)
    n_tasks = parser.parse_args().tasks
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        house = ServedHouse(Path(folder))
        house.script()
        try:
            house.open()
            seeded = house.project("receipt", n_tasks)
            browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.add_cookies([{"name": "sessionid", "value": seeded.people["rui"], "url": house.address}])
            figures = measure(context.new_page(), f"{house.address}/projects/{seeded.slug}/review/", n_tasks)
            print(json.dumps(figures))  # noqa: T201
        finally:
            house.close()


if __name__ == "__main__":
    main()
