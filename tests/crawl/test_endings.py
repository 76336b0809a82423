"""A seed that is not there: the crawl ends in stated time, exits with 1, and says what can be done."""

import json
import socket
import time
from pathlib import Path

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.pages import Answer, moved, serving
from tests.native.hostile_server import HostileServer, send, then_silence
from tests.native.test_fetch_dns import NXDOMAIN, NameServer
from tests.native.test_fetch_tls import authority, context

from gossamer.policy.hosts.outcomes import REACTIONS
from gossamer.words import with_directory

SOON = ("--set", "politeness.retry_wait=500ms")
"""All waits at 1/120; those of robots files are whole seconds."""


def ends(url: str, out: Path, outcome: str, *options: str) -> dict[str, int]:
    """Crawls; the end must be a failure that names the outcome and its remedy. Gives the outcomes."""
    done = gossamer("crawl", url, "--out", out, "--json", *options)
    assert done.returncode == 1, done.stderr
    told = " ".join(done.stderr.split())
    remedy = with_directory(REACTIONS[outcome].remedy, out)
    assert f"No page could be had. {outcome}: {remedy}" in told
    answer = json.loads(done.stdout.splitlines()[-1])
    assert (answer["pages"], answer["urls_queued"]) == (0, 0)
    return dict(answer["outcomes"])


def test_a_name_that_does_not_exist(tmp_path: Path) -> None:
    with NameServer({}) as names:
        began = time.monotonic()
        outcomes = ends(
            "http://mistyped.test/", tmp_path / "out", "dns_not_found",
            "--set", f'dns.servers=["{names.address}"]',
        )  # fmt: skip
        took = time.monotonic() - began
    # Two visits to its robots file, each of which asked the name server, and the seed itself.
    assert outcomes == {"dns_not_found": 3}
    assert names.asked == ["mistyped.test"] * 2
    assert 5 <= took < 60
    assert NXDOMAIN == 3


def test_a_closed_port(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        outcomes = ends(url, tmp_path / "out", "connect_failed", "--allow-private", *SOON)
    assert outcomes == {"connect_failed": 4}


def test_an_address_that_is_not_visited(tmp_path: Path) -> None:
    with serving({"/": "page"}) as pages:
        url = f"http://127.0.0.1:{pages.port}/"
        assert ends(url, tmp_path / "out", "forbidden_address") == {"forbidden_address": 2}
    assert pages.asked == []


def test_a_certificate_that_nobody_vouches_for(tmp_path: Path) -> None:
    tls = context(tmp_path, authority("nobody"))
    with HostileServer(default=send(b""), tls=tls) as server:
        url = server.url(scheme="https")
        outcomes = ends(url, tmp_path / "out", "tls_failed", "--allow-private", *SOON)
    assert outcomes == {"tls_failed": 3}


def test_a_robots_file_that_never_comes(tmp_path: Path) -> None:
    with HostileServer(default=then_silence()) as server:
        outcomes = ends(
            server.url("/"), tmp_path / "out", "timed_out", "--allow-private", *SOON,
            "--set", "fetch.first_byte_timeout=300ms",
        )  # fmt: skip
    assert outcomes == {"timed_out": 4}


def test_a_robots_file_that_always_fails(tmp_path: Path) -> None:
    broken = send(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
    with HostileServer(default=broken) as server:
        outcomes = ends(
            server.url("/"), tmp_path / "out", "server_failed", "--allow-private", *SOON
        )
    assert outcomes == {"robots_unreachable": 1, "server_failed": 6}


@pytest.mark.parametrize("page", ["/", "/other"])
def test_one_page_is_enough(tmp_path: Path, page: str) -> None:
    """A second seed that is not there is told, and the crawl is done."""
    with serving({"/": "page"}) as pages:
        url = f"http://127.0.0.1:{pages.port}{page}"
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            dead = f"http://127.0.0.1:{closed.getsockname()[1]}/"
            done = gossamer("crawl", url, dead, "--allow-private", "--out", tmp_path / "out", *SOON)
    assert done.returncode == (0 if page == "/" else 1), done.stderr
    assert ("No page could be had" in done.stderr) == (page != "/")


NO_PAGE = {
    "gone": Answer(status=404),
    "refused": Answer(status=403),
    "unwanted_type": Answer(b"\0\1\2", kind="application/octet-stream"),
    "redirected": moved("/"),
}


@pytest.mark.parametrize("outcome", NO_PAGE)
def test_a_seed_that_is_no_page(tmp_path: Path, outcome: str) -> None:
    with serving({"/": NO_PAGE[outcome], "/robots.txt": Answer("", kind="text/plain")}) as pages:
        url = f"http://127.0.0.1:{pages.port}/"
        outcomes = ends(url, tmp_path / "out", outcome, "--allow-private", *SOON)
    assert outcomes == {"fetched": 1, outcome: 1}
