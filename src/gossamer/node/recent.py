"""The last visits to a URL, from the end of the fetch log: a bounded look, for a running crawl."""

from pathlib import Path
from typing import Final

import msgspec

from gossamer.library import LogLine
from gossamer.library.files import log_files

LOOKED_AT: Final = 8 * 1024 * 1024
"""Bytes from the end of the log; older visits are not looked for."""

SHOWN: Final = 10

_decode = msgspec.json.Decoder(LogLine).decode


def recent_visits(out: Path, url: str, most: int) -> list[LogLine]:
    """Up to `most` visits, oldest first."""
    found: list[LogLine] = []
    left = LOOKED_AT
    for file in reversed(log_files(out)):
        with file.open("rb") as log:
            length = log.seek(0, 2)
            log.seek(max(0, length - left))
            text = log.read(left)
        found[:0] = _of(text, url)[-most:]
        left -= len(text)
        if left <= 0 or len(found) >= most:
            break
    return found[-most:]


def visit_rows(out: Path, url: str) -> list[dict[str, object]]:
    """The last visits for people, as they are told over the API."""
    return [
        {
            "time": line.time,
            "outcome": line.outcome,
            "status": line.status,
            "bytes": line.bytes,
            "ms": line.ms or 0.0,
            "ip": line.ip,
            "found_on": line.from_url,
            "reason": line.reason,
            "robots": line.robots,
            "left_out": line.left_out,
        }
        for line in recent_visits(out, url, SHOWN)
    ]


def _of(text: bytes, url: str) -> list[LogLine]:
    lines = []
    needle = url.encode()
    place = text.find(needle)
    while place >= 0:
        start = text.rfind(b"\n", 0, place) + 1
        end = text.find(b"\n", place)
        if end < 0:
            # Not committed yet.
            break
        try:
            line = _decode(text[start:end])
        except msgspec.MsgspecError:
            # The first line of the look may be cut.
            line = None
        if line is not None and line.url == url:
            lines.append(line)
        place = text.find(needle, end)
    return lines
