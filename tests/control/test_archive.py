"""A crawl that has ended, seen through the same API: by its own figures, and nothing can be changed."""

import contextlib
import json
import shutil
import socket
import stat
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import Crawl, gossamer
from tests.control.opened import opened
from tests.control.serving import Served, served, until

from gossamer.cli.look import looked_at
from gossamer.control.archive import ArchivedCrawl
from gossamer.control.archive.urls import Urls
from gossamer.library import log_search
from gossamer.report import read_visits
from gossamer.simweb import Options, serve


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A served crawl that was changed, and stopped by its operator; and what it said at its end."""
    out = tmp_path_factory.mktemp("ended") / "crawl"
    with (
        serve(Options(hosts=5, pages=1000, port=0, robots=0.5)) as web,
        served(out, web, "--delay", "20ms") as running,
    ):
        until(lambda: running.get("/status")["pages"] > 40, "there are pages")
        running.set(politeness__delay="30ms")
        seeds = running.post("/seeds", {"urls": [web.url, "mailto:x@y.test"]})
        assert seeds["taken"] == 1
        running.rest()
        hosts = running.get("/hosts", limit=100, sort="name")["hosts"]
        assert running.end() == 0
        said = json.loads(running.log("stdout").read_text())
    return {"crawl": Crawl(out, web.options), "said": said, "hosts": hosts}


@pytest.fixture(scope="module")
def view(ended: dict[str, Any]) -> Iterator[Served]:
    with opened(ended["crawl"].out) as view:
        yield view


@pytest.fixture(scope="module")
def copy(ended: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Of a copy with nothing but log and WARC files."""
    out = tmp_path_factory.mktemp("copied") / "crawl"
    shutil.copytree(ended["crawl"].out, out, ignore=shutil.ignore_patterns("state", "control"))
    with opened(out) as view:
        yield view


def test_the_status_is_that_of_the_end(view: Served, ended: dict[str, Any]) -> None:
    status = view.get("/status")
    for name in ("pages", "bytes", "urls_seen", "urls_queued", "outcomes", "links_left_out"):
        assert status[name] == ended["said"][name], name
    assert status["read_only"]
    assert status["in_flight"] == status["hosts_active"] == 0
    assert status["time"] == pytest.approx(last(ended), abs=60)
    assert view.get("/alerts")[0]["kind"] == "read_only"
    assert status["settings_version"] == 1


def test_how_it_ended_is_one_word_everywhere(
    view: Served, copy: Served, ended: dict[str, Any]
) -> None:
    out = ended["crawl"].out
    told = [
        view.get("/status")["activity"],
        json.loads(gossamer("status", "--out", out, "--json").stdout)["activity"],
        json.loads(gossamer("report", out, "--json").stdout)["state"],
        ended["said"]["activity"],
    ]
    assert told == ["stopped"] * 4
    # What was queued, only a state tells.
    assert copy.get("/status")["activity"] == "unknown"


def last(ended: dict[str, Any]) -> float:

    times = [line["time"] for line in ended["crawl"].lines()]
    return datetime.fromisoformat(max(times)).timestamp()


def test_hosts_are_those_that_the_running_crawl_knew(view: Served, ended: dict[str, Any]) -> None:
    found = view.get("/hosts", limit=100, sort="name")
    names = ("name", "pages", "bytes", "queued", "errors", "ip", "partition")
    for now, before in zip(found["hosts"], ended["hosts"], strict=True):
        assert [now[name] for name in names] == [before[name] for name in names]
    first = view.get("/hosts", limit=2, sort="pages")
    second = view.get("/hosts", limit=2, sort="pages", cursor=first["next"])
    pages = [row["pages"] for page in (first, second) for row in page["hosts"]]
    assert pages == sorted((row["pages"] for row in ended["hosts"]), reverse=True)[:4]
    check_the_other_way_round(view)
    assert view.get("/hosts", standing="active")["hosts"] == []
    sizes = view.get("/partitions")["partitions"]
    assert sum(row["pages"] for row in sizes) == sum(row["pages"] for row in ended["hosts"])
    assert sum(row["queued"] for row in sizes) == ended["said"]["urls_queued"]


def check_the_other_way_round(view: Served) -> None:
    """Every order, a page at a time, is its opposite turned round."""
    for sort in ("queued", "pages", "errors", "last_visit", "name"):
        orders = [pages_of(view, sort=sort, reverse=reverse) for reverse in (False, True)]
        assert orders[0] == orders[1][::-1], sort
    first = view.get("/hosts", limit=2, sort="pages")
    query = f"limit=2&sort=pages&reverse=true&cursor={first['next']}"
    refused = view.ask("GET", f"/api/v1/hosts?{query}")
    assert (refused.status, refused.json["code"]) == (422, "wrong_cursor")


def pages_of(view: Served, **query: object) -> list[str]:
    names: list[str] = []
    page = view.get("/hosts", limit=2, **query)
    while True:
        names += [row["name"] for row in page["hosts"]]
        if page["next"] is None:
            return names
        page = view.get("/hosts", limit=2, cursor=page["next"], **query)


