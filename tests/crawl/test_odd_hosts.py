"""Hosts that no two parsers read alike: each is refused as a URL, or ends with one outcome, the same each time."""

import socket
from collections import defaultdict
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from tests.crawl.pages import crawled, serving
from tests.native.test_fetch_dns import NameServer

from gossamer._native import canonical_urls

LONG = "a" * 63
HOSTS = [
    "xn--a", "xn--", "xn--a.xn--b", "XN--A.example", "xn--zz-.test", "xn--\u00fc.test", "www.xn--0.de",
    "a..b", ".a", "a.", "a..", "-x-", "-", "--", "_", "_dmarc.x", "x_y.test", "a-.b-", "~a", "a b", "a%20b", "a%00b",
    "a%2Fb", "%zz", "*", "*.test", "a,b", "a;b", "a'b", "a|b", "a^b", "a<b>", "[", "[]", "[::1", "[::1%25eth0]",
    "[::ffff:127.0.0.1]", "[1::2::3]", "[v1.x]", "::1", "0x7f.1", "0", "127.1", "017700000001", "1.2.3.4.5", "256.0.0.1",
    "0x", "1.0x", "4294967295", "4294967296", "a.1", "a.0x1", f"{LONG}.test", f"{LONG}a.test",
    ".".join([LONG] * 3 + ["a" * 61]), ".".join([LONG] * 4), "a." * 126 + "a", "a." * 127 + "a",
    "\u00fc.test", "\u00df.test", "\u2460.test", "\uff11\uff12\uff17.1", "\u200b.test", "a\u00adb.test", "\u202ea.test",
    "\u0627a.test", "\U0001f4a9.test", "a\u3002b", "\ufdfa.test", "user@", "user@b@c.test", "a:b@c.test", "a:", "a:0", 'a"b', "a{b}", "a`b",
    "a:1", "a:65536", "a:-1", "a:80a", "localhost.", "localhost:1", "local host",
]  # fmt: skip


HERE = {"127.0.0.1", "[::ffff:7f00:1]", "0.0.0.0", "localhost"}
ELSEWHERE = {"1.0.0.0", "255.255.255.255"}


def expected(url: str) -> set[str]:
    """Names are asked of a server that knows none."""
    parts = urlsplit(url)
    host = parts.netloc.removesuffix(f":{parts.port}")
    if parts.port in {0, 1}:
        return {"url_refused"}
    if host in HERE:
        return {"connect_failed"}
    # The network of this machine says which.
    return {"connect_failed", "timed_out"} if host in ELSEWHERE else {"dns_not_found"}


def test_every_odd_host_has_an_end(tmp_path: Path) -> None:
    with NameServer({}) as names, socket.socket() as closed:
        # A port of our own: what others serve on this machine is left alone.
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        hosts = [host if ":" in host.rpartition("]")[2] else f"{host}:{port}" for host in HOSTS]
        links = [f"{scheme}://{host}/" for host in hosts for scheme in ("http", "https")]
        page = "<meta charset=utf-8>" + "".join(f'<a href="{escape(link)}">x</a>' for link in links)
        config = tmp_path / "config.toml"
        config.write_text(
            f'dns.servers = ["{names.address}"]\npoliteness.retry_wait = "50ms"\n'
            'fetch.connect_timeout = "500ms"\n'
        )
        with serving({"/": page}) as pages:
            seed = f"http://127.0.0.1:{pages.port}/"
            log = crawled(seed, tmp_path / "out", "--config", str(config))
    made = canonical_urls(links, seed)
    urls = {url for url, _ in made if url}
    refused = {link for link, (url, _) in zip(links, made, strict=True) if not url}
    assert len(urls) >= 60
    assert len(refused) >= 60
    outcomes = defaultdict(list)
    for line in log:
        if not line["url"].endswith("/robots.txt"):
            outcomes[line["url"]].append(line["outcome"])
    assert outcomes.pop(seed) == ["fetched"]
    assert {url: ends for url, ends in outcomes.items() if len(ends) != 1} == {}
    assert set(outcomes) == urls
    wrong = {url: ends[0] for url, ends in outcomes.items() if ends[0] not in expected(url)}
    assert wrong == {}
    assert outcomes[f"http://xn--a:{port}/"] == ["dns_not_found"]
