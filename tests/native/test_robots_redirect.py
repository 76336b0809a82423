"""A robots file that moved: the next place is asked after the gap of the host, as any other URL is."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from tests.native.doors import Crawl
from tests.policy.rules_site import answer, page, serving

SLOW = 0.4


def test_a_slow_host_is_not_asked_at_once_for_the_next_place(tmp_path: Path) -> None:
    """The answer took `SLOW` seconds, and one response time lies between two visits."""
    site = {
        "/robots.txt": (302, {"Location": "/moved.txt"}, b""),
        "/moved.txt": answer("text/plain", b"User-agent: *\nDisallow: /no\n"),
        "/": page("/no", "/yes"),
        "/yes": page(),
    }
    with serving(site, seconds=SLOW) as web:
        polite = {"delay": "0s", "response_factor": 1, "address_delay": "0s"}
        crawl = Crawl(tmp_path, {}, {}, politeness=polite)
        crawl.run(f"{web.url}/")
        crawl.close()
        asked = list(web.requests)
    assert [one.path for one in asked] == ["/robots.txt", "/moved.txt", "/", "/yes"]
    gaps = [later.began - earlier.ended for earlier, later in pairwise(asked)]
    assert min(gaps) >= SLOW - 0.01, gaps
