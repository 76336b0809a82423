"""One page is "1 page": in the status of a crawl that has ended, in its summary and in its report."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.readings import progress

from gossamer.cli.ended import show_ended
from gossamer.cli.summary import show_summary
from gossamer.control.archive import archived_status
from gossamer.report import Known, Visits, build, show
from gossamer.report.build import ending
from gossamer.settings import CrawlSettings

WRONG = re.compile(r"\b1 (pages|hosts|URLs|visits|seeds|lines)\b")


def test_one_of_each_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = progress(
        pages=1, visits=1, hosts_known=1, urls_seen=1, urls_queued=1, urls_set_aside=1, hosts_aliases=1, seeds_failed=1,
        outcomes={"fetched": 1},
    )  # fmt: skip
    settings = CrawlSettings.model_validate({"limits": {"pages": 1}})
    known = Known(tmp_path, cluster=False, running=False, settings=settings, progress=now, resume="go on")  # fmt: skip
    status = archived_status(known, now, 1.0, ending(known))
    show_ended(status.model_dump(mode="json"), tmp_path)
    told = io.StringIO()
    console = Console(file=told, width=200)
    show_summary(console, now, tmp_path, interrupted=False, limits=settings.limits)
    visits = Visits()
    visits.visits = 1
    show(build(known, visits, None), console)
    text = capsys.readouterr().out + told.getvalue()
    assert "1 page, " in text
    assert "its limit of 1 page; 1 URL is still queued" in text
    assert WRONG.findall(text) == []
