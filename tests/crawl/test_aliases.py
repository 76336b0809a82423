"""Names and addresses, end to end: aliases are found and undone, other hosts are left alone.

What is true of the hosts (who mirrors whom, at which addresses) comes from the simulated web, and
what was asked for from its log.
"""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from tests.crawl.crawling import MANY_COMMITS, until

from gossamer.simweb import Options, SimWeb, serve, truth

HOSTS = 12
COMMAND = [sys.executable, "-m", "gossamer.cli.main"]
SLACK = 3_000_000
"""Visits under way when an alias is found may still end, in microseconds."""


def _gossamer(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=300
    )


def _done(*arguments: str | Path) -> dict[str, Any]:
    done = _gossamer(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _crawl(web: SimWeb, out: Path, *more: str) -> dict[str, Any]:
    servers = json.dumps([f"127.0.0.1:{web.dns_port}"])
    return _done(
        "crawl",
        web.url,
        "--scope",
        "any",
        "--allow-private",
        "--out",
        out,
        "--set",
        f"dns.servers={servers}",
        *more,
    )


def _logged(web: SimWeb, log: Path) -> None:
    """The server writes its log a moment after the requests."""
    until(lambda: log.read_bytes().count(b"\n") >= web.requests(), "the log to be written")


class Request(NamedTuple):
    time: int
    url: str
    host: str


def _requests(log: Path) -> list[Request]:
    """Requests for pages, from the log of the simulated web."""
    found = []
    for line in log.read_text().splitlines():
        time, _, host, path, _ = line.split(" ")
        if path != "/robots.txt":
            found.append(Request(int(time), f"http://{host}{path}", host))
    return found


def _fetch_log(out: Path) -> list[dict[str, Any]]:
    lines = []
    for file in sorted((out / "log").iterdir()):
        lines += [json.loads(line) for line in file.read_text().splitlines()]
    return lines


class Crawled(NamedTuple):
    web: SimWeb
    out: Path
    log: Path
    classes: dict[str, int]
    """What is the same at all times, by URL, for pages that can be had."""
    sites: dict[str, str]
    """The host that each host's pages come from: itself, or the one it mirrors."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("aliases")
    options = Options(
        hosts=HOSTS,
        pages=HOSTS * 120,
        port=0,
        host_skew=0.0,
        names=True,
        mirrors=0.4,
        shared_address=0.4,
        multi_address=0.4,
    )
    log = folder / "requests.log"
    with serve(options, log=log, dns_port=0) as web:
        rows = list(truth(web.options).rows())
        classes = {row.url: row.duplicate_class for row in rows if row.duplicate_class is not None}
        mirrored = {row.url for row in rows if row.mirror}
        owner = {
            number: urlsplit(url).netloc for url, number in classes.items() if url not in mirrored
        }
        sites = {urlsplit(url).netloc: owner[number] for url, number in classes.items()}
        out = folder / "out"
        # Slow enough that aliases are found, on any machine, before everything was visited.
        _crawl(web, out, "--delay", "10ms", *MANY_COMMITS)
        _logged(web, log)
        yield Crawled(web, out, log, classes, sites)


def _mirrors(crawled: Crawled) -> set[str]:
    return {host for host, site in crawled.sites.items() if host != site}


def test_the_web_has_what_is_told_apart(crawled: Crawled) -> None:
    assert len(crawled.sites) == HOSTS
    assert len(_mirrors(crawled)) >= 2
    model = truth(crawled.web.options).model
    addresses = [model.addresses(host) for host in range(HOSTS)]
    assert any(len(found) > 1 for found in addresses)
    first = [found[0] for found in addresses]
    assert len(set(first)) < len(first)


def test_mirrors_are_found_and_no_other_host(crawled: Crawled) -> None:
    found = _done("aliases", crawled.out)["aliases"]
    for alias in found:
        kept = urlsplit(alias["of"]).netloc
        assert alias["host"] != kept
        assert crawled.sites[alias["host"]] == crawled.sites[kept]
        assert alias["agreements"] >= (8 if alias["shared_address"] else 16)
    # Of the names of each site one is left.
    left = set(crawled.sites) - {alias["host"] for alias in found}
    assert sorted(crawled.sites[host] for host in left) == sorted(set(crawled.sites.values()))


def test_an_alias_is_not_visited_any_more_but_for_samples(crawled: Crawled) -> None:
    aliases = _done("aliases", crawled.out)["aliases"]
    found = {alias["host"]: alias["time"] for alias in aliases}
    requests = _requests(crawled.log)
    later = Counter(
        request.host
        for request in requests
        if request.host in found and request.time > found[request.host] + SLACK
    )
    samples = {alias["host"]: alias["samples"] for alias in aliases}
    assert all(number <= samples[host] for host, number in later.items())
    for host in found:
        pages = sum(urlsplit(url).netloc == host for url in crawled.classes)
        assert samples[host] <= 4 + pages / 8
        assert len({request.url for request in requests if request.host == host}) < pages


def test_no_content_is_lost(crawled: Crawled) -> None:
    had = {
        crawled.classes[request.url]
        for request in _requests(crawled.log)
        if request.url in crawled.classes
    }
    assert had == set(crawled.classes.values())


def test_what_was_left_out_is_logged_once(crawled: Crawled) -> None:
    found = {alias["host"] for alias in _done("aliases", crawled.out)["aliases"]}
    left_out = [
        line["url"]
        for line in _fetch_log(crawled.out)
        if line["outcome"] == "duplicate" and line.get("status") is None
    ]
    assert left_out
    assert len(set(left_out)) == len(left_out)
    assert {urlsplit(url).netloc for url in left_out} <= found


def test_why_names_the_other_host(crawled: Crawled) -> None:
    alias = _done("aliases", crawled.out)["aliases"][0]
    url = f"http://{alias['host']}/"
    assert _done("why", url, "--out", crawled.out)["alias"] == alias
    assert alias["of"] in _gossamer("why", url, "--out", crawled.out).stdout
    assert _done("why", f"{alias['of']}/", "--out", crawled.out)["alias"] is None


def test_a_finding_can_be_undone(crawled: Crawled) -> None:
    host = _done("aliases", crawled.out)["aliases"][0]["host"]
    lines = [line for line in _fetch_log(crawled.out) if line["host"] == host]
    left_out = {
        line["url"]
        for line in lines
        if line["outcome"] == "duplicate" and line.get("status") is None
    }
    # Samples were visited all the same.
    left_out -= {line["url"] for line in lines if line.get("status") is not None}
    assert left_out
    before = len(_requests(crawled.log))
    after = _done("aliases", crawled.out, "--undo", host)
    assert host not in {alias["host"] for alias in after["aliases"]}
    assert [alias["host"] for alias in after["undone"]] == [host]
    _crawl(crawled.web, crawled.out, "--resume", "--delay", "0")
    _logged(crawled.web, crawled.log)
    asked = {request.url for request in _requests(crawled.log)[before:]}
    assert {url for url in asked if urlsplit(url).netloc == host} >= left_out
    again = _done("aliases", crawled.out)
    assert host not in {alias["host"] for alias in again["aliases"]}
    assert [alias["host"] for alias in again["undone"]] == [host]
    audit = _gossamer("audit", crawled.out)
    assert audit.returncode == 0, audit.stdout + audit.stderr


def test_undoing_what_is_no_alias_is_refused(crawled: Crawled) -> None:
    done = _gossamer("aliases", crawled.out, "--undo", "nobody.sim.test")
    assert done.returncode == 2
    assert "nobody.sim.test" in done.stderr


def test_it_can_be_switched_off(crawled: Crawled, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _crawl(crawled.web, out, "--delay", "0", "--set", "alias.enabled=false")
    assert _done("aliases", out) == {"aliases": [], "undone": []}
    hosts = {line["host"] for line in _fetch_log(out) if line.get("status")}
    assert hosts == set(crawled.sites)


def test_names_at_one_address_share_its_gap_and_a_rotated_name_has_one(tmp_path: Path) -> None:
    """The log's times are of arrival, so a gap may look a little shorter than it was kept."""
    gap, blur = 30_000, 5_000
    options = Options(
        hosts=8,
        pages=160,
        port=0,
        host_skew=0.0,
        names=True,
        shared_address=0.5,
        multi_address=0.5,
    )
    log = tmp_path / "requests.log"
    with serve(options, log=log, dns_port=0) as web:
        model = truth(web.options).model
        _crawl(web, tmp_path / "out", "--delay", "30ms")
        names = {f"h{host}.sim.test:{web.port}": model.addresses(host) for host in range(8)}
    assert _done("aliases", tmp_path / "out")["aliases"] == []
    requests = _requests(log)
    assert {request.host for request in requests} == set(names)
    by_host = defaultdict(list)
    by_address = defaultdict(list)
    for request in requests:
        by_host[request.host].append(request.time)
        # Only where the name has one address does its log line tell which was used.
        if len(names[request.host]) == 1:
            by_address[names[request.host][0]].append(request.time)
    assert any(len(found) > 1 for found in names.values())
    single = [found[0] for found in names.values() if len(found) == 1]
    assert len(set(single)) < len(single)
    for times in [*by_host.values(), *by_address.values()]:
        assert all(after - before >= gap - blur for before, after in pairwise(sorted(times)))
