"""How the numbers by outcome come to that of the pages, in words."""

import pytest
from rich.console import Console
from tests.cli.readings import progress

from gossamer.cli.pace import Rates, Target
from gossamer.cli.panel import draw
from gossamer.cli.view import LineView
from gossamer.counts import beside_pages, visits_in_words, visits_to_pages
from gossamer.model.progress import Progress

NOW: Progress = progress(
    outcomes={"fetched": 12, "gone": 3, "duplicate": 4, "robots_refused": 5},
    robots_files={"fetched": 2, "gone": 1},
    sitemaps={"fetched": 1},
    probes={"gone": 1},
    unvisited={"duplicate": 1, "robots_refused": 5},
)


def test_what_is_no_visit_to_a_page_stands_behind_the_number() -> None:
    assert beside_pages(NOW, "fetched") == "2 robots files, 1 sitemap"
    assert beside_pages(NOW, "gone") == "1 robots file, 1 probe"
    assert beside_pages(NOW, "duplicate") == "1 not visited"
    # The outcome itself says that nobody went there.
    assert beside_pages(NOW, "robots_refused") == ""
    assert [visits_to_pages(NOW, name) for name in NOW.outcomes] == [9, 1, 3, 0]


def test_all_visits_by_what_they_were_to() -> None:
    assert visits_in_words(NOW) == (
        "18 visits: 13 to pages, 3 to robots files, 1 to sitemaps, 1 probe; 6 URLs left the queue without one"
    )
    assert visits_in_words(progress(outcomes={"fetched": 1})) == "1 visit: 1 to pages"


def test_panel_and_lines_say_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=120, height=40, record=True, force_terminal=True)
    target = Target(None, None)
    console.print(draw("crawl", NOW, Rates(), target, 120, 40))
    assert "fetched 12 (2 robots files, 1 sitemap)" in console.export_text()
    capsys.readouterr()
    LineView(target).show(NOW)
    assert "fetched 12 (2 robots files, 1 sitemap), " in capsys.readouterr().err
