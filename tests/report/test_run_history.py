"""The runs of a crawl in its report: what `runs.jsonl` says, in words, bounded, and harmless."""

import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from tests.audit.crawls import gossamer
from tests.report.test_counting import line, written
from tests.report.test_html import HOSTILE, TAGS, Parsed

from gossamer.library.runs import RUNS, Kind, read_runs
from gossamer.report import Known, Report, as_html, build, read_visits, show
from gossamer.simweb import Options, serve

DAY = 86_400
BEGUN = 1_767_261_600
"""2026-01-01 10:00:00 UTC"""


def noted(out: Path, *runs: tuple[str, int], kind: Kind = "crawl", error: str = "") -> None:
    """Runs that ended so, each a day after the other and a minute and a half long, with these pages in all."""
    before, lines = 0, []
    for number, (state, pages) in enumerate(runs):
        begun = BEGUN + number * DAY
        lines.append(
            {"what": "begin", "time": begun, "kind": kind, "resumed": number > 0, "pages": before, "version": "1"}
        )  # fmt: skip
        if state != "killed":
            lines.append(
                {"what": "end", "time": begun + 90, "state": state, "pages": pages, "error": error}
            )
        before = pages
    (out / RUNS).write_text("".join(json.dumps(one) + "\n" for one in lines))


def report_of(out: Path, *, pages: int | None = None) -> Report:
    known = Known(out, False, False, None, None, "", runs=read_runs(out, pages=pages))
    return build(known, read_visits(out), None)


def said(report: Report) -> str:
    console = Console(width=80, file=io.StringIO())
    show(report, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def test_real_runs_are_told_as_text_as_json_and_as_html(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    with serve(Options(hosts=4, pages=60, port=0)) as web:
        usual = ["--scope", "any", "--allow-private", "--delay", "0s", "--max-pages", "20"]
        assert gossamer("crawl", web.url, "--out", out, *usual).returncode == 0
        assert gossamer("crawl", "--resume", "--out", out, "--max-pages", "1000").returncode == 0
    done = gossamer("report", out, "--json")
    answer: dict[str, Any] = json.loads(done.stdout)
    runs = answer["runs"]
    assert [run["state"] for run in runs] == ["limit_reached", "finished"]
    assert [run["resumed"] for run in runs] == [False, True]
    assert sum(run["pages"] for run in runs) == answer["pages"] == runs[-1]["pages_in_all"]
    assert runs[0]["began"] <= answer["began"] <= answer["ended"] <= runs[1]["ended"]
    text = gossamer("report", out).stdout
    table = text.partition("\nRuns\n")[2].partition("\n\n")[0].splitlines()
    assert table[0].split() == ["run", "begun", "(UTC)", "took", "state", "pages"]
    assert "limit reached" in table[1]
    assert table[2].split()[-2:] == ["finished", str(runs[1]["pages"])]
    assert len(table) == 3
    page = tmp_path / "report.html"
    assert gossamer("report", out, "--html", page).returncode == 0
    assert "<h2>Runs</h2>" in page.read_text()
    assert '<td data-name="state">limit reached</td>' in page.read_text()


def test_a_crawl_without_runs_says_nothing_of_them(tmp_path: Path) -> None:
    report = report_of(written(tmp_path, line("a.test", 1)))
    assert report.runs == []
    assert "Runs" not in said(report)
    assert "Runs" not in as_html(report)


def test_the_last_ten_fit_into_80_columns(tmp_path: Path) -> None:
    out = written(tmp_path, line("a.test", 1))
    stopped = [("stopped", 1_000_000_000 * number) for number in range(1, 11)]
    noted(out, *stopped, ("killed", 0), ("disk_full", 10_000_000_005), kind="cluster")
    text = said(report_of(out))
    table = text.partition("\nRuns\n")[2].partition("\n\n")[0].splitlines()
    assert table[0].split() == ["run", "begun", "(UTC)", "took", "kind", "state", "pages"]
    first = " ".join(table[1].split())
    assert first == "3 2026-01-03 10:00:00 1 min 30 s cluster stopped 1 000 000 000"
    assert "not known" in table[9]
    assert "killed" in table[9]
    assert "disk full" in table[10]
    assert table[11] == "2 earlier runs are not shown; --json has all."
    assert max(map(len, table)) <= 80
    assert "The last run was killed" not in text


def test_a_failure_is_told_in_its_words_and_the_kind_of_one_process_is_not(tmp_path: Path) -> None:
    out = written(tmp_path, line("a.test", 1))
    noted(out, ("stopped", 3), ("failed", 3), error="the roof is on fire")
    text, page = said(report_of(out)), as_html(report_of(out))
    for shown in (text, page):
        assert "Run 2 failed: the roof is on fire" in shown
        assert "Run 1 failed" not in shown
    assert "kind" not in text.partition("\nRuns\n")[2].splitlines()[0]
    assert 'data-name="kind"' not in page


def test_a_file_with_hostile_words_is_text(tmp_path: Path) -> None:
    out = written(tmp_path, line("a.test", 1))
    noted(out, *((name, 1) for name in HOSTILE), ("failed", 1), error="".join(HOSTILE))
    report = report_of(out)
    text, page = said(report), as_html(report)
    assert "\x1b" not in text + page
    assert "\u202e" not in text + page
    assert Parsed(page).tags <= TAGS
    assert "<script" not in page
    assert HOSTILE[0] in "".join(Parsed(page).text)


def test_many_runs_do_not_make_a_long_page(tmp_path: Path) -> None:
    out = written(tmp_path, line("a.test", 1))
    noted(out, *[("stopped", 1)] * 200)
    page = as_html(report_of(out))
    assert page.count('data-name="begun"') == 50
    assert "150 earlier runs are not shown" in page
