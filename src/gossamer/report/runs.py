"""The runs of a crawl as a report shows them: the last ones, each as a line of words."""

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from gossamer.library.runs import FAILED, KILLED, RUNNING, Run
from gossamer.model.progress import Activity
from gossamer.report.model import Report
from gossamer.report.moments import moment
from gossamer.words import count, counted_are, plain, span

NOT_KNOWN: Final = "not known"
_STATES: Final[dict[str, str]] = {
    RUNNING: "running", KILLED: "killed", FAILED: "failed",
    Activity.FINISHED: "finished", Activity.LIMIT_REACHED: "limit reached",
    Activity.STOPPED: "stopped", Activity.DISK_FULL: "disk full",
}  # fmt: skip


class RunRow(NamedTuple):
    """A run in words; its fields are the columns."""

    run: str
    begun: str
    """UTC"""
    took: str
    kind: str
    state: str
    pages: str


class ShownRuns(NamedTuple):
    """What is shown of them."""

    columns: list[str]
    rows: list[RunRow]
    notes: list[str]
    """What no row says: runs before these, errors, what to do after a run that was killed."""


def shown_runs(report: Report, most: int) -> ShownRuns:
    """The last ones, first first."""
    runs = report.runs[-most:]
    clustered = any(run.kind == "cluster" for run in runs)
    columns = [name for name in RunRow._fields if clustered or name != "kind"]
    before = len(report.runs) - len(runs)
    notes = [f"{counted_are(before, 'earlier run')} not shown; --json has all."] if before else []
    notes += [
        f"Run {run.number} failed: {plain(run.error, 300)}" for run in runs if run.state == FAILED
    ]
    notes += _after_a_kill(report)
    return ShownRuns(columns, [_row(run) for run in runs], notes)


def head(column: str) -> str:
    """The name of a column above it."""
    return "begun (UTC)" if column == "begun" else column


def _row(run: Run) -> RunRow:
    return RunRow(
        run=str(run.number),
        begun=moment(run.began),
        took=_took(run),
        kind=run.kind,
        state=_STATES.get(run.state) or plain(run.state, 40),
        pages=NOT_KNOWN if run.pages is None else count(run.pages),
    )


def _took(run: Run) -> str:
    ended = time.time() if run.state == RUNNING else run.ended
    return NOT_KNOWN if ended is None else span(ended - run.began)


def _after_a_kill(report: Report) -> Sequence[str]:
    if not report.runs or report.runs[-1].state != KILLED:
        return []
    go_on = f" Go on with: {report.go_on}" if report.go_on else ""
    return [f"The last run was killed: it could not write down its end.{go_on}"]
