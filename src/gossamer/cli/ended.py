"""The status of a crawl that does not run, by its files, and how it is said."""

from pathlib import Path
from typing import Any

from gossamer.cli.look import looked_at
from gossamer.cli.loudness import Loudness
from gossamer.cli.reading import read_log_of
from gossamer.control.archive import archived_status
from gossamer.errors import NoCrawlError, UsageError
from gossamer.library.fetch_log import last_moment
from gossamer.report.build import ending
from gossamer.report.moments import moment
from gossamer.report.progress import progress_of
from gossamer.words import command, count, counted, plain, size, span


def ended_status(directory: Path, loud: Loudness) -> dict[str, Any] | None:
    """As the control API would give it; None: it runs, or cannot be looked at."""
    try:
        with looked_at(directory) as look:
            if look.running:
                return None
            known, progress, committed = look.known(), look.progress, look.committed
            nodes = max(1, len(look.nodes))
    except NoCrawlError:
        raise
    except UsageError:
        return None
    if progress is None:
        # Without a state only the log tells, and all of it must be read.
        visits = read_log_of(directory, loud)
        progress, ended = progress_of(visits), visits.ended
    else:
        ended = last_moment(directory, committed)
    told = ending(known)
    return archived_status(known, progress, ended, told, nodes=nodes).model_dump(mode="json")


def show_ended(now: dict[str, Any], where: Path) -> None:
    """`where`: the crawl's directory."""
    queued = f", {count(now['urls_queued'])} queued" if now["urls_seen"] else ""
    print(
        f"ended {moment(now['time'])} UTC after {span(now['seconds'])}: {counted(now['pages'], 'page')}, "
        f"{size(now['bytes'])}{queued}, {counted(now['hosts_known'], 'host')}"
    )
    print(plain(now["note"], 400))
    if now["urls_set_aside"] and now["urls_seen"]:
        print(
            f"set aside: {counted(now['urls_set_aside'], 'URL')} like others that brought nothing new; see which, or take "
            f"them up, with: {command('patterns', where)}"
        )
    print(f"see more with: {command('report', where)}, or {command('open', where)}")