def test_a_url_is_explained_with_all_its_visits(view: Served, ended: dict[str, Any]) -> None:
    lines = [line for line in ended["crawl"].lines() if line["outcome"] == "fetched"]
    account = view.get("/urls", url=lines[0]["url"])
    assert account["seen"] is True
    assert [row["time"] for row in account["visits"]] == [
        line["time"] for line in ended["crawl"].lines() if line["url"] == lines[0]["url"]
    ]
    assert account["host_state"]["name"] == lines[0]["host"]


def test_the_visits_of_a_url_are_found_in_one_bounded_look(
    ended: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = ended["crawl"]
    monkeypatch.setattr(log_search, "CHUNK", 1000)
    monkeypatch.setattr(log_search, "LOOK", 10_000)
    monkeypatch.setattr(log_search, "DISORDER", 0.02)
    lines = [line for line in crawl.lines() if line["outcome"] == "fetched"]
    lines.sort(key=lambda line: str(line["time"]))
    with looked_at(crawl.out) as look:
        parts = (look.known(), read_visits(crawl.out))
        urls = Urls(ArchivedCrawl(*parts, look.nodes, look.readings))
        # The state says when it was visited last, so an old visit is found as well as a new one.
        for line in (lines[0], lines[-1]):
            account = urls.why(line["url"], None)
            assert line["time"] in [row.time for row in account.visits]
        # Without one only the end of the log is looked at, and no more is claimed.
        copied = Urls(ArchivedCrawl(*parts, {}, {}))
        seen = [copied.why(line["url"], None).seen for line in (lines[0], lines[-1])]
        assert seen == [None, True]


@pytest.mark.parametrize("which", ["view", "copy"])
def test_history_grows_to_the_figures_of_the_end(
    which: str, ended: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    seen: Served = request.getfixturevalue(which)
    history = seen.get("/history", seconds=21_600)
    assert history["columns"]["pages"][0] == 0
    assert history["columns"]["pages"][-1] == ended["said"]["pages"]
    assert history["columns"]["bytes"][-1] == ended["said"]["bytes"]
    assert {name: row[-1] for name, row in history["outcomes"].items()} == ended["said"]["outcomes"]
    steps = {b - a for a, b in zip(history["times"], history["times"][1:], strict=False)}
    assert steps == {history["step"]}


def test_a_crawl_of_three_days_has_a_history_of_three_days(
    ended: dict[str, Any], tmp_path: Path
) -> None:
    crawl = ended["crawl"].copy(tmp_path / "long")
    begin, end = (moment.timestamp() for moment in crawl.stretch(timedelta(days=3)))
    with opened(crawl.out) as view:
        whole = view.get("/history", seconds=315_360_000)
        assert whole["oldest"] == whole["times"][0] == pytest.approx(begin, abs=whole["step"])
        assert whole["times"][-1] == pytest.approx(end, abs=2 * whole["step"])
        assert whole["columns"]["pages"][0] == 0
        assert whole["columns"]["pages"][-1] == ended["said"]["pages"]
        assert 3 * 86_400 / 1440 <= whole["step"] <= 600
        part = view.get("/history", seconds=6 * 3600)
        assert part["oldest"] == whole["oldest"]
        assert len(part["times"]) == pytest.approx(6 * 3600 / whole["step"], abs=3)
        assert part["columns"]["pages"] == whole["columns"]["pages"][-len(part["times"]) :]


def test_what_was_written_down_is_shown(view: Served) -> None:
    kinds = [event["kind"] for event in view.get("/events")["events"]]
    assert {"started", "setting", "seeds", "stopped"} <= set(kinds)
    (change,) = view.get("/settings/changes")
    assert change["values"][0]["name"] == "politeness.delay"
    rows = {row["name"]: row["value"] for row in view.get("/settings")["settings"]}
    assert rows["politeness.delay"] == "30ms"
    (submission,) = view.get("/seeds")["submissions"]
    fates = view.get(f"/seeds/{submission['id']}")["fates"]
    assert [fate["taken"] for fate in fates] == [True, False]
    assert fates[0]["outcome"] == "fetched"


CHANGES: list[tuple[str, str, object]] = [
    ("POST", "/commands", {"command": "pause"}),
    ("POST", "/commands", {"command": "stop"}),
    ("POST", "/nodes/standalone/pause", None),
    ("POST", "/hosts/a.test", {"action": "block"}),
    ("POST", "/patterns/take_up", {"host": "a.test"}),
    ("POST", "/seeds", {"urls": ["http://a.test/"]}),
    ("PATCH", "/settings", {"values": {"politeness.delay": "1s"}}),
    ("POST", "/settings/changes/1/undo", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_what_would_change_something_is_refused_with_the_command_that_goes_on(
    view: Served, method: str, path: str, body: object
) -> None:
    answer = view.ask(method, f"/api/v1{path}", body)
    assert (answer.status, answer.json["code"]) == (409, "read_only")
    assert f"gossamer crawl --resume --out {view.out}" in answer.json["detail"]


def test_no_command_is_offered(view: Served, copy: Served) -> None:
    for one in (view, copy):
        assert not any(row["available"] for row in one.get("/commands"))


def test_every_route_that_looks_answers(view: Served, copy: Served) -> None:
    for one in (view, copy):
        described = one.get("/openapi.json")["paths"]
        looking = [path for path, methods in described.items() if "get" in methods]
        for path in looking:
            if "{" in path or path.endswith("/stream"):
                continue
            of_url = path.endswith(("/urls", "/stored"))
            query = {"url": "http://a.test/"} if of_url else {}
            answer = one.ask("GET", f"{path}?{urllib.parse.urlencode(query)}")
            # Of a URL that was never met nothing is stored.
            expected = 404 if path.endswith("/stored") else 200
            assert answer.status == expected, (path, answer)


def test_who_watches_hears_every_second(view: Served) -> None:
    with contextlib.closing(
        socket.create_connection(("127.0.0.1", int(view.authority.split(":")[1])), 20)
    ) as line:
        line.sendall(
            f"GET /api/v1/stream HTTP/1.1\r\nHost: {view.authority}\r\nAuthorization: Bearer {view.token()}\r\n\r\n".encode()
        )
        heard = b""
        while heard.count(b"event: status") < 2:
            part = line.recv(65536)
            assert part, heard
            heard += part


def test_a_copy_without_a_state_is_shown_by_its_log(copy: Served, ended: dict[str, Any]) -> None:
    status = copy.get("/status")
    for name in ("pages", "bytes", "outcomes"):
        assert status[name] == ended["said"][name], name
    lines = ended["crawl"].lines()
    hosts = copy.get("/hosts", limit=100, sort="pages")["hosts"]
    assert {row["name"]: row["bytes"] for row in hosts} == dict(
        sum((Counter({line["host"]: line["bytes"]}) for line in lines), Counter())
    )
    first = copy.get("/hosts", limit=2, sort="pages")
    second = copy.get("/hosts", limit=2, sort="pages", cursor=first["next"])
    assert first["hosts"] + second["hosts"] == hosts[:4]
    check_the_other_way_round(copy)
    assert [row["name"] for row in copy.get("/hosts", search="^127.1.1.1")["hosts"]]
    assert copy.get(f"/hosts/{hosts[0]['name']}") == hosts[0]
    assert copy.ask("GET", "/api/v1/hosts/nobody.test").status == 404
    page = next(line for line in lines if line["outcome"] == "fetched")
    assert copy.get("/urls", url=page["url"])["visits"][0]["time"] == page["time"]
    assert [event["kind"] for event in copy.get("/events")["events"]] == ["started", "finished"]
    assert (
        "without its state"
        in copy.ask("POST", "/api/v1/commands", {"command": "pause"}).json["detail"]
    )


def test_looking_at_it_twice_names_where_it_is_open(view: Served) -> None:
    again = gossamer("open", view.out)
    assert again.returncode == 2
    assert f"is open already; see {view.url}" in again.stderr
    # Other commands ask who has it open.
    status = json.loads(gossamer("status", "--out", view.out, "--json").stdout)
    assert status["read_only"]
    assert gossamer("report", view.out).returncode == 0
    assert gossamer("patterns", view.out).returncode == 0
    assert gossamer("why", "http://a.test/", "--out", view.out).returncode == 0


def test_a_copy_made_while_it_is_open_is_not_open(view: Served, tmp_path: Path) -> None:
    """The address is copied too, and answers: for another directory."""
    out = tmp_path / "crawl"
    shutil.copytree(view.out, out)
    assert (out / "control" / "url").exists()
    assert json.loads(gossamer("report", out, "--json").stdout)["directory"] == str(out)
    with opened(out) as other:
        assert other.url != view.url


def test_a_port_that_is_taken_is_not_waited_for(ended: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    shutil.copytree(ended["crawl"].out, out)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        text = (out / "crawl.toml").read_text()
        assert "\nport = 0\n" in text
        (out / "crawl.toml").write_text(text.replace("\nport = 0\n", f"\nport = {port}\n"))
        named = gossamer("open", out, "--port", port)
        assert named.returncode == 1
        assert "--port" in named.stderr
        with opened(out, "--address", "127.0.0.1") as view:
            assert view.get("/status")["pages"] == ended["said"]["pages"]


def test_the_token_is_its_owners_alone(view: Served) -> None:
    assert stat.S_IMODE((view.control / "token").stat().st_mode) == 0o600
    assert view.ask("GET", "/api/v1/status", token=None).status == 401


def test_the_crawl_goes_on_afterwards(ended: dict[str, Any], tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    shutil.copytree(ended["crawl"].out, out)
    with opened(out) as view:
        before = view.get("/status")
    done = gossamer(
        "crawl", "--resume", "--out", out, "--json", "--max-pages", str(before["pages"])
    )
    assert done.returncode == 0, done.stderr
    now = json.loads(done.stdout)
    for name in ("pages", "urls_seen", "urls_queued", "outcomes"):
        assert now[name] == before[name], name
