"""One served house and one Chromium for a run; a context of its own for each person of each test."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.browser.house import Seeded, ServedHouse

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SMALL_WAIT = 20_000
ROOT = Path(__file__).resolve().parents[2]
# What a browser says when a server is away, or refuses with an answer that the page deals with.
EXPECTED = ("Failed to load resource", "WebSocket connection to")


def chromium() -> str | None:
    """Where the browser is."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All on one worker, since they share one house; left out, and said so, where there is no Chromium."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))
            item.add_marker(pytest.mark.browser)
            if chromium() is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium here (Debian: apt-get install chromium)"))


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHouse]:
    """A house that is open for the whole run."""
    if sys.platform != "linux":
        pytest.skip("looks into /proc")
    made = ServedHouse(tmp_path_factory.mktemp("browsed"))
    made.script()
    try:
        made.open()
        yield made
    finally:
        made.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield made
        made.close()


@dataclass
class Visitor:
    """One person's browser. Whatever its console complains about is kept."""

    context: BrowserContext
    page: Page
    seeded: Seeded
    address: str
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Keep complaints, and refuse to talk to anybody else."""
        self.page.on("console", self._keep)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._check_origin)

    def _keep(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _check_origin(self, request: object) -> None:
        url = str(getattr(request, "url", ""))
        if not url.startswith((self.address, "blob:", "data:")):
            self.complaints.append(f"asked somebody else: {url}")

    def url(self, path: str) -> str:
        """The address of a page of the project."""
        return f"{self.address}/projects/{self.seeded.slug}/{path}"

    def open_desk(self) -> Page:
        """Open the desk and wait until a field can be typed into."""
        self.page.goto(self.url("review/"))
        self.page.wait_for_selector("#desk[data-state=task] .viewer[data-shown]")
        return self.page

    def focused_path(self) -> str | None:
        """The field that has the focus, None elsewhere."""
        found: str | None = self.page.evaluate("document.activeElement.closest('[data-path]')?.dataset.path ?? null")
        return found

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(house: ServedHouse, browser: Browser) -> Iterator[Visit]:
    """Let one of the people in: `visit(seeded, "rui")`. At the end no console may have complained."""
    visitors: list[Visitor] = []

    def let_in(seeded: Seeded, who: str = "rui", **options: object) -> Visitor:
        context = browser.new_context(viewport={"width": 1280, "height": 800}, **options)  # type: ignore[arg-type]  # passed on
        context.set_default_timeout(SMALL_WAIT)
        context.add_cookies([{"name": "sessionid", "value": seeded.people[who], "url": house.address}])
        visitor = Visitor(context, context.new_page(), seeded, house.address)
        visitor.listen()
        visitors.append(visitor)
        return visitor

    yield let_in
    complaints = [line for visitor in visitors for line in visitor.complaints if not line.startswith(EXPECTED)]
    for visitor in visitors:
        visitor.context.close()
    assert complaints == []
