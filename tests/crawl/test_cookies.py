"""Sites that give a page only to who brings the cookie that they have just set."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.audit.crawls import gossamer
from tests.crawl.pages import crawled

LINKS = '<a href="/a">a</a> <a href="/b">b</a> <a href="/no">no</a>'


class Site(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *, believes: bool, check: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Page)
        self.believes = believes
        self.check = check
        self.asked: list[tuple[str, str]] = []
        """Path and `Cookie` field."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        cookie = self.headers.get("Cookie", "")
        self.server.asked.append((self.path, cookie))
        path, _, back = self.path.partition("?")
        known = self.server.believes and "seen=yes" in cookie
        if self.server.check and path == self.server.check:
            self.answer(302, {"Location": back})
        elif path == "/robots.txt" and (known or self.server.check):
            self.answer(200, {}, b"User-agent: *\nDisallow: /no\n")
        elif known:
            self.answer(200, {}, f"{path} {LINKS if path == '/' else ''}".encode())
        else:
            target = f"{self.server.check}?{path}" if self.server.check else self.path
            self.answer(302, {"Location": target, "Set-Cookie": "seen=yes; Path=/"})

    def answer(self, status: int, fields: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        kind = "text/plain" if self.path == "/robots.txt" else "text/html"
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            **fields,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def site(*, believes: bool = True, check: str | None = None) -> Iterator[Site]:
    with Site(believes=believes, check=check) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def pages(server: Site, out: Path, *options: str) -> list[str]:
    lines = crawled(server.url, out, *options)
    audit = gossamer("audit", out)
    assert audit.returncode == 0, audit.stdout
    return sorted(line["url"] for line in lines if line["outcome"] == "fetched")


def test_a_page_that_sets_a_cookie_is_visited_once_more_with_it(tmp_path: Path) -> None:
    with site() as server:
        root = server.url
        found = pages(server, tmp_path / "out")
    assert found == [root, f"{root}a", f"{root}b", f"{root}robots.txt"]
    # Its robots file is had the same way, and obeyed; the cookie goes with the one repetition only.
    for path in ("/robots.txt", "/", "/a", "/b"):
        assert [cookie for one, cookie in server.asked if one == path] == ["", "seen=yes"]
    assert "/no" not in {path for path, _ in server.asked}


def test_cookies_that_are_kept_cost_one_redirect(tmp_path: Path) -> None:
    with site() as server:
        root = server.url
        found = pages(server, tmp_path / "out", "--set", "fetch.cookies=true")
    assert found == [root, f"{root}a", f"{root}b", f"{root}robots.txt"]
    assert len(server.asked) == 5


def test_a_page_that_redirects_for_ever_ends(tmp_path: Path) -> None:
    with site(believes=False) as server:
        done = gossamer(
            "crawl", server.url, "--allow-private", "--delay", "0s", "--out", tmp_path / "o"
        )
    assert done.returncode == 1, done.stderr
    assert [path for path, _ in server.asked] == ["/robots.txt"] * 2 + ["/"] * 2


def test_a_way_back_through_another_page(tmp_path: Path) -> None:
    with site(check="/check") as server:
        root = server.url
        found = pages(server, tmp_path / "out", "--set", "fetch.cookies=true")
    assert found == [root, f"{root}a", f"{root}b", f"{root}robots.txt"]


def test_a_way_back_that_leads_nowhere_ends(tmp_path: Path) -> None:
    for number, (believes, cookies) in enumerate([(False, "true"), (True, "false")]):
        with site(believes=believes, check="/check") as server:
            done = gossamer(
                "crawl", server.url, "--allow-private", "--delay", "0s", "--out", tmp_path / str(number),
                "--set", f"fetch.cookies={cookies}",
            )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert len(server.asked) <= 4
