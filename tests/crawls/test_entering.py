"""The way into a dashboard is one that the browser of who asks can take, and does not leave TLS."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import crawl, gossamer
from tests.control.serving import Answer, Served
from tests.control.test_tls import certificate
from tests.crawls.paging import Page, paged

from gossamer.control.service import RefusedError
from gossamer.crawls.schemas import Entered
from gossamer.crawls.service import OWN, CrawlsService
from gossamer.settings.model import ControlSettings
from gossamer.simweb import SimWeb


def asked_as(page: Page, host: str, name: str, what: str = "open") -> Answer:
    """`host`: without a port, that of the page."""
    given = host if ":" in host else f"{host}:{page.authority.rpartition(':')[2]}"
    path = f"/api/v1/crawls/{name}/{what}"
    return page.ask("POST", path, {} if what == "go_on" else None, headers={"Host": given})


def enter(crawl: Served, host: str) -> str:
    return f"http://{host}:{crawl.authority.rpartition(':')[2]}/#token={crawl.token()}"


def test_it_leads_to_the_name_that_the_page_was_asked_by(tmp_path: Path, web: SimWeb) -> None:
    with paged(tmp_path / "crawls") as page:
        assert page.start_crawl("one", web.url, delay="1s").status == 201
        one = Served(page.out / "one", web)
        for host in ("localhost", "127.0.0.1"):
            assert asked_as(page, host, "one").json["enter"] == enter(one, host)
        page.do("one", "stop")
        page.until_state("one", "stopped")
        assert asked_as(page, "localhost", "one").json["enter"] == enter(one, "localhost")
        on = asked_as(page, "LOCALHOST", "one", "go_on")
        assert on.json["enter"] == enter(one, "localhost")


def test_names_of_the_page_are_those_of_what_it_starts_and_opens(
    tmp_path: Path, web: SimWeb
) -> None:
    by_hand = Served(tmp_path / "crawls" / "by-hand", web)
    by_hand.out.parent.mkdir()
    try:
        by_hand.start("--delay", "1s")
        # A name that leads here on every machine, and that a crawl has only if it is told.
        words = ("--port", "0", "--address", "0.0.0.0", "--set", 'control.names=["127.0.0.2"]')
        with paged(tmp_path / "crawls", *words) as page:
            assert page.start_crawl("one", web.url, delay="1s").status == 201
            one = Served(page.out / "one", web)
            assert asked_as(page, "127.0.0.2", "one").json["enter"] == enter(one, "127.0.0.2")
            # Else the browser would be led to its own machine, with the token.
            answer = asked_as(page, "127.0.0.2", "by-hand")
            assert (answer.status, answer.json["code"]) == (409, "other_name"), answer
            assert "control.names" in answer.json["detail"]
            assert by_hand.token() not in answer.json["detail"]
            assert asked_as(page, "localhost", "by-hand").status == 200
            by_hand.end()
            page.until_state("by-hand", "stopped")
            opened = asked_as(page, "127.0.0.2", "by-hand").json["enter"]
            assert opened == enter(by_hand, "127.0.0.2")
            host = opened.partition("//")[2].partition("/")[0]
            assert by_hand.ask("GET", "/", headers={"Host": host}).status == 200
    finally:
        by_hand.kill()


def test_a_name_of_a_proxy_leads_to_no_other_port(tmp_path: Path, web: SimWeb) -> None:
    names = 'control.names=["https://box.example"]'
    with paged(tmp_path / "crawls", "--port", "0", "--set", names) as page:
        assert page.start_crawl("one", web.url, delay="1s").status == 201
        answer = page.ask("POST", "/api/v1/crawls/one/open", headers={"Host": "box.example"})
        assert (answer.status, answer.json["code"]) == (409, "other_name"), answer


def words_of(out: Path) -> list[str]:
    number = (out / "control/pid").read_text().strip()
    return Path("/proc", number, "cmdline").read_bytes().decode().split("\0")


def opened(folder: Path, control: ControlSettings, name: str) -> tuple[Entered, list[str]]:
    """The way in, and the words of the process that was opened."""

    async def open_it() -> tuple[Entered, list[str]]:
        service = CrawlsService(folder, control)
        async with service.running():
            entered = await service.open(name, "127.0.0.1:8790")
            return entered, await asyncio.to_thread(words_of, folder / name)

    (folder / OWN).mkdir(exist_ok=True)
    return asyncio.run(open_it())


def test_a_view_has_the_certificate_of_the_page(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    folder = tmp_path / "crawls"
    folder.mkdir()
    crawl(folder / "done", ("--delay", "0s"), hosts=2, pages=20)
    secure = ControlSettings(certificate=str(chain), key=str(key), names=["box.example"])
    entered, words = opened(folder, secure, "done")
    assert entered.enter is not None
    assert entered.enter.startswith("https://127.0.0.1:")
    assert '--set=control.names=["box.example"]' in words
    # That of the page counts, also where it has none.
    settings = folder / "done/crawl.toml"
    text = settings.read_text()
    assert 'address = "127.0.0.1"' in text
    settings.write_text(text.replace('address = "127.0.0.1"', 'address = "0.0.0.0"'))
    entered, words = opened(folder, ControlSettings(), "done")
    assert '--set=control.address="127.0.0.1"' in words
    assert (entered.enter or "").startswith("http://127.0.0.1:")


def test_nobody_is_led_out_of_tls(tmp_path: Path, web: SimWeb) -> None:
    chain, key = certificate(tmp_path)
    folder = tmp_path / "crawls"
    folder.mkdir()
    plain = Served(folder / "plain", web)
    secure = ControlSettings(certificate=str(chain), key=str(key))
    try:
        plain.start("--delay", "1s")
        with pytest.raises(RefusedError, match=r"has no TLS and the page has") as refused:
            opened(folder, secure, "plain")
        assert refused.value.code == "no_tls"
        assert plain.token() not in str(refused.value)
    finally:
        plain.kill()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("fetch.contact=x", "none of the dashboard"),
        ("control.key=/none", "control."),
        ("control.adress=::1", "control.address"),
        ("nonsense", "stage.name=value"),
    ],
)
def test_a_view_by_hand_takes_settings_of_control_only(
    tmp_path: Path, given: str, said: str
) -> None:
    done = crawl(tmp_path / "done", ("--delay", "0s"), hosts=2, pages=20)
    told: Any = gossamer("open", done.out, "--port", "0", "--set", given)
    assert told.returncode == 2, told
    assert said in told.stderr
    assert not os.path.lexists(done.out / "control/url")
