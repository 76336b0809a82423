"""Crawls started, stopped, gone on with, opened and reported from the page of a folder."""

import json
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.audit.crawls import gossamer
from tests.control.serving import GOSSAMER, Served, until
from tests.crawl.pages import serving
from tests.crawls.paging import SMALL, Page, paged

from gossamer.library.runs import read_runs
from gossamer.simweb import SimWeb

PORT = 8790


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with paged(tmp_path / "crawls") as page:
        yield page


def test_a_crawl_is_started_stopped_opened_and_gone_on_with(page: Page, web: SimWeb) -> None:
    assert page.get("/crawls")["crawls"] == []
    made = page.start_crawl("news", f"# the start\n{web.url}\n", delay="200ms", contact="me")
    assert made.status == 201, made
    enter = made.json["enter"]
    crawl = Served(page.out / "news", web)
    assert enter == f"{crawl.url}/#token={crawl.token()}"
    assert page.rows()["news"]["dashboard"] == crawl.url
    values = {row["name"]: row["value"] for row in crawl.get("/settings")["settings"]}
    assert values["fetch.contact"] == "me"
    assert values["politeness.delay"] == "200ms"
    # Where it runs, its own dashboard is led to.
    assert page.do("news", "open").json["enter"] == enter
    until(lambda: page.rows()["news"]["pages"], "pages are told")

    assert page.do("news", "stop").json["name"] == "news"
    row = page.until_state("news", "stopped")
    assert (row["running"], row["dashboard"], row["runs"]) == (False, None, 1)
    assert page.do("news", "stop").json["code"] == "not_running"

    opened = page.do("news", "open").json
    view = Served(page.out / "news", None)
    assert opened["enter"] == f"{view.url}/#token={view.token()}"
    assert view.get("/status")["read_only"]
    assert page.rows()["news"]["dashboard"] == view.url
    assert page.do("news", "open").json["enter"] == opened["enter"], "it is open already"

    # The view holds the state, and makes way.
    on = page.do("news", "go_on", {"max_pages": 10**6})
    assert on.status == 200, on
    assert on.json["crawl"]["runs"] == 2
    assert crawl.get("/status")["read_only"] is None
    assert crawl.get("/settings/changes") is not None
    page.do("news", "stop")
    page.until_state("news", "stopped")


def test_a_small_crawl_that_ends_at_once_is_no_refusal(page: Page) -> None:
    with serving(SMALL) as pages:
        made = page.start_crawl("small", f"http://127.0.0.1:{pages.port}/")
        assert made.status == 201, made
        assert page.until_state("small", "finished")["pages"] == 2
    # Nobody answers: it has ended without a page, which its report explains.
    made = page.start_crawl("nobody", "http://127.0.0.1:1/")
    assert made.status == 201, made
    assert page.until_state("nobody", "finished")["pages"] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"settings": "politeness.dely=1s"}, "politeness.delay"),
        ({"settings": "nonsense"}, "stage.name=value"),
        ({"settings": "control.address=192.0.2.1"}, "cannot listen on 192.0.2.1"),
        ({"seeds": "a.example\nnot a seed\n"}, None),
        ({"seeds": "# nothing\nnotaurl"}, "seed refused: line 2: notaurl: it names no site"),
        ({"seeds": " \n"}, "at least one is needed"),
        ({"seeds": "#"}, "no seed given"),
        ({"delay": "--allow-private"}, "delay"),
        ({"delay": "soon"}, "delay"),
        ({"scope": "world"}, "scope"),
        ({"max_pages": 0}, "max_pages"),
    ],
)
def test_what_is_refused_is_told_in_its_own_words_and_leaves_nothing(
    page: Page, given: dict[str, Any], said: str | None
) -> None:
    if said is None:
        # One seed can be taken; but where nobody is.
        given = given | {"settings": 'dns.answers={"a.example": ["127.0.0.1"]}'}
    answer = page.start_crawl("new", **{"seeds": "http://127.0.0.1:1/"} | given)
    if said is None:
        assert answer.status == 201, answer
        return
    assert answer.status == 422, answer
    assert said in answer.json["detail"]
    assert "Traceback" not in answer.json["detail"]
    assert {one.name for one in page.out.iterdir()} == {".gossamer"}
    assert page.get("/crawls")["crawls"] == []
    # The name is still free.
    assert page.start_crawl("new", "http://127.0.0.1:1/").status == 201


def test_what_was_begun_and_failed_stays_and_says_why(page: Page) -> None:
    """Only the directory that was made for it is ever removed, and only when it is empty."""
    answer = page.start_crawl("new", "http://127.0.0.1:1/", settings="control.tokens=/usr")
    assert answer.status == 422, answer
    assert "/usr is open to others" in answer.json["detail"]
    assert "new was begun and is kept" in answer.json["detail"]
    row = page.rows()["new"]
    assert row["state"] == "failed"
    assert "/usr is open to others" in row["error"]
    assert page.start_crawl("new", "http://127.0.0.1:1/").json["code"] == "exists"


