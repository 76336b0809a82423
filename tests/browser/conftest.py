"""A real Chromium, and pages in it that note everything a user or a browser would complain of."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.blocking import unwatched
from tests.browser.serving import ImaginedServer, imagined
from tests.browser.watching import Tab

# Patience for machines with much to do; a page that is right is shown at once.
PATIENCE = 45_000
expect.set_options(timeout=PATIENCE)

Opener = Callable[..., Tab]


# Of the package, not of the session: its event loop must be gone when asynchronous tests run.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium on this machine: install the package `chromium`")
    # Playwright's own loop counts as running while a synchronous test does its work.
    with unwatched(), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"], timeout=90_000
        )
        yield browser
        browser.close()


@pytest.fixture
def open_tab(chromium: Browser) -> Iterator[Opener]:
    """Opens a tab of its own; at the end nothing may have been complained of."""
    tabs: list[Tab] = []

    def opener(*, width: int = 1280, height: int = 900, dark: bool = False) -> Tab:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(PATIENCE)
        tab = Tab(context.new_page())
        tabs.append(tab)
        return tab

    yield opener
    for tab in tabs:
        tab.page.context.close()
    for tab in tabs:
        assert tab.complaints == []


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ImaginedServer]:
    """An imagined cluster of four nodes, served."""
    with imagined(tmp_path / "control") as server:
        server.start()
        yield server
