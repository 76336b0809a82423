"""Hosts that nobody answers for, on a page of a real server: each of their URLs ends with an outcome.

Only the first wait between tries is shorter than usual; how long the robots rules of a host that
answers may stay away (`politeness.robots_patience`, two days) is left as it is.
"""

import socket
from collections import defaultdict
from pathlib import Path

from tests.crawl.pages import crawled, serving


def test_links_to_nowhere_end_with_an_outcome(tmp_path: Path) -> None:
    with socket.socket() as closed, serving({"/": ""}) as plain:
        closed.bind(("127.0.0.1", 0))
        nowhere = {
            "http://xn--a/": "dns_not_found",
            "http://no-such-name.example/": "dns_not_found",
            f"http://127.0.0.2:{closed.getsockname()[1]}/": "connect_failed",
            f"https://127.0.0.1:{plain.port}/": "tls_failed",
            "http://127.0.0.1:25/": "url_refused",
        }
        links = "".join(f'<a href="{url}">x</a>' for url in nowhere)
        # A second URL of the same host waits for the same rules.
        links += '<a href="http://no-such-name.example/second">x</a>'
        config = tmp_path / "config.toml"
        config.write_text('[dns.answers]\n"xn--a" = []\n"no-such-name.example" = []\n')
        with serving({"/": links}) as pages:
            seed = f"http://127.0.0.1:{pages.port}/"
            options = ("--config", str(config), "--set", "politeness.retry_wait=200ms")
            log = crawled(seed, tmp_path / "out", *options)
    outcomes = defaultdict(list)
    for line in log:
        outcomes[line["url"]].append(line["outcome"])
    for url, outcome in nowhere.items():
        assert outcomes[url] == [outcome], url
    assert outcomes["http://no-such-name.example/second"] == ["dns_not_found"]
    assert outcomes["http://no-such-name.example/robots.txt"] == ["dns_not_found"] * 2
    assert outcomes["http://127.0.0.1:25/robots.txt"] == ["url_refused"]


def test_a_name_that_only_claims_to_be_punycode_is_visited(tmp_path: Path) -> None:
    with serving({"/": '<a href="/b">b</a>', "/b": "b"}) as pages:
        config = tmp_path / "config.toml"
        config.write_text('[dns.answers]\n"xn--a" = ["127.0.0.1"]\n')
        log = crawled(f"http://xn--a:{pages.port}/", tmp_path / "out", "--config", str(config))
    fetched = [line["url"] for line in log if line["outcome"] == "fetched"]
    assert fetched == [f"http://xn--a:{pages.port}/", f"http://xn--a:{pages.port}/b"]
    assert pages.asked == ["/robots.txt", "/", "/b"]
