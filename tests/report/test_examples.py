"""URLs that a report names for each outcome."""

from gossamer.library import LogLine
from gossamer.report.examples import SHOWN, Examples


def line(url: str, outcome: str, purpose: str | None = None) -> LogLine:
    return LogLine(
        time="2026-01-01T00:00:00Z", url=url, host="a.test", ip=None, outcome=outcome, status=None, bytes=0, ms=1.0,
        depth=0, from_url=None, digest=None, purpose=purpose,
    )  # fmt: skip


def filled(*lines: LogLine) -> Examples:
    examples = Examples()
    for one in lines:
        examples.add(one, one.outcome)
    return examples


def test_a_url_is_named_for_its_last_outcome_only() -> None:
    examples = filled(
        line("http://a.test/1", "timed_out"),
        line("http://a.test/1", "server_failed"),
        line("http://a.test/2", "timed_out"),
        line("http://a.test/2", "fetched"),
        line("http://a.test/robots.txt", "timed_out", "robots"),
    )
    assert examples.of("server_failed") == ["http://a.test/1"]
    assert examples.of("timed_out") == []
    assert examples.of("gone") == []


def test_the_last_ones_are_named() -> None:
    urls = [f"http://a.test/{number}" for number in range(10)]
    examples = filled(*(line(url, "gone") for url in urls))
    assert examples.of("gone") == urls[-SHOWN:]
