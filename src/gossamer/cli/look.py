"""A crawl's directory looked at, whatever it is: of one process or a cluster, running or not, with `state/` or without.

Opening changes neither log nor WARC files of a crawl that ended well (its store notes the start, some hundred bytes); of one that was killed, what was not committed is cut, as its
next start would do.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from gossamer import _native
from gossamer.cli.stopped import is_cluster, open_named, resume_command
from gossamer.cluster.summary import Summary, total
from gossamer.control.client import find
from gossamer.errors import GossamerError, NoCrawlError, SettingsError, StateInUseError
from gossamer.library import log_files, warc_files
from gossamer.model.progress import Activity, Progress
from gossamer.report import Known
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
    """Open nodes by name; empty: the crawl is in use, or has no state here."""
    running: bool = False
    served_at: str | None = None
    """The dashboard of a crawl that runs, or that is looked at already."""
    progress: Progress | None = None
    notes: list[str] = field(default_factory=list)

    def known(self) -> Known:
        return Known(
            out=self.out,
            cluster=self.cluster,
            running=self.running,
            settings=self.settings,
            progress=self.progress,
            resume=resume_command(self.out),
            notes=self.notes,
        )


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
    if look.cluster and _ask_served(look) and look.running:
        return
    try:
        look.nodes = open_named(look.out, host_list=host_list)
    except StateInUseError:
        if not _ask_served(look):
            look.running = True
            look.notes.append(
                "the crawl runs without a control API: what is queued is not known (start it with --serve)"
            )
        return
    except GossamerError as error:
        look.notes.append(f"the state is left aside: {error}")
    look.served_at = None
    for node in look.nodes.values():
        stack.callback(node.close)
    look.progress = _last_summary(look.out) if look.cluster else None
    if look.progress is None and look.nodes:
        look.progress = counters(look.nodes.values())


def counters(nodes: Any) -> Progress:
    """Those of nodes that do not run. They are told to stop first, so that the look begins no visit."""
    readings = []
    for node in nodes:
        node.stop(now=False)
        readings.append((_decode(node.step(0.0)), True))
    if len(readings) == 1:
        return readings[0][0]
    return total(readings, Activity.FINISHED)


def _last_summary(out: Path) -> Progress | None:
    """What a cluster's control node read last; it counts nodes that were lost too."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        text = (out / "control" / "summary.json").read_bytes()
        return msgspec.json.decode(text, type=Summary).progress
    return None


def _is_alive(file: Path) -> bool:
    """Whether the process that wrote the address lives. That of a copied directory, or of a crawl that was killed,
    may be anybody's: nobody else is sent its token.
    """
    try:
        os.kill(int(file.read_text()), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _ask_served(look: Look) -> bool:
    """Counters and address of a crawl that is served: it runs, or somebody looks at it with `gossamer open`."""
    file = look.out / "control" / "url"
    if not file.exists() or not _is_alive(look.out / "control" / "pid"):
        return False
    try:
        now = find(None, look.out).ask("GET", "/status", timeout=PATIENCE)
        fields = {name: now[name] for name in Progress.__struct_fields__ if name in now}
        look.progress = msgspec.convert(fields, Progress)
        look.served_at = file.read_text().strip()
    except (GossamerError, OSError, msgspec.MsgspecError):
        return False
    look.running = not now.get("read_only")
    return True
