"""Pages of the fetch log, put together of the looks at each node's log; cursors of them."""

import base64
import binascii
import heapq
from collections.abc import Mapping
from datetime import datetime

import msgspec

from gossamer.control.schemas import LoggedVisit, VisitPage, VisitQuery
from gossamer.control.service import WrongValueError
from gossamer.library.fetch_log import LogLine
from gossamer.library.log_search import Found, Place, Wanted
from gossamer.policy.hosts.outcomes import FORMER, REACTIONS

Cursor = dict[str, Place | None]
"""Where the look at each node's log goes on; None: it was read to its beginning."""


def wanted(query: VisitQuery) -> Wanted:
    if query.outcome is not None and query.outcome not in REACTIONS | FORMER:
        raise WrongValueError("outcome", f"there is no outcome {query.outcome[:40]!r}")
    return Wanted(
        outcome=query.outcome, host=query.host, url=query.url, status=query.status,
        text=query.text.strip(), since=query.since, until=query.until,
    )  # fmt: skip


def read_cursor(cursor: str | None) -> Cursor | None:
    """None: from the end of every log."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return msgspec.json.decode(text, type=Cursor)
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise WrongValueError("wrong_cursor", "this is no cursor of the fetch log") from error


def visit_page(looks: Mapping[str, Found], before: Cursor | None, most: int) -> VisitPage:
    """The newest visits of all looks, and where each log goes on after those that are shown."""
    rows = heapq.merge(
        *([(line, place, node) for line, place in zip(look.lines, look.places, strict=True)] for node, look in looks.items()),
        key=lambda row: row[0].time,
        reverse=True,
    )  # fmt: skip
    shown = [row for row, _ in zip(rows, range(most), strict=False)]
    taken = {node: sum(row[2] == node for row in shown) for node in looks}
    after: Cursor = dict(before or {})
    for node, look in looks.items():
        if taken[node] == len(look.lines):
            after[node] = look.next
        elif taken[node]:
            after[node] = look.places[taken[node] - 1]
        elif before is None:
            after.pop(node, None)
    # Where nothing was taken of a log that has lines left, it is looked at from its end again.
    open_ends = [
        node for node, look in looks.items() if node not in after or after[node] is not None
    ]
    reached = [_seconds(look.reached) for look in looks.values() if look.reached is not None]
    return VisitPage(
        visits=[_visit(line, node) for line, _, node in shown],
        next=_cursor(after) if open_ends else None,
        reached=max(reached, default=None),
    )


def _cursor(after: Cursor) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(after)).decode().rstrip("=")


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def _visit(line: LogLine, node: str) -> LoggedVisit:
    return LoggedVisit(
        time=_seconds(line.time), url=line.url, host=line.host, node=node, outcome=line.outcome,
        status=line.status, bytes=line.bytes, ms=line.ms, ip=line.ip, depth=line.depth,
        found_on=line.from_url, reason=line.reason,
    )  # fmt: skip
