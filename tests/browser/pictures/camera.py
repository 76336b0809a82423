"""Takes shots: a page in a state, whole, when it shows what it was asked for."""

from pathlib import Path

from playwright.sync_api import expect
from tests.browser.watching import PAGES, Tab

SHOWN_LATER = 2500
"""Milliseconds: the slowest question of a page comes back every second or two."""


class Camera:
    """Keeps shots as `PAGE--STATE.png`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def shoot(self, tab: Tab, page: str, state: str) -> None:
        """As it stands."""
        tab.page.wait_for_timeout(SHOWN_LATER)
        for name, whole in ((f"{page}--{state}", True), (f"{page}--{state}--screen", False)):
            tab.page.screenshot(
                path=self.directory / f"{name}.png", animations="disabled", full_page=whole
            )

    def visit(self, tab: Tab, page: str, state: str, address: str | None = None) -> None:
        """Goes there first. `address`: behind the `#/`, if it is not the page's name."""
        tab.page.evaluate("(hash) => { location.hash = hash; }", f"#/{address or page}")
        name = PAGES.get(page)
        if name is not None:
            expect(tab.page.locator("h1")).to_have_text(name)
        expect(tab.page.locator(".live-mark")).to_have_attribute("data-state", "live")
        expect(tab.page.get_by_text("Looking…")).to_have_count(0)
        self.shoot(tab, page, state)
