"""What is kept of a log of any length: bounded tables that say when they were cut."""

import json
from pathlib import Path
from typing import Any

import pytest

from gossamer.library.fetch_log import LogReading, find_visits, last_moment
from gossamer.report import Known, build, read_visits
from gossamer.report.hosts import HostTable
from gossamer.report.no_robots import Standing, no_robots
from gossamer.report.timeline import Timeline


def line(host: str, second: float, outcome: str = "fetched", **more: object) -> str:
    """A line of a log as the crawler writes them."""
    row = {
        "time": f"2026-01-01T00:{int(second) // 60:02}:{second % 60:09.6f}Z", "url": f"http://{host}/{second}",
        "host": host, "ip": "127.0.0.1", "outcome": outcome, "status": 200, "bytes": 10, "ms": 5.0, "depth": 1,
        "from": f"http://{host}/", "digest": None,
    }  # fmt: skip
    return json.dumps(row | more) + "\n"


def written(tmp_path: Path, *lines: str, node: str | None = None) -> Path:
    folder = (tmp_path / "nodes" / node if node else tmp_path) / "log"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fetch-20260101000000-00000-x.jsonl").write_text("".join(lines))
    return tmp_path


def test_a_table_of_hosts_keeps_those_with_most_lines() -> None:
    table = HostTable(most=4)
    for name, lines in {"a": 9, "b": 1, "c": 7, "d": 2, "e": 3}.items():
        for _ in range(lines):
            row = table.of(name)
            row.lines += 1
            row.pages += 1
    assert table.cut
    assert [row.host for row in table.largest(3)] == ["a", "c", "e"]
    assert len(table) <= 4


def test_a_table_that_was_never_full_is_not_cut() -> None:
    table = HostTable(most=4)
    assert [table.of(name).host for name in "abcd"] == ["a", "b", "c", "d"]
    assert not table.cut


@pytest.mark.parametrize("order", [1, -1])
def test_steps_grow_with_the_crawl_and_lose_nothing(order: int) -> None:
    timeline = Timeline(most=10)
    for second in list(range(1000))[::order]:
        timeline.at(1_000_000 + second).pages += 1
    width, steps = timeline.steps()
    assert len(steps) <= 10
    assert width == 128
    assert sum(step.pages for _, step in steps) == 1000
    width, steps = timeline.steps(4)
    assert len(steps) <= 4
    assert sum(step.pages for _, step in steps) == 1000


def test_steps_without_a_visit_stand_among_the_others() -> None:
    timeline = Timeline()
    timeline.at(100).pages += 1
    timeline.at(105.9).pages += 2
    assert [step.pages for _, step in timeline.steps()[1]] == [1, 0, 0, 0, 0, 2]


def test_a_line_that_cannot_be_read_is_counted_and_passed_over(tmp_path: Path) -> None:
    out = written(
        tmp_path,
        line("a.test", 1),
        "no JSON\n",
        line("a.test", 2, time="never"),
        line("a.test", 3, ms=1e300),
        line("a.test", 4),
        line("a.test", 5)[:-20],
    )
    visits = read_visits(out)
    assert (visits.lines, visits.pages, visits.damaged) == (2, 2, 3)


def test_names_of_another_version_are_one(tmp_path: Path) -> None:
    rows = [line("a.test", n, outcome=f"odd{n}", left_out={f"odd{n}": 2}) for n in range(50)]
    visits = read_visits(written(tmp_path, *rows))
    assert visits.outcomes == {"unknown": 50}
    assert visits.left_out == {"unknown": 100}


def test_robots_files_sitemaps_and_probes_are_no_pages(tmp_path: Path) -> None:
    robots, index = "http://a.test/robots.txt", "http://a.test/index.xml"
    part = "http://a.test/part.xml.gz"
    named: dict[str, Any] = {"from": index, "depth": 1}
    out = written(
        tmp_path,
        line("a.test", 1, url=robots, purpose="robots"),
        line("a.test", 2, url=index, depth=0, purpose="sitemap", **{"from": robots}),
        line("a.test", 3, url=part, purpose="sitemap", **named),
        line("a.test", 4, url="http://a.test/page", **(named | {"from": part})),
        line("a.test", 5, outcome="gone", status=404, soft_404="probe"),
        line("a.test", 6, outcome="duplicate", status=None, ip=None, visited=False),
        line("b.test", 7, outcome="dns_not_found", status=None, ip=None, url="http://b.test/robots.txt", purpose="robots"),
        line("a.test", 8, url=robots),
    )  # fmt: skip
    visits = read_visits(out)
    # A visit is one also where nobody answered; a robots file that a page links to is a page as well.
    assert (visits.lines, visits.visits, visits.pages) == (8, 7, 2)
    assert visits.counts.apart() == {
        "robots_files": {"fetched": 1, "dns_not_found": 1}, "sitemaps": {"fetched": 2}, "probes": {"gone": 1},
        "unvisited": {"duplicate": 1},
    }  # fmt: skip
    assert visits.not_fetched() == {}


