"""Policies of a package outside the tree in a standalone crawl; effects are judged from outside."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.crawl.crawling import Crawl, expected
from tests.policy.crawls import WEB, fields, make, number, requests, why

from gossamer.simweb import SimWeb, serve

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def web_log(tmp_path: Path) -> Path:
    return tmp_path / "requests.log"


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    with serve(WEB, log=web_log) as server:
        yield server


def run(web: SimWeb, tmp_path: Path, package: Path, settings: dict[str, Any], *more: str) -> Crawl:
    crawl = make(web, tmp_path / "out", package, settings, *more)
    assert crawl.run() == 0, crawl.said()
    return crawl


def test_pages_are_dropped_marked_and_lead_further(
    web: SimWeb, web_log: Path, tmp_path: Path, package: Path
) -> None:
    settings = {
        "doors": {"pages": ["marking", "second"]},
        "policy": {"marking": {"link": "/from-the-policy"}},
    }
    crawl = run(web, tmp_path, package, settings)
    web.stop()
    wanted = expected(web)
    dropped = {url for url in wanted if number(url) % 5 == 4}
    assert dropped
    stored = {url for url in crawl.stored() if url in wanted}
    assert stored == wanted - dropped
    # The links of dropped pages were followed all the same: every page was asked for.
    asked = {f"http://{host}{path}" for host, rows in requests(web_log).items() for _, path in rows}
    assert wanted <= asked
    hosts = {urlsplit(url).netloc for url in wanted}
    assert {f"http://{host}/from-the-policy" for host in hosts} <= asked
    given = {url: table for url, table in fields(crawl.out).items() if url in wanted}
    assert set(given) == stored
    for table in given.values():
        assert table["outlinks"] > 0
        assert table["heading"]
        assert table["length"] > 0
    assert "its number is not wanted" in why(crawl.out, min(dropped), package)


def test_the_order_is_changed(web: SimWeb, web_log: Path, tmp_path: Path, package: Path) -> None:
    crawl = run(web, tmp_path, package, {"doors": {"order": "favoured"}})
    crawl.check_complete()
    web.stop()
    even: list[float] = []
    odd: list[float] = []
    for rows in requests(web_log).values():
        for place, (_, path) in enumerate(rows):
            # The front page of a host has no number.
            if path != "/":
                (odd if number(path) % 2 else even).append(place / len(rows))
    # In the usual order both are the same.
    assert fmean(even) < fmean(odd) - 0.2


def test_a_page_is_visited_again(web: SimWeb, web_log: Path, tmp_path: Path, package: Path) -> None:
    # Exact sets: an answer counts however long a busy machine takes for it.
    settings = {
        "doors": {"refresh": "twice", "patience": "60s"},
        "policy": {"twice": {"after": 0.5}},
    }
    crawl = run(web, tmp_path, package, settings)
    web.stop()
    times = Counter(
        f"http://{host}{path}" for host, rows in requests(web_log).items() for _, path in rows
    )
    wanted = expected(web)
    twice = {url for url in wanted if number(url) % 3 == 0}
    assert {url for url in wanted if times[url] == 2} == twice
    assert {url for url in wanted if times[url] == 1} == wanted - twice
    visits = Counter(line["url"] for line in crawl.logged())
    assert all(visits[url] == 2 for url in twice)


def test_a_host_is_slowed_and_one_is_given_up(
    web: SimWeb, web_log: Path, tmp_path: Path, package: Path
) -> None:
    hosts = sorted({urlsplit(url).netloc for url in expected(web)} - {urlsplit(web.url).netloc})
    slow, left = hosts[0], hosts[1]
    settings = {
        "doors": {"hosts": "lazy", "hosts_every": "100ms"},
        "policy": {"lazy": {"slow": slow, "leave": left, "delay": 0.3}},
    }
    # However slowly a busy machine answers, the gap of the others is that of the settings.
    options = ("--delay", "40ms", "--set", "politeness.response_factor=0")
    crawl = run(web, tmp_path, package, settings, *options)
    web.stop()
    rows = requests(web_log)
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(rows[slow])]
    # A policy is asked after the first visits; from then on the gap is its own.
    assert sum(gap >= 0.299 for gap in gaps) > 0.5 * len(gaps)
    others = [
        later - earlier
        for host in hosts[2:]
        for (earlier, _), (later, _) in pairwise(rows[host])
    ]  # fmt: skip
    assert fmean(others) < 0.2
    pages = [url for url in expected(web) if urlsplit(url).netloc == left]
    assert len(rows[left]) < len(pages)
    assert "left by choice" in why(crawl.out, pages[-1], package)


def test_a_rule_drops_and_is_named(
    web: SimWeb, web_log: Path, tmp_path: Path, package: Path
) -> None:
    rule = {
        "name": "no recipes",
        "match": {"path_prefix": "/recipe/"},
        "drop": "recipes are not wanted",
    }
    crawl = run(web, tmp_path, package, {"rule": [rule], "doors": {"order": "favoured"}})
    web.stop()
    unwanted = [url for url in expected(web) if "/recipe/" in url]
    assert unwanted
    assert not any(path.startswith("/recipe/") for rows in requests(web_log).values()
                   for _, path in rows)  # fmt: skip
    told = next(
        text for url in sorted(unwanted) if "no recipes" in (text := why(crawl.out, url, package))
    )
    assert "recipes are not wanted" in told


@pytest.mark.parametrize("how", ["raise", "hang", "nonsense"])
def test_bad_policies_at_every_door_stop_nothing(
    web: SimWeb, tmp_path: Path, package: Path, how: str
) -> None:
    names = {door: f"bad-{door}" for door in ("order", "refresh", "hosts")}
    settings = {
        "doors": {
            **names, "pages": ["bad-pages"], "hosts_every": "50ms",
            "patience": "300ms", "pages_patience": "500ms",
        },
        "policy": {f"bad-{door}": {"how": how} for door in ("pages", "order", "refresh", "hosts")},
    }  # fmt: skip
    crawl = run(web, tmp_path, package, settings)
    crawl.check_complete()
    kind = {"raise": "raised", "hang": "late", "nonsense": "nonsense"}[how]
    counter = "failed" if how == "raise" else kind
    for door in ("pages", "order", "refresh"):
        words = f"warning policy: policy failed  door={door} policy=bad-{door} kind={kind} error="
        assert words in crawl.said()
    if how == "raise":
        assert crawl.said().count("Traceback") == len([*names, "pages"])
        assert "raised on purpose" in crawl.said()
    doors = crawl.summary()["doors"]
    assert isinstance(doors, dict)
    for door in ("pages", "order", "refresh"):
        assert doors[door][counter] > 0
        assert doors[door]["batches"] == 0


def test_a_policy_that_is_not_there_is_wrong_use(
    web: SimWeb, tmp_path: Path, package: Path
) -> None:
    crawl = make(web, tmp_path / "out", package, {"doors": {"order": "favored"}})
    assert crawl.run() == 2
    assert "doors.order: no policy favored is installed (did you mean favoured?)" in crawl.said()
    # Nothing was begun: with the right name the same command works.
    assert not crawl.out.exists()


RAISING = {"doors": {"order": "bad-order"}, "policy": {"bad-order": {"how": "raise"}}}


def test_the_log_is_json_where_a_program_reads_it(
    web: SimWeb, tmp_path: Path, package: Path
) -> None:
    crawl = run(web, tmp_path, package, RAISING, "--log-json")
    # The summary, for people, is the last that is said.
    told = [json.loads(line) for line in crawl.said().splitlines() if line.startswith("{")]
    assert crawl.said().startswith("{")
    assert [(one["part"], one["policy"]) for one in told] == [("policy", "bad-order")]
    assert told[0]["exception"].endswith("RuntimeError: raised on purpose\n")
    assert "crawling:" not in crawl.said()


def test_failures_below_the_level_are_not_logged(
    web: SimWeb, tmp_path: Path, package: Path
) -> None:
    crawl = run(web, tmp_path, package, RAISING, "--log-level", "error")
    assert "policy failed" not in crawl.said()


def test_log_lines_and_the_panel_share_a_terminal(
    web: SimWeb, tmp_path: Path, package: Path
) -> None:
    crawl = make(web, tmp_path / "out", package, RAISING)
    code, said = crawl.run_on_a_terminal()
    assert code == 0
    assert "URLs known" in said
    lines = said.splitlines()
    (place,) = [place for place, line in enumerate(lines) if "policy: policy failed" in line]
    # A whole line, with its trace below, none of the panel's between them.
    assert lines[place].rstrip().endswith('error="RuntimeError: raised on purpose"')
    assert lines[place + 1].rstrip() == "    Traceback (most recent call last):"
    assert "    RuntimeError: raised on purpose" in [line.rstrip() for line in lines[place:]]
