"""The status of a crawl that has ended, of one process or a cluster: how it ended is what the report says."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.cluster.summary import NOTHING
from gossamer.control.archive import archived_status
from gossamer.report import Known
from gossamer.report.build import ending
from gossamer.report.progress import progress_of
from gossamer.report.visits import Visits
from gossamer.settings import CrawlSettings


@pytest.mark.parametrize("cluster", [False, True])
@pytest.mark.parametrize(
    ("state", "counters", "limit"),
    [
        ("finished", {"pages": 7}, None),
        ("stopped", {"pages": 7, "urls_queued": 3}, None),
        ("stopped", {"pages": 7, "urls_queued": 3}, 8),
        ("limit_reached", {"pages": 7, "urls_queued": 3}, 7),
        ("unknown", None, 7),
    ],
)
def test_the_activity_is_the_state_of_the_report(
    state: str, counters: dict[str, Any] | None, limit: int | None, *, cluster: bool, tmp_path: Path
) -> None:
    settings = CrawlSettings.model_validate({"limits": {"pages": limit}})
    progress = None if counters is None else msgspec.structs.replace(NOTHING, **counters)
    known = Known(tmp_path, cluster, running=False, settings=settings, progress=progress, resume="")
    told = ending(known)
    status = archived_status(known, progress or progress_of(Visits()), 1.0, told)
    assert (status.activity.value, told[0]) == (state, state)
    assert status.note == told[1]
