"""Reached through a proxy, a tunnel, any address of the machine: by the names it was told, no others."""

import socket
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.control.serving import Served, served

from gossamer.control.api.origins import names_of
from gossamer.settings.model import ControlSettings
from gossamer.simweb import SimWeb

NAMES = '["localhost", "Crawl.example.org", "localhost:9000", "https://proxy.example.org", "https://p.example:8443"]'


def status(crawl: Served, host: str, origin: str | None = None) -> int:
    headers = {"Host": host} | ({"Origin": origin} if origin else {})
    return crawl.ask("GET", "/api/v1/status", headers=headers).status


def test_names_of_proxies_and_tunnels_are_taken(web: SimWeb, tmp_path: Path):
    with served(tmp_path / "out", web, "--delay", "1s", "--set", f"control.names={NAMES}") as crawl:
        port = crawl.authority.rpartition(":")[2]
        own = f"127.0.0.1:{port}"
        assert crawl.url == f"http://localhost:{port}"
        assert crawl.ask("GET", "/api/v1/status").status == 200
        for host, origin in (
            (f"crawl.example.org:{port}", f"http://crawl.example.org:{port}"),
            ("localhost:9000", "http://localhost:9000"),
            ("proxy.example.org", "https://proxy.example.org"),
            ("proxy.example.org:443", None),
            ("p.example:8443", "https://p.example:8443"),
            # A proxy that asks us by our own name.
            (own, "https://proxy.example.org"),
        ):
            assert status(crawl, host, origin) == 200, (host, origin)
        for host, origin in (
            ("crawl.example.org", None),
            ("localhost:9001", None),
            (f"proxy.example.org:{port}", None),
            ("p.example", None),
            (own, "http://proxy.example.org"),
            (own, "https://localhost:9000"),
            (own, "https://p.example"),
            ("evil.example", None),
        ):
            assert status(crawl, host, origin) == 403, (host, origin)


@pytest.mark.parametrize(("address", "url"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
def test_any_address_is_reached_by_loopback(web: SimWeb, tmp_path: Path, address: str, url: str):
    if ":" in address:
        try:
            with socket.socket(socket.AF_INET6) as one:
                one.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
    names = '["https://proxy.example.org"]'
    options = ["--set", f"control.address={address}", "--set", f"control.names={names}"]
    with served(tmp_path / "out", web, "--delay", "1s", *options) as crawl:
        assert crawl.url.startswith(f"http://{url}:")
        assert crawl.command("status")["pages"] >= 0


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({}, "http://127.0.0.1:8780"),
        ({"address": "::1"}, "http://[::1]:8780"),
        ({"address": "10.1.2.3"}, "http://10.1.2.3:8780"),
        ({"names": ["localhost:9000", "crawl.example"]}, "http://crawl.example:8780"),
        ({"names": ["crawl.example:8780"]}, "http://crawl.example:8780"),
        ({"names": ["https://crawl.example"]}, "http://127.0.0.1:8780"),
        (
            {"names": ["https://crawl.example:8780"], "certificate": "c", "key": "k"},
            "https://crawl.example:8780",
        ),
    ],
)
def test_the_url_is_of_the_process_itself(settings: dict[str, object], url: str):
    assert names_of(ControlSettings.model_validate(settings), 8780).url == url


def test_the_default_port_need_not_be_said():
    names = names_of(ControlSettings(names=["crawl.example"]), 80)
    assert {"crawl.example", "crawl.example:80", "127.0.0.1"} <= set(names.authorities)
    assert {"http://crawl.example", "http://crawl.example:80"} <= set(names.origins)


@pytest.mark.parametrize(
    "name",
    [
        "", "https://", "ftp://a.example", "a.example/path", "https://a.example/", "a.example:0",
        "a.example:65536", "a.example:", "user@a.example", "*", "*.example", "::1", "[::1", "[1.2]",
        "a b", "http://a.example?x",
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused(name: str):
    with pytest.raises(ValidationError, match=r"control|names"):
        ControlSettings(names=[name])
