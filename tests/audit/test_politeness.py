"""Politeness judged on made-up visits: what real crawls rarely do."""

import pytest

from gossamer.audit.clock import steps
from gossamer.audit.lines import Visit
from gossamer.audit.politeness import Politeness
from gossamer.audit.records import Facts
from gossamer.audit.report import Report
from gossamer.library import LogLine
from gossamer.settings import CrawlSettings, check

SECOND = 1_000_000
HOST = "http://a.test"


def settings(**politeness: object) -> CrawlSettings:
    return check({"politeness": {"delay": "1s", **politeness}}, "test")


class World:
    def __init__(self, **politeness: object) -> None:
        self.report = Report()
        self.politeness = Politeness(settings(**politeness), self.report)

    def visit(
        self,
        url: str,
        start: float,
        took: float = 0.1,
        *,
        outcome: str = "fetched",
        status: int = 200,
        ip: str | None = "192.0.2.1",
        robots: bytes | None = None,
        **facts: str,
    ) -> None:
        begun = round(start * SECOND)
        host = url.split("/")[2]
        line = LogLine("", url, host, ip, outcome, status, 0, took * 1000, 0, None, None)
        visit = Visit(line, begun, begun + round(took * SECOND), f"{url} at {start}")
        record = Facts(
            where="", order=(0, 0), kind="response", uri=url, date="", ip=ip, status=status,
            digest=None, refers_to=None, retry_after=facts.get("retry_after"),
            location=facts.get("location"), robots=robots, body_length=0,
            server_date=facts.get("server_date"),
        )  # fmt: skip
        self.politeness.judge(visit, record)

    def open_host(self, start: float = 0.0, host: str = HOST, body: bytes = b"") -> None:
        self.visit(f"{host}/robots.txt", start, robots=body)

    @property
    def found(self) -> dict[str, int]:
        return dict(self.report.counts)


def test_the_gap_is_from_the_end_of_a_visit_and_exact() -> None:
    world = World()
    world.open_host()
    world.visit(f"{HOST}/1", 1.1, took=2)
    world.visit(f"{HOST}/2", 4.1)
    assert world.found == {}
    world.visit(f"{HOST}/3", 5.195)
    assert world.found == {"early_host": 1, "early_address": 1}


def test_crawl_delay_lengthens_the_gap_and_is_cut() -> None:
    world = World(max_crawl_delay="5s", address_delay="0s")
    world.open_host(body=b"User-agent: *\nCrawl-delay: 3\n")
    world.visit(f"{HOST}/1", 3.1)
    assert world.found == {}
    world.visit(f"{HOST}/2", 6.0)
    assert world.found == {"early_host": 1}
    cut = World(max_crawl_delay="2s", address_delay="0s")
    cut.open_host(body=b"User-agent: *\nCrawl-delay: 3\n")
    cut.visit(f"{HOST}/1", 2.1)
    assert cut.found == {}


def test_a_host_with_a_gap_of_its_own() -> None:
    world = World(overrides={"a.test": "5s"}, address_delay="0s")
    world.open_host()
    world.visit(f"{HOST}/1", 5.1)
    world.visit(f"{HOST}/2", 9.0)
    assert world.found == {"early_host": 1}


def test_two_hosts_on_one_address_take_turns() -> None:
    world = World()
    world.open_host()
    world.open_host(1.1, "http://b.test")
    assert world.found == {}
    world.visit(f"{HOST}/1", 2.2)
    world.visit("http://b.test/1", 2.9)
    assert world.found == {"early_address": 1}


def test_the_first_visit_to_an_address_is_judged_by_its_end() -> None:
    # The name was resolved while the gap ran out; the connection came after.
    world = World()
    world.open_host()
    world.visit("http://b.test/robots.txt", 0.5, took=0.7, robots=b"")
    assert world.found == {}
    world.visit("http://c.test/robots.txt", 1.3, took=0.1, robots=b"")
    assert world.found == {"early_address": 1}


def test_per_host_connections_are_counted() -> None:
    world = World(per_host=2)
    world.open_host()
    # In the order of their ends, as in the log.
    world.visit(f"{HOST}/2", 2.0, took=1)
    world.visit(f"{HOST}/1", 1.0, took=5)
    world.visit(f"{HOST}/3", 4.0, took=2.5)
    assert world.found == {}
    world.visit(f"{HOST}/4", 5.0, took=2)
    assert world.found == {"overlap_host": 1, "overlap_address": 1}


def test_a_crawl_delay_allows_one_connection_from_when_it_is_known() -> None:
    world = World(per_host=2, delay="0s")
    world.open_host()
    world.open_host(1.0, body=b"User-agent: *\nCrawl-delay: 2\n")
    # Began before the site said so, and goes on beside.
    world.visit(f"{HOST}/1", 0.5, took=3)
    assert world.found == {}
    world.visit(f"{HOST}/2", 5.5, took=1)
    assert world.found == {}
    world.visit(f"{HOST}/3", 8.0)
    assert world.found == {"early_host": 1}


def test_retry_after_in_seconds_and_as_a_date() -> None:
    for text in ("10", "10.5", "Thu, 01 Jan 1970 00:00:11 GMT"):
        world = World()
        world.open_host()
        world.visit(f"{HOST}/1", 1.2, outcome="throttled", status=503, retry_after=text)
        world.visit(f"{HOST}/2", 9.9)
        assert world.found == {"retry_after": 1}, text
        patient = World()
        patient.open_host()
        patient.visit(f"{HOST}/1", 1.2, outcome="throttled", status=429, retry_after=text)
        patient.visit(f"{HOST}/2", 11.4)
        assert patient.found == {}, text