def test_values_stay_values(page: Page, tmp_path: Path) -> None:
    """Nothing that is given becomes an option, a command or a file."""
    evil = f"$(touch {tmp_path}/made); `touch {tmp_path}/made`"
    for given, status in (
        ({"contact": evil}, 201), ({"contact": f"--out={tmp_path}/made"}, 201),
        ({"delay": evil}, 422), ({"settings": f"--out={tmp_path}/made"}, 422),
        ({"settings": f"--resume\n--out={tmp_path}/made=1"}, 422),
        ({"seeds": f"--out={tmp_path}/made"}, 422), ({"seeds": f"-o\n{evil}"}, 422),
    ):  # fmt: skip
        answer = page.start_crawl("try", **{"seeds": "http://127.0.0.1:1/"} | given)
        assert answer.status == status, (given, answer)
        shutil.rmtree(page.out / "try", ignore_errors=True)
    assert not (tmp_path / "made").exists()
    assert {one.name for one in page.out.iterdir()} == {".gossamer"}


@pytest.mark.parametrize("field", ["delay", "contact", "settings"])
@pytest.mark.parametrize("wrong", ["\0", "\x1b[31m", "\x85", "\u2028"])
def test_control_characters_are_refused(page: Page, field: str, wrong: str) -> None:
    given = {field: f"fetch.contact=a{wrong}b"}
    answer = page.start_crawl("new", "http://127.0.0.1:1/", **given)
    assert (answer.status, answer.json["code"]) == (422, "wrong_value"), answer
    assert f"{field}: " in answer.json["detail"]
    assert "control characters" in answer.json["detail"]


def test_lines_of_settings_are_bounded(page: Page) -> None:
    long = f"fetch.contact={'x' * 8192}"
    answer = page.start_crawl("new", "http://127.0.0.1:1/", settings=f"\r\n{long}\n")
    assert answer.status == 422, answer
    assert "a line has 8192 bytes at most" in answer.json["detail"]
    fine = "fetch.contact=me\r\n\tfetch.max_body=1MiB\n"
    assert page.start_crawl("new", "http://127.0.0.1:1/", settings=fine).status == 201


def test_settings_cannot_be_read_by_other_users(page: Page, web: SimWeb) -> None:
    secret = 'fetch.headers={"X-Key": "hunter2"}'
    made = page.start_crawl("one", web.url, delay="1s", settings=secret, contact="me@example.org")
    assert made.status == 201, made
    number = (page.out / "one/control/pid").read_text().strip()
    words = Path("/proc", number, "cmdline").read_bytes()
    assert b"--seeds=-" in words, "it is the crawl"
    assert b"hunter2" not in words
    assert b"me@example.org" not in words
    assert b"hunter2" not in Path("/proc", number, "environ").read_bytes()
    assert "hunter2" in (page.out / "one/crawl.toml").read_text(), "it has them"


def test_lines_count_before_the_fields(page: Page, web: SimWeb) -> None:
    lines = "politeness.delay=2s\nlimits.pages=7"
    page.start_crawl("one", web.url, delay="1s", max_pages=5, max_depth=3, settings=lines)
    rows = Served(page.out / "one", web).get("/settings")["settings"]
    values = {row["name"]: row["value"] for row in rows}
    assert (values["politeness.delay"], values["limits.pages"]) == ("2s", 7)
    assert (values["limits.depth"], values["scope.kind"]) == (3, "any")


NAMES = [
    "", ".", "..", ".hidden", "a/b", "../up", "/etc", "a\\b", "a\nb", "a\0b", "a\x1bb", " a", "a ",
    "x" * 101, "ü" * 51, ".gossamer", "-out/../..", "a\u202eb",
]  # fmt: skip


def test_names_that_are_not_one_folders_are_refused(page: Page) -> None:
    for name in NAMES:
        answer = page.start_crawl(name, "http://127.0.0.1:1/")
        assert (answer.status, answer.json["code"]) == (422, "wrong_name"), (name, answer)
    (page.out / "there").mkdir()
    (page.out / "nowhere").symlink_to("/nonexistent/place")
    for name in ("there", "nowhere"):
        assert page.start_crawl(name, "http://127.0.0.1:1/").json["code"] == "exists", name
    assert sorted(one.name for one in page.out.iterdir()) == [".gossamer", "nowhere", "there"]
    odd = "-dash; $HOME & 'quotes' ü"
    assert page.start_crawl(odd, "http://127.0.0.1:1/").status == 201
    assert page.until_state(odd, "finished")


