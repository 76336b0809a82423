"""The runs of a crawl, between its file and the API."""

from collections.abc import Sequence

import msgspec

from gossamer.control.schemas import RunPage, RunView
from gossamer.library.runs import Run


def run_page(
    runs: Sequence[Run], before: int | None, limit: int, *, go_on: str | None = None
) -> RunPage:
    """Those before a number, the last first. `runs`: all of them, first first."""
    found = [run for run in reversed(runs) if before is None or run.number < before]
    shown = [RunView(**msgspec.structs.asdict(run)) for run in found[:limit]]
    more = len(found) > limit
    return RunPage(runs=shown, next=shown[-1].number if more else None, go_on=go_on)
