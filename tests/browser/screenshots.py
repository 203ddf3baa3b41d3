"""`make screenshots`: every page in light and dark, English and Chinese, at 1,280 and 1,920 pixels.

They go to build/screenshots/. The receipts are those of samples/, read by the real engine.
"""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, ROOT, chromium
from tests.browser.house import ServedHouse

TARGET = ROOT / "build" / "screenshots"
THEMES = ("light", "dark")
LANGUAGES = {"en": "en-GB", "zh": "zh-CN"}
SIZES = {1280: 800, 1920: 1080}
PAGES = {
    "queue": "queue/",
    "documents": "documents/",
    "accuracy": "accuracy/",
    "field": "accuracy/field/",
    "errors": "accuracy/errors/",
    "policies": "policies/receipt/",
    "targets": "targets/receipt/",
    "learning": "learning/",
    "rollouts": "types/receipt/rollouts/",
    "operations": "operations/",
    "reviewers": "reviewers/",
    "exports": "exports/",
    "datasets": "data-sets/",
    "tokens": "tokens/",
}
PATIENCE_SECONDS = 900.0
N_REVIEWED = 5
PASSWORD = "a long enough password"


@contextmanager
def demo_house() -> Iterator[ServedHouse]:
    """A house with the demo's receipts, read by the real engine."""
    with tempfile.TemporaryDirectory() as folder:
        house = ServedHouse(
            Path(folder), patience_seconds=PATIENCE_SECONDS, settings={"STET_ENGINE": "rapidocr", "STET_WORKERS": "2"}
        )
        try:
            house.open()
            seeded = house.run("seed_demo")
            assert seeded.returncode == 0, seeded.stderr
            house.wait_until_finished(int(house.rows("SELECT count(*) FROM review_document")[0][0]))
            subprocess.run(
                [sys.executable, "-m", "tests.browser.demo_password", PASSWORD],
                cwd=ROOT,
                env=house.environment(),
                check=True,
            )
            yield house
        finally:
            house.close()


def sign_in(context: BrowserContext, house: ServedHouse, name: str) -> Page:
    """Sign the demo user in."""
    page = context.new_page()
    page.goto(house.address + "/sign-in/")
    page.screenshot(path=TARGET / f"sign-in-{name}.png")
    page.fill("input[name=username]", "demo")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url("**/projects/**")
    return page


def desk(page: Page, house: ServedHouse, name: str) -> None:
    """The desk with a task, and the list of keys over it."""
    page.goto(house.address + "/projects/demo/review/")
    page.wait_for_selector("#desk[data-state=task] .viewer[data-shown]")
    page.wait_for_timeout(900)
    page.screenshot(path=TARGET / f"desk-{name}.png")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.screenshot(path=TARGET / f"desk-keys-{name}.png")
    page.keyboard.press("Escape")


def review_some(page: Page, house: ServedHouse) -> None:
    """Finish some tasks, one of them with a correction: what the manager's pages show is made of this."""
    for number in range(N_REVIEWED):
        page.goto(house.address + "/projects/demo/review/")
        page.wait_for_selector("#desk[data-state=task] .viewer[data-shown]")
        name = page.inner_text("#desk-title")
        if number % 3 == 0:
            page.keyboard.type("12.34")
            page.keyboard.press("Enter")
        page.keyboard.press("Control+Enter")
        house.wait_for(lambda done=name: page.inner_text("#desk-title") != done, "the next task comes")  # type: ignore[misc]
    left = "SELECT count(*) FROM review_fieldreview WHERE NOT is_rolled_up"
    house.wait_for(lambda: house.rows(left) == [(0,)], "what was checked is counted within a minute")


def document(page: Page, house: ServedHouse, name: str) -> None:
    """The page of the first document."""
    page.goto(house.address + "/projects/demo/documents/")
    page.locator("a[href*='/documents/']").filter(has_text=".jpg").first.click()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=TARGET / f"document-{name}.png")


def main() -> None:
    """Take them all."""
    if chromium() is None:
        sys.exit("No Chromium here (Debian: apt-get install chromium).")
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    only = os.environ.get("ONLY", "")
    with demo_house() as house, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        first = browser.new_context(locale="en-GB")
        review_some(sign_in(first, house, "first"), house)
        first.close()
        for theme, language, width in itertools.product(THEMES, LANGUAGES, SIZES):
            name = f"{theme}-{language}-{width}"
            if only and only not in name:
                continue
            context = browser.new_context(
                viewport={"width": width, "height": SIZES[width]},
                locale=LANGUAGES[language],
                color_scheme=theme,  # type: ignore[arg-type]  # one of two words
                reduced_motion="reduce",
            )
            page = sign_in(context, house, name)
            for page_name, path in PAGES.items():
                page.goto(house.address + "/projects/demo/" + path, wait_until="networkidle")
                page.screenshot(path=TARGET / f"{page_name}-{name}.png")
            document(page, house, name)
            desk(page, house, name)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