def test_only_crawls_of_the_folder_can_be_named(page: Page, tmp_path: Path) -> None:
    with serving(SMALL) as pages:
        page.start_crawl("own", f"http://127.0.0.1:{pages.port}/")
        page.until_state("own", "finished")
    outside = tmp_path / "outside"
    shutil.copytree(page.out / "own", outside)
    (page.out / "link").symlink_to(outside)
    (page.out / "junk").mkdir()
    before = sorted(outside.rglob("*"))
    for name in ("../outside", "..", ".gossamer", "junk", "none", "own/../own", "a\0b", "x" * 300):
        for what in ("go_on", "stop", "open", "close"):
            assert page.do(name, what, {}).status == 404, (name, what)
        answer = page.ask("GET", f"/api/v1/crawls/{quote(name, safe='')}/report")
        assert answer.status == 404, (name, answer)
    assert page.rows()["link"]["link"] is True
    for what in ("go_on", "stop", "open", "close"):
        answer = page.do("link", what, {})
        assert (answer.status, answer.json["code"]) == (409, "link"), answer
    assert page.ask("GET", "/api/v1/crawls/link/report").status == 409
    assert sorted(outside.rglob("*")) == before


def test_the_report_is_a_file_to_keep(page: Page) -> None:
    with serving({"/": "<title><script>alert(1)</script></title>", "/robots.txt": ""}) as pages:
        page.start_crawl("ö", f"http://127.0.0.1:{pages.port}/")
        page.until_state("ö", "finished")
    answer = page.ask("GET", "/api/v1/crawls/%C3%B6/report", token=page.token("token-read"))
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''%C3%B6-")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert b"<!doctype html>" in answer.body[:100].lower()
    assert b"<script" not in answer.body
    assert not list(page.control.glob("tmp*"))


def test_crawls_outlive_the_page_and_views_do_not(tmp_path: Path, web: SimWeb) -> None:
    folder = tmp_path / "crawls"
    with paged(folder) as page:
        page.start_crawl("long", web.url, delay="1s")
        with serving(SMALL) as pages:
            page.start_crawl("short", f"http://127.0.0.1:{pages.port}/")
            page.until_state("short", "finished")
        page.do("short", "open")
        view = int((folder / "short/control/pid").read_text())
        assert page.finish() == 0
        assert not (folder / "short/control/url").exists()
        with pytest.raises(ProcessLookupError):
            os.kill(view, 0)
        crawl = Served(folder / "long", web)
        assert crawl.get("/status")["activity"] == "running"
        # Another page sees it, and may end it.
        page.begin()
        assert page.rows()["long"]["state"] == "running"
        page.do("long", "stop")
        page.until_state("long", "stopped")


def test_a_view_does_not_outlive_a_page_that_is_killed(tmp_path: Path) -> None:
    with paged(tmp_path / "crawls") as page, serving(SMALL) as pages:
        page.start_crawl("short", f"http://127.0.0.1:{pages.port}/")
        page.until_state("short", "finished")
        page.do("short", "open")
        page.kill()
        until(lambda: not (page.out / "short/control/url").exists(), "the view ends")


def test_a_crawl_that_is_killed_is_told_so(page: Page, web: SimWeb) -> None:
    """Though its process was started by the page, which has to wait for it."""
    page.start_crawl("doomed", web.url, delay="1s")
    number = int((page.out / "doomed/control/pid").read_text())
    os.kill(number, 9)
    row = page.until_state("doomed", "killed")
    assert row["dashboard"] is None
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    on = page.do("doomed", "go_on", {})
    assert on.status == 200, on
    assert [run.state for run in read_runs(page.out / "doomed")] == ["killed", "running"]


def test_a_crawl_that_runs_is_not_gone_on_with(page: Page, web: SimWeb) -> None:
    page.start_crawl("busy", web.url, delay="1s")
    (page.control / "busy.log").unlink()
    answer = page.do("busy", "go_on", {})
    assert (answer.status, answer.json["code"]) == (409, "running"), answer
    assert not (page.control / "busy.log").exists(), "nothing was started"
    assert page.rows()["busy"]["state"] == "running", "what runs is left alone"


def test_going_on_is_refused_in_the_words_of_the_command(page: Page) -> None:
    with serving(SMALL) as pages:
        page.start_crawl("old", f"http://127.0.0.1:{pages.port}/")
        page.until_state("old", "finished")
    log = page.control / "old.log"
    log.write_text("gossamer: what was said before\n")
    (page.out / "old/crawl.toml").write_text("[fetch]\ncontakt = 1\n")
    answer = page.do("old", "go_on", {})
    assert answer.status == 422, answer
    assert "fetch.contact" in answer.json["detail"]
    assert "said before" not in answer.json["detail"]
    assert log.read_text().startswith("gossamer: what was said before\n"), "evidence stays"
    said = log.read_bytes()
    assert page.do("old", "open").status == 200
    assert (page.control / "old.open.log").exists()
    assert log.read_bytes() == said, "a view has its own"


