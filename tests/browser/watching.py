"""A tab that is watched: errors, refused content, dialogs."""

from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page, expect

PAGES = {
    "overview": "Overview",
    "nodes": "Nodes",
    "partitions": "Partitions",
    "hosts": "Hosts",
    "url": "URL",
    "log": "Fetch log",
    "settings": "Settings",
    "seeds": "Seeds",
    "runs": "Runs",
    "events": "Events",
}
_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


class Tab:
    """A page of the dashboard in a browser."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.expected: list[str] = []
        page.add_init_script(_VIOLATIONS)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", self._dialog)

    def _console(self, message: ConsoleMessage) -> None:
        # That a server is not there is the test's doing; the page has a mark for it.
        if message.type not in {"error", "warning"} or "net::ERR_" in message.text:
            return
        if not any(text in message.text for text in self.expected):
            self.complaints.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        # The dashboard asks with elements of its own: any of these is injected code.
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def expect_console(self, *texts: str) -> None:
        """Messages of the browser that belong to the test."""
        self.expected.extend(texts)

    def sign_in(self, url: str, token: str, page: str = "overview") -> None:
        self.page.goto(f"{url}/#token={token}")
        expect(self.page.locator(".live-mark")).to_have_attribute("data-state", "live")
        if page != "overview":
            self.go(page)

    def go(self, page: str, heading: str | None = None) -> None:
        """To a page of the dashboard, by its address."""
        self.page.evaluate("(hash) => { location.hash = hash; }", f"#/{page}")
        name = page.partition("?")[0]
        expect(self.page.locator("h1")).to_have_text(heading or PAGES.get(name, name))

    def choose_range(self, name: str) -> None:
        """The time that plots show. Waits until the button stays where it is: the page moves it while it fills."""
        self.page.get_by_label(name).check()

    def has_injected(self) -> list[str]:
        """Elements that no file of ours makes."""
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll("img, iframe, object, embed, script, style")]
                .filter((one) => !(one.matches("head > script[src='/static/main.js']")))
                .map((one) => one.outerHTML.slice(0, 200))"""
        )
        return found

    def sideways(self) -> int:
        """By how many pixels the page is wider than the screen."""
        wide: int = self.page.evaluate(
            """() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)
                - document.documentElement.clientWidth"""
        )
        return wide

    def beyond(self) -> list[str]:
        """What sticks out of the screen to the right, where nothing scrolls it into view."""
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll("body *")]
                .filter((one) => !one.closest(".unseen, .skip, [hidden], dialog, thead, svg"))
                .filter((one) => one.getBoundingClientRect().width > 0)
                .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
                .map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 60)}`)"""
        )
        return found

    def focused(self) -> Locator:
        return self.page.locator(":focus")
