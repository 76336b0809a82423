"""Which limit ended a crawl: one judgement, for the control node, the summary and the report."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.cli.readings import progress

from gossamer.cli.summary import show_summary
from gossamer.limits import reached
from gossamer.model.progress import Activity
from gossamer.report import Known
from gossamer.report.build import ending, resume_of
from gossamer.settings import CrawlSettings


@pytest.mark.parametrize(
    ("limits", "counters", "words", "option"),
    [
        ({"pages": 1}, {"pages": 1}, "1 page", "--max-pages N"),
        ({"pages": 30}, {"pages": 20, "pages_dropped": 10}, "30 pages", "--max-pages N"),
        ({"bytes": "1KiB"}, {"bytes": 1024}, "1.0 KiB", "--set limits.bytes=SIZE"),
        ({"bytes": 0}, {"pages": 0}, "0 B", "--set limits.bytes=SIZE"),
        ({"time": "5s"}, {"seconds": 5.0}, "5 s", "--set limits.time=TIME"),
        (
            {"pages": 2, "time": "5s"},
            {"pages": 2, "seconds": 6.0},
            "2 pages and 5 s",
            "--max-pages N --set limits.time=TIME",
        ),
    ],
)
def test_summary_and_report_name_the_same_limit(
    limits: dict[str, Any], counters: dict[str, Any], words: str, option: str
) -> None:
    settings = CrawlSettings.model_validate({"limits": limits})
    now = progress(**counters, urls_queued=3, activity=Activity.LIMIT_REACHED)
    assert reached(settings.limits, now) == (words, option)
    known = Known(Path("x"), cluster=False, running=False, settings=settings, progress=now, resume="go on")  # fmt: skip
    assert ending(known).words == f"It ended at its limit of {words}; 3 URLs are still queued."
    assert resume_of(known) == f"go on {option}"
    text = io.StringIO()
    show_summary(Console(file=text, width=200), now, Path("x"), interrupted=False, go_on="go on", limits=settings.limits)  # fmt: skip
    assert text.getvalue().splitlines()[-1].endswith(f"Go on with a higher one: go on {option}")


def test_below_every_limit_none_is_reached() -> None:
    settings = CrawlSettings.model_validate({"limits": {"pages": 9, "bytes": 9, "time": "9s"}})
    now = progress(pages=8, bytes=8, seconds=8.0, urls_queued=1)
    assert reached(settings.limits, now) is None
    assert reached(CrawlSettings().limits, now) is None
    known = Known(Path("x"), cluster=False, running=False, settings=settings, progress=now, resume="go on")  # fmt: skip
    assert ending(known).words.endswith("1 URL is still queued.")
    assert resume_of(known) == "go on"