def test_a_view_can_be_closed(page: Page) -> None:
    """It keeps others from going on."""
    with serving(SMALL) as pages:
        page.start_crawl("one", f"http://127.0.0.1:{pages.port}/")
        page.until_state("one", "finished")
    answer = page.do("one", "close")
    assert (answer.status, answer.json["code"]) == (409, "not_opened"), answer
    assert page.do("one", "open").json["crawl"]["opened"]
    assert page.rows()["one"]["opened"]
    resume = ("crawl", "--resume", "--out", page.out / "one", "--quiet")
    assert gossamer(*resume).returncode != 0
    answer = page.do("one", "close")
    assert answer.status == 200, answer
    assert (answer.json["opened"], answer.json["dashboard"]) == (False, None)
    assert not page.rows()["one"]["opened"]
    done = gossamer(*resume)
    assert done.returncode == 0, done.stderr


def test_a_cluster_is_gone_on_with_as_one(page: Page, web: SimWeb) -> None:
    words = ["--nodes", "2", "--set", "control.port=0", "--max-pages", "50", "--delay", "0s"]
    done = gossamer(
        "cluster", web.url, "--out", page.out / "many", "--allow-private", "--scope", "any", *words
    )
    assert done.returncode == 0, done.stderr
    row = page.rows()["many"]
    assert (row["kind"], row["state"], row["runs"]) == ("cluster", "limit_reached", 1)
    on = page.do("many", "go_on", {"max_pages": 10**6})
    assert on.status == 200, on
    crawl = Served(page.out / "many", web)
    assert on.json["enter"] == f"{crawl.url}/#token={crawl.token()}"
    until(lambda: (page.rows()["many"]["pages"] or 0) > 50, "more pages")
    assert page.do("many", "stop").status == 200
    page.until_state("many", "stopped")


def test_one_thing_at_a_time_with_a_crawl(page: Page) -> None:
    """Of two who start the same name at once one is refused, and the other's crawl is whole."""
    from concurrent.futures import ThreadPoolExecutor

    with serving(SMALL) as pages, ThreadPoolExecutor(4) as pool:
        seed = f"http://127.0.0.1:{pages.port}/"
        answers = list(pool.map(lambda _: page.start_crawl("one", seed), range(4)))
    assert sorted(answer.status for answer in answers) == [201, 409, 409, 409]
    assert page.until_state("one", "finished")["pages"] == 2


def test_everything_is_written_down_and_nothing_is_open_to_others(page: Page) -> None:
    secret = 'fetch.headers={"X-Key": "hunter2"}'
    page.start_crawl("one", "http://127.0.0.1:1/", settings=secret)
    page.start_crawl("../up", "http://127.0.0.1:1/")
    lines = page.get("/audit")
    assert [(line["what"], line["target"], line["done"]) for line in lines] == [
        ("start", "one", True), ("start", "../up", False),
    ]  # fmt: skip
    assert lines[0]["new"]["settings"] == ["fetch.headers"]
    assert "hunter2" not in json.dumps(lines)
    assert stat.S_IMODE(page.control.stat().st_mode) == 0o700
    for name in ("token", "token-read", "one.log", "audit.jsonl"):
        assert stat.S_IMODE((page.control / name).stat().st_mode) == 0o600, name


def test_a_second_page_of_a_folder_is_refused_with_the_address_of_the_first(page: Page) -> None:
    again = gossamer("crawls", page.out, "--serve", "--port", "0")
    assert again.returncode == 2
    assert f"is open already; see {page.url}" in again.stderr


def is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def test_the_port_is_8790_or_any_other(tmp_path: Path) -> None:
    free = is_free(PORT)
    with paged(tmp_path / "one", "-q") as one, paged(tmp_path / "two", "-q") as two:
        if free:
            assert one.url == f"http://127.0.0.1:{PORT}"
        assert one.url != two.url
        port = two.url.rpartition(":")[2]
        (tmp_path / "three").mkdir()
        named = gossamer("crawls", tmp_path / "three", "--serve", "--port", port)
        assert named.returncode == 1
        assert "--port" in named.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "9"], "give --serve too"),
        (["--serve", "--json"], "give one of them"),
        (["--serve", "--set", "fetch.contact=x"], "none of the page"),
        (["--serve", "--address", "nowhere"], "control.address"),
        (["--serve", "--set", "control.key=/none"], "control."),
    ],
)
def test_wrong_use(tmp_path: Path, words: list[str], said: str) -> None:
    told = subprocess.run(
        [*GOSSAMER, "crawls", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.returncode == 2, told
    assert said in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_crawl_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").touch()
    told = gossamer("crawls", tmp_path, "--serve")
    assert told.returncode == 2
    assert "is a crawl itself" in told.stderr