def test_a_log_that_does_not_tell_pages_from_others_is_noted(tmp_path: Path) -> None:
    def notes(out: Path) -> list[str]:
        return build(Known(out, False, False, None, None, ""), read_visits(out), None).notes

    old = written(tmp_path / "old", line("a.test", 1, url="http://a.test/robots.txt"))
    assert any("earlier version" in note for note in notes(old))
    new = written(
        tmp_path / "new", line("a.test", 1, url="http://a.test/robots.txt", purpose="robots")
    )
    assert notes(new) == []
    assert notes(written(tmp_path / "empty")) == []


def test_hosts_whose_robots_file_was_had_are_not_asked_for(tmp_path: Path) -> None:
    rules, moved = {"purpose": "robots"}, {"purpose": "robots", "outcome": "redirected"}
    out = written(
        tmp_path,
        line("had.test", 1, **rules),
        line("none.test", 2, outcome="gone", **rules),
        line("moved.test", 3, **moved),
        line("busy.test", 4, outcome="throttled", **rules),
        line("again.test", 5, **rules),
        line("again.test", 6, outcome="server_failed", **rules),
        line("done.test", 7, outcome="throttled", **rules),
    )
    states = {
        "moved.test": Standing(2, True, "throttled"),
        "busy.test": Standing(5, True, "throttled"),
        "again.test": Standing(1, True, None),
        "done.test": Standing(0, True, "throttled"),
    }
    asked: list[str] = []

    def ask(host: str) -> Standing | None:
        asked.append(host)
        return states.get(host)

    found = no_robots(read_visits(out).hosts.all(), ask)
    assert set(asked) == set(states)
    assert [(one.outcome, one.urls, one.hosts) for one in found] == [
        ("throttled", 7, ["busy.test", "moved.test"]),
        ("server_failed", 1, ["again.test"]),
    ]


def test_what_failed_first_and_was_fetched_then_is_not_missing(tmp_path: Path) -> None:
    again = {"url": "http://a.test/again"}
    out = written(
        tmp_path,
        line("a.test", 1, outcome="timed_out", status=None, **again),
        line("a.test", 2, **again),
        line("a.test", 3, outcome="timed_out", status=None, url="http://a.test/never"),
    )
    assert read_visits(out).not_fetched() == {"timed_out": 1}


def test_nodes_of_a_cluster_are_told_apart(tmp_path: Path) -> None:
    written(tmp_path, line("a.test", 1), line("b.test", 9), node="one")
    written(tmp_path, line("c.test", 5), node="two")
    visits = read_visits(tmp_path)
    assert {name: row.pages for name, row in visits.nodes.items()} == {"one": 2, "two": 1}
    assert (visits.ended or 0) - (visits.began or 0) == pytest.approx(8.005)
    assert last_moment(tmp_path) == pytest.approx(visits.ended)


def test_only_what_was_there_at_the_start_is_read(tmp_path: Path) -> None:
    out = written(tmp_path, line("a.test", 1))
    reading = LogReading(out)
    with next((out / "log").iterdir()).open("a") as log:
        log.write(line("a.test", 2))
    assert [one.url for one in reading] == ["http://a.test/1"]
    assert reading.done == reading.total


@pytest.mark.parametrize("url", ["http://a.test/x", 'http://a.test/"é'])
def test_visits_to_a_url_are_found_however_it_is_spelt_in_json(tmp_path: Path, url: str) -> None:
    rows = [line("a.test", n, url=url, bytes=n) for n in range(5)]
    robots = "http://a.test/robots.txt"
    out = written(tmp_path, line("a.test", 9, url=robots), *rows, "half a line", line("a.test", 7, url=url + "y"))  # fmt: skip
    found = find_visits(out, {url, robots, "http://a.test/none"}, 3)
    assert [one.bytes for one in found[url]] == [2, 3, 4]
    assert [len(found[other]) for other in (robots, "http://a.test/none")] == [1, 0]
