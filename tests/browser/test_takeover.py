"""A dashboard on a real cluster whose leading control node is killed."""

import socket
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Opener
from tests.cluster.clustering import Cluster
from tests.crawl.crawling import until

from gossamer.control.tokens import read_token
from gossamer.simweb import Options, serve

pytestmark = pytest.mark.timeout(180)
WEB = Options(hosts=40, pages=8000, host_skew=0.0, duplicates=0.0, port=0)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_it_goes_on_at_the_other_control_node(open_tab: Opener, tmp_path: Path) -> None:
    port, tokens = free_port(), tmp_path / "tokens"
    tokens.mkdir(mode=0o700)
    options = ["--set", f"control.port={port}", "--set", f"control.tokens={tokens}"]
    with serve(WEB) as web:
        cluster = Cluster(web, tmp_path / "cluster", *options, delay="200ms")
        try:
            cluster.start()
            cluster.until_requests(100)
            until(lambda: "dashboard and API" in cluster.said(), "the API")
            tab = open_tab()
            tab.sign_in(f"http://127.0.0.1:{port}", read_token(tokens / "token"))
            tab.go("nodes")
            page = tab.page
            expect(page.locator("main")).to_contain_text("n3")
            first, second = cluster.control, cluster.start_control(name="second")
            assert first is not None
            until(lambda: "standing by" in second.said(), "a second control node")
            first.kill()
            mark = page.locator(".live-mark")
            expect(mark).to_have_text("reconnecting…")
            expect(mark).to_have_text("live", timeout=40_000)
            until(lambda: "second leads" in second.said(), "the second leads")
            page.reload()
            expect(mark).to_have_attribute("data-state", "live")
            for name in ("n1", "n2", "n3"):
                expect(page.locator("main")).to_contain_text(name)
        finally:
            cluster.end()
