"""A crawl's directory looked at, whatever it is: of one process or a cluster, running or not, with `state/` or without.

Nothing in it is changed, and it may be read-only: nodes are opened on views of their directories. Of a crawl that was
killed, what was not committed is in the files and not in the figures, as after its next start, which cuts it.
"""

import contextlib
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from gossamer import _native
from gossamer.cli.stopped import view_nodes
from gossamer.cluster.summary import at_the_end, last_summary, total
from gossamer.control.client import find
from gossamer.control.host_views import host_row
from gossamer.control.schemas import HostRow
from gossamer.crawls.kinds import is_cluster, owners, resume_command
from gossamer.errors import GossamerError, NoCrawlError, SettingsError, StateInUseError
from gossamer.library import log_files, warc_files
from gossamer.library.runs import read_runs
from gossamer.model.findings import ALL, findings
from gossamer.model.progress import Activity, Progress
from gossamer.report import Known
from gossamer.report.no_robots import Standing
from gossamer.settings import CrawlSettings, load_saved

PATIENCE = 5.0
"""Seconds for an answer about a crawl that runs; a report can do without."""

_decode = msgspec.json.Decoder(Progress).decode


@dataclass
class Look:
    """What there is."""

    out: Path
    cluster: bool
    settings: CrawlSettings | None = None
    nodes: dict[str, _native.Node] = field(default_factory=dict)
    """Nodes by name; empty: the crawl runs, or has no state here."""
    readings: dict[str, Progress] = field(default_factory=dict)
    """Their counters."""
    running: bool = False
    served_at: str | None = None
    """The dashboard of a crawl that runs."""
    progress: Progress | None = None
    notes: list[str] = field(default_factory=list)
    committed: dict[Path, int] = field(default_factory=dict)
    """Of each log or WARC file that goes on after what was committed: the bytes before."""

    def known(self, logged: int | None = None) -> Known:
        """`logged`: pages of the log, if it was read; counts where a state does not tell, or not as late."""
        progress = None if self.running else self.progress
        pages = progress.pages if progress else logged
        return Known(
            out=self.out,
            cluster=self.cluster,
            running=self.running,
            settings=self.settings,
            progress=self.progress,
            resume=resume_command(self.out),
            notes=self.notes,
            runs=read_runs(self.out, pages=pages),
        )

    def host(self, name: str) -> Standing | None:
        """How a host stands in the state; None: there is no such host, or no state to ask."""
        for node in self.nodes.values():
            if (text := node.host(name)) is not None:
                return _standing(host_row(msgspec.json.decode(text), node=None, quota=None))
        if self.served_at is None:
            return None
        try:
            path = f"/hosts/{urllib.parse.quote(name, safe='')}"
            row = find(None, self.out).ask("GET", path, timeout=PATIENCE)
        except (GossamerError, OSError):
            return None
        return _standing(HostRow.model_validate(row))


def _standing(row: HostRow) -> Standing:
    unreachable = "unreachable" in {row.robots_http.kind, row.robots_https.kind}
    outcome = row.last_failure.outcome if row.last_failure else None
    return Standing(row.queued, unreachable, outcome)


@contextlib.contextmanager
def looked_at(directory: Path, *, host_list: bool = False) -> Iterator[Look]:
    """Looks at a directory; UsageError: there is no crawl in it. Nodes are open as long as the block lasts."""
    look = Look(directory, is_cluster(directory))
    stateful = look.cluster or (directory / "state").exists()
    if not stateful and not log_files(directory) and not warc_files(directory):
        raise NoCrawlError.at(directory, "no state, no log and no WARC files")
    try:
        look.settings = load_saved(directory / "crawl.toml")
    except SettingsError as error:
        look.notes.append(f"the settings are not known: {error}")
    with contextlib.ExitStack() as stack:
        if stateful and look.settings is not None:
            _open(look, stack, host_list=host_list)
        yield look


def _open(look: Look, stack: contextlib.ExitStack, *, host_list: bool) -> None:
    # Of a cluster who serves it is asked first: a node that is about to start must not find its state taken by a
    # look. Else the lock tells the truth: an address may be copied with a directory, or left by a crawl that was killed.
    if look.cluster and _ask_served(look):
        return
    try:
        nodes = stack.enter_context(view_nodes(look.out, host_list=host_list))
    except StateInUseError:
        if not _ask_served(look):
            look.running = True
            look.notes.append(
                "the crawl runs without a control API: what is queued is not known (start it with --serve)"
            )
        return
    except GossamerError as error:
        look.notes.append(f"the state is left aside: {error}")
        nodes = {}
    look.nodes = {name: one.node for name, one in nodes.items()}
    look.committed = {file: end for one in nodes.values() for file, end in one.committed.items()}
    if look.committed:
        look.notes.append(
            "the crawl was killed: the ends of its log and WARC files were not committed and are not counted; the "
            "next start cuts them and makes those visits again"
        )
    look.readings = {name: _counters(node) for name, node in look.nodes.items()}
    look.progress = _counters_of_all(look)


def _counters(node: _native.Node) -> Progress:
    """Of a node that does not run. It is told to stop first, so that the look begins no visit."""
    node.stop(now=False)
    progress = _decode(node.step(0.0))
    if not progress.urls_set_aside:
        return progress
    # What was taken up comes to the queue when the crawl goes on, and is visited then like all that is queued.
    rows = findings(node, ALL).patterns
    taken_up = sum(row.set_aside for row in rows if row.taken_up)
    return msgspec.structs.replace(
        progress,
        urls_queued=progress.urls_queued + taken_up,
        urls_set_aside=progress.urls_set_aside - taken_up,
    )


def _counters_of_all(look: Look) -> Progress | None:
    states = list(look.readings.values())
    last = last_summary(look.out) if look.cluster else None
    if last is None or not states:
        return _total(states) if states else last
    missing = owners(look.out) - look.readings.keys()
    if missing:
        look.notes.append(
            f"the state of {', '.join(sorted(missing))} is not here: what is queued is as the control node read it last"
        )
    return at_the_end(last, states, every=not missing)


def _total(readings: list[Progress]) -> Progress:
    if len(readings) == 1:
        return readings[0]
    return total([(one, True) for one in readings], Activity.FINISHED)


def _ask_served(look: Look) -> bool:
    """Counters and address of a crawl that runs and is served."""
    file = look.out / "control" / "url"
    try:
        # Of a copied directory, or of a crawl that was killed, the address is not asked.
        now = find(None, look.out).ask("GET", "/status", timeout=PATIENCE)
        if now.get("read_only"):
            # Somebody looks at it with `gossamer open`.
            return False
        fields = {name: now[name] for name in Progress.__struct_fields__ if name in now}
        look.progress = msgspec.convert(fields, Progress)
        look.served_at = file.read_text().strip()
    except (GossamerError, OSError, msgspec.MsgspecError):
        return False
    look.running = True
    return True
