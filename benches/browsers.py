"""Ten people who watch: pages of a real headless Chromium, signed in and showing the dashboard.

Takes the address and the token of a control API; gives pages that are live from `sign_in` to
`leave`, and how many questions they asked. Each page has a context of its own (its own session, cache and
connections), as ten people would. People watch from other machines, so Chromium must not take the
crawl's time: it runs at idle priority, on the processors that are given.
"""

import contextlib
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

try:
    from playwright.sync_api import Browser, Page, expect, sync_playwright
except ImportError as error:  # pragma: no cover
    raise SystemExit(
        "benches: ten browsers watch the crawl, driven by the package `playwright`, which is "
        "missing: run `make bench`, or pip install -r requirements.lock"
    ) from error

SHOWN = ["Overview", "Hosts", "Nodes", "Partitions", "Overview"] * 2
"""The page that each of the ten looks at."""
PATIENCE_MS = 60_000

_IDLE = """\
#!{python} -E
import os, sys
os.sched_setaffinity(0, {processors})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
try:
    # A session of its own is a group of its own to the scheduler, which weighs groups first.
    with open("/proc/self/autogroup", "w") as file:
        file.write("10")
except OSError:
    pass
os.execv({chromium!r}, [{chromium!r}, *sys.argv[1:]])
"""


class Browsers:
    """A Chromium, and who looks through it."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._pages: list[Page] = []

    def sign_in(self, url: str, token: str) -> None:
        """All ten, until they are live."""
        for name in SHOWN:
            self._pages.append(self._open(url, token, name))
        self._expect_live()

    def leave(self) -> None:
        """Those who were live until now close their pages."""
        self._expect_live()
        while self._pages:
            self._pages.pop().context.close()

    def asked(self) -> int:
        """How many questions were answered up to now, in all pages; streams are not among them."""
        return sum(
            int(page.evaluate("performance.getEntriesByType('resource').length"))
            for page in self._pages
        )

    def _open(self, url: str, token: str, name: str) -> Page:
        context = self._browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(url)
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(page.locator("h1")).to_have_text(name, timeout=PATIENCE_MS)
        return page

    def _expect_live(self) -> None:
        for page in self._pages:
            mark = page.locator(".live-mark")
            expect(mark).to_have_attribute("data-state", "live", timeout=PATIENCE_MS)


@contextlib.contextmanager
def chromium(processors: set[int]) -> Iterator[Browsers]:
    """A Chromium at idle priority on these processors."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise SystemExit(
            "benches: ten browsers watch the crawl, and there is no Chromium here: "
            "install the package `chromium`"
        )
    with tempfile.TemporaryDirectory() as directory:
        idle = Path(directory) / "chromium"
        idle.write_text(
            _IDLE.format(python=sys.executable, chromium=found, processors=sorted(processors))
        )
        idle.chmod(idle.stat().st_mode | stat.S_IXUSR)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=idle, args=["--no-sandbox"])
            try:
                yield Browsers(browser)
            finally:
                browser.close()
