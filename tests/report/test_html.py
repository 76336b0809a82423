"""The HTML report: one file, no script, nothing from outside, and nothing of the web in it unescaped."""

import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console
from tests.report.test_counting import line, written

from gossamer.report import Known, as_html, build, read_visits, show
from gossamer.report.content import Content
from gossamer.report.markup import Html, tag, web
from gossamer.report.model import Report
from gossamer.settings import CrawlSettings

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a.test\x1b[31m\u202e.evil", "[bold red]x[/bold red]",
    "</style></svg><iframe src=//evil.test>", "javascript:alert(1)", "&lt;b&gt;",
]  # fmt: skip
TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "span", "div", "section", "figure",
    "figcaption", "svg", "rect", "line", "table", "thead", "tbody", "tr", "th", "td", "bdi", "code", "dl", "dt", "dd",
    "details", "summary", "footer",
}  # fmt: skip


class Parsed(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def hostile(tmp_path: Path) -> Report:
    rows = []
    for number, name in enumerate(HOSTILE):
        more = {"url": f"http://{name}/", "from": name, "reason": name}
        rows.append(line(name, number, outcome="fetched", **more))
        rows.append(line(name, number, outcome="server_failed", **more))
        rows.append(line(name, number, outcome="rule_dropped", **more))
        rows.append(line(name, number, outcome=name, left_out={name: 1}, robots=name))
    out = written(tmp_path / HOSTILE[4].replace("/", "_"), *rows)
    settings = CrawlSettings.model_validate({"fetch": {"contact": HOSTILE[0]}})
    known = Known(out, False, False, settings, None, f"gossamer {HOSTILE[0]}", [HOSTILE[1]])
    content = Content(3, True, dict.fromkeys(HOSTILE, 1), dict.fromkeys(HOSTILE, 1), 3)
    return build(known, read_visits(out), content)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    page = as_html(hostile(tmp_path))
    parsed = Parsed(page)
    assert parsed.open == []
    assert parsed.tags <= TAGS
    assert not {
        name for name in parsed.attributes if name.startswith("on") or name in {"src", "href"}
    }
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    text = "".join(parsed.text)
    for name in (HOSTILE[0], HOSTILE[1], HOSTILE[3], HOSTILE[6]):
        assert name in text
    # The only addresses are of the crawl; nothing is loaded from anywhere.
    assert "url(" not in page
    assert "@import" not in page


def test_hostile_names_do_not_reach_a_terminal_raw(tmp_path: Path) -> None:
    console = Console(width=80, record=True, file=io.StringIO(), force_terminal=True)
    show(hostile(tmp_path), console)
    said = console.export_text()
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert HOSTILE[3] in said


def test_only_html_is_not_escaped() -> None:
    assert tag("p", "<b>") == "<p>&lt;b&gt;</p>"
    assert tag("p", Html("<b></b>")) == "<p><b></b></p>"
    assert tag("p", title='"x"', class_=None) == '<p title="&quot;x&quot;"></p>'
    assert web("a\x00\u2028b") == '<bdi class="web">a\\x00\\u2028b</bdi>'


def test_outcomes_by_host_are_bars_that_come_to_all_lines(tmp_path: Path) -> None:
    rows = []
    for number in range(14):
        rows += [line(f"h{number:02}.test", 10 * number + n) for n in range(20 - number)]
    rows += [line("h00.test", 300 + n, outcome="server_failed", status=500) for n in range(3)]
    rows += [line("h00.test", 400, outcome="robots_refused", status=None, ip=None, visited=False)]
    out = written(tmp_path, *rows)
    page = as_html(build(Known(out, False, False, None, None, ""), read_visits(out), None))
    assert "Outcomes by host" in page
    bars = re.findall(r'<svg[^>]*aria-label="done (\d+), refused (\d+), failed (\d+)"', page)
    sums = [sum(map(int, bar)) for bar in bars]
    # The busiest first, and one bar for all that are not named.
    assert bars[0] == ("20", "1", "3")
    assert sums == [24, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10 + 9 + 8 + 7]
    assert sum(sums) == len(rows)
    widths = [float(width) for width in re.findall(r'y="0" width="([\d.]+)" height="10"', page)]
    # A bar is as wide as all others; its parts are shares.
    assert sum(widths) == pytest.approx(100 * len(bars), abs=0.1)
    assert "all other hosts" in page


def test_lists_of_hosts_refusals_and_duplicates_have_bars(tmp_path: Path) -> None:
    out = written(
        tmp_path,
        line("a.test", 1, ms=500.0),
        line("a.test", 2, outcome="duplicate", ms=100.0),
        line("b.test", 3, outcome="server_failed", status=500),
        line("b.test", 4, outcome="rule_dropped", status=None, ip=None, visited=False, reason="rule 1"),
    )  # fmt: skip
    page = as_html(build(Known(out, False, False, None, None, ""), read_visits(out), None))
    cards = dict(
        re.findall(r'<section class="card"><h2>([^<]+)</h2>(.*?)</section>', page, re.DOTALL)
    )
    titles = (
        "Slowest hosts",
        "Largest sites",
        "Hosts with most failures",
        "Refused, by rule or reason",
        "Duplicates",
    )
    for title in titles:
        assert 'class="bar ' in cards[title], title


def test_an_empty_log_is_a_report_too(tmp_path: Path) -> None:
    out = written(tmp_path)
    known = Known(out, False, False, None, None, "")
    report = build(known, read_visits(out), None)
    assert Parsed(as_html(report)).open == []
    assert (report.pages, report.state) == (0, "unknown")
    show(report, Console(width=80, file=io.StringIO()))
