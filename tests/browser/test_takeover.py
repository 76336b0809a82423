"""A dashboard on a real cluster whose leading control node is killed."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Opener
from tests.browser.serving import reserved_port
from tests.cluster.clustering import Cluster
from tests.crawl.crawling import until

from gossamer.control.tokens import read_token
from gossamer.simweb import Options, serve

pytestmark = pytest.mark.timeout(180)
# Work for minutes: the crawl does not end before the test does.
WEB = Options(hosts=40, pages=40_000, host_skew=0.0, duplicates=0.0, port=0)

KEEP_TEXTS = """(mark) => {
    window.texts = [];
    const keep = () => window.texts.push(mark.textContent);
    new MutationObserver(keep).observe(mark, { childList: true, characterData: true, subtree: true });
}"""


def test_it_goes_on_at_the_other_control_node(open_tab: Opener, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.mkdir(mode=0o700)
    with reserved_port() as port, serve(WEB) as web:
        options = ["--set", f"control.port={port}", "--set", f"control.tokens={tokens}"]
        cluster = Cluster(web, tmp_path / "cluster", *options, delay="200ms")
        try:
            cluster.start()
            cluster.until_requests(100)
            until(lambda: "dashboard and API" in cluster.said(), "the API", 60)
            tab = open_tab()
            tab.sign_in(f"http://127.0.0.1:{port}", read_token(tokens / "token"))
            tab.go("nodes")
            page = tab.page
            expect(page.locator("main")).to_contain_text("n3")
            first, second = cluster.control, cluster.start_control(name="second")
            assert first is not None
            until(lambda: "standing by" in second.said(), "a second control node", 60)
            mark = page.locator(".live-mark")
            mark.evaluate(KEEP_TEXTS)
            first.kill()
            # It may be over before anybody looks: what the mark said is kept.
            until(lambda: "reconnecting…" in page.evaluate("window.texts"), "the line is lost", 60)
            expect(mark).to_have_text("live", timeout=60_000)
            until(lambda: "second leader: leads" in second.said(), "the second leads", 60)
            page.reload()
            expect(mark).to_have_attribute("data-state", "live")
            for name in ("n1", "n2", "n3"):
                expect(page.locator("main")).to_contain_text(name)
        finally:
            cluster.end()