def test_a_date_is_by_the_clock_of_the_server() -> None:
    world = World()
    world.open_host()
    until = "Fri, 02 Jan 1970 00:00:10 GMT"
    world.visit(
        f"{HOST}/1", 1.2, outcome="throttled", status=503, retry_after=until,
        server_date="Fri, 02 Jan 1970 00:00:00 GMT",
    )  # fmt: skip
    world.visit(f"{HOST}/2", 11.4)
    assert world.found == {}
    world.visit(
        f"{HOST}/3", 12.6, outcome="throttled", status=503, retry_after=until,
        server_date="Fri, 02 Jan 1970 00:00:00 GMT",
    )  # fmt: skip
    world.visit(f"{HOST}/4", 20.0)
    assert world.found == {"retry_after": 1}


@pytest.mark.parametrize("text", ["soon", "-5", "", "9" * 400, "Sat, 99 Foo 99999 99:99:99 GMT"])
def test_odd_retry_after_is_survived(text: str) -> None:
    world = World()
    world.open_host()
    world.visit(f"{HOST}/1", 1.2, outcome="throttled", status=503, retry_after=text)
    world.visit(f"{HOST}/2", 90_000.0)
    assert set(world.found) <= {"robots_stale"}


def test_rules_hold_from_the_moment_they_are_known() -> None:
    world = World()
    world.visit(f"{HOST}/1", 0.0)
    assert world.found == {"robots_first": 1}
    world.open_host(2.0, body=b"User-agent: *\nDisallow: /x\n")
    world.visit(f"{HOST}/1", 4.0)
    assert world.found == {"robots_first": 1}
    world.visit(f"{HOST}/x", 6.0)
    assert world.found == {"robots_first": 1, "robots_forbidden": 1}
    world.open_host(8.0, body=b"")
    world.visit(f"{HOST}/x", 10.0)
    assert world.found["robots_forbidden"] == 1


def test_rules_are_of_a_scheme() -> None:
    world = World()
    world.open_host()
    world.visit("https://a.test/1", 2.0)
    assert world.found == {"robots_first": 1}


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("/sitecore modules/", "/sitecore%20modules/a"),
        ("/wiki/Special%3A", "/wiki/Special:Search"),
        ("/*?f%5B0%5D=", "/shop?f[0]=red"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
    ],
)
@pytest.mark.parametrize("charset", ["utf-8", "utf-16"])
def test_rules_hold_for_every_spelling_of_a_path(rule: str, path: str, charset: str) -> None:
    world = World()
    world.open_host(body=f"User-agent: *\nDisallow: {rule}\n".encode(charset))
    world.visit(f"{HOST}{path}", 2.0)
    assert world.found == {"robots_forbidden": 1}


def test_a_missing_robots_file_allows_all_and_an_unreachable_one_nothing() -> None:
    world = World()
    world.visit(f"{HOST}/robots.txt", 0, outcome="gone", status=404)
    world.visit(f"{HOST}/1", 2.0)
    assert world.found == {}
    world.visit("http://b.test/robots.txt", 4.0, outcome="server_failed", status=500)
    world.visit("http://b.test/1", 6.0)
    assert world.found == {"robots_first": 1}


def test_old_rules_are_stale() -> None:
    world = World(robots_refresh="1h")
    world.open_host()
    world.visit(f"{HOST}/1", 3_600.0)
    assert world.found == {}
    world.visit(f"{HOST}/2", 4_000.0)
    assert world.found == {"robots_stale": 1}


def test_a_robots_file_that_moved_holds_for_the_host_that_was_asked() -> None:
    world = World()
    moved = f"{HOST}/elsewhere"
    world.visit(f"{HOST}/robots.txt", 0, outcome="redirected", status=301, location="/elsewhere")
    world.visit(moved, 2.0, robots=b"User-agent: *\nDisallow: /x\n")
    world.visit(f"{HOST}/1", 4.0)
    assert world.found == {}
    world.visit(f"{HOST}/x", 6.0)
    assert world.found == {"robots_forbidden": 1}


def test_pages_before_a_moved_robots_file_was_read() -> None:
    world = World()
    world.visit(f"{HOST}/robots.txt", 0, outcome="redirected", status=301, location="/elsewhere")
    world.visit(f"{HOST}/1", 2.0)
    assert world.found == {"robots_first": 1}


def ends(*seconds: float) -> list[int | None]:
    lines = [
        Visit(LogLine("", "", "", None, "gone", 404, 0, 0, 0, None, None), 0, round(s * SECOND), "")
        for s in seconds
    ]
    return [step.set_back for step in steps((line, None) for line in lines)]


def test_a_clock_set_back_is_told_from_an_odd_line() -> None:
    assert ends(10, 11, 12, 5, 6, 7, 8) == [None, None, None, 7 * SECOND, None, None, None]
    assert ends(10, 11, 5, 12, 13, 14) == [None] * 6
    assert ends(10, 10.5, 9.8, 9.9, 10.1, 10.4) == [None] * 6
    assert ends(10, 11, 12, 5) == [None] * 4
