"""The log: lines for whoever runs the processes, on standard error.

Every line has a time, a level, the part that speaks, one constant sentence, and fields. A sentence
that is said again with the same fields within a minute is counted instead; the next that is written
tells how many were left out. Text from the web may be among the fields, so nothing that a terminal
would obey is written as it came.
"""

import json
import logging
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, TextIO, cast

import structlog

from gossamer import words
from gossamer.model.choices import Level

QUIET: Final = 60.0
"""Seconds for which the same line is not written again."""
KNOWN: Final = 1024
"""Lines remembered for that: those that were last said."""
FIRST: Final = ("time", "level", "node", "part", "event")
LONGEST: Final = 2000
"""Characters of a field that are written."""

Logger = structlog.typing.FilteringBoundLogger
Fields = MutableMapping[str, Any]


_NUMBERS: Final = {
    Level.DEBUG: logging.DEBUG,
    Level.INFO: logging.INFO,
    Level.WARNING: logging.WARNING,
    Level.ERROR: logging.ERROR,
}


def logger(part: str) -> Logger:
    """The log of a part of the program. Without `configure` its lines go to the standard `logging`."""
    log = structlog.wrap_logger(
        None,
        processors=[_current],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
        part=part,
    )
    return cast("Logger", log)


def configure(
    level: Level = Level.INFO,
    *,
    as_json: bool = False,
    node: str | None = None,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Begins to log: at `level` and above, as text for people or as a JSON object a line.

    `node` is in every line. What libraries log (uvicorn, nats) goes the same way, from warnings on.
    """
    _current.stages = [
        _AtLeast(_NUMBERS[level]),
        structlog.processors.add_log_level,
        structlog.processors.format_exc_info,
        Repeats(clock),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _Named(node),
        as_json_line if as_json else as_text,
        _Lines(stream),
    ]
    root = logging.getLogger()
    root.handlers = [_FromLibraries()]
    root.setLevel(max(_NUMBERS[level], logging.WARNING))


class _Current:
    """The way of all lines of this process. It can change after the logs were made."""

    def __init__(self) -> None:
        self.stages: list[Any] = [_to_standard]

    def __call__(self, log: Any, method: str, event: Any) -> Any:
        for stage in self.stages:
            event = stage(log, method, event)
        # The last stage wrote it; there is nothing left to do for the library.
        raise structlog.DropEvent


def _to_standard(_log: Any, method: str, event: Fields) -> None:
    """As libraries do: whoever uses us decides what becomes of it."""
    part, sentence, raised = event.pop("part"), event.pop("event"), event.pop("exc_info", None)
    trace = _trace(event)
    text = " ".join([plain(str(sentence)), *(f"{n}={_field(v)}" for n, v in event.items())])
    number = logging.getLevelNamesMapping().get(method.upper(), logging.ERROR)
    lines = "\n".join([text, *trace])
    logging.getLogger(f"gossamer.{part}").log(number, "%s", lines, exc_info=raised)


_current: Final = _Current()


class _AtLeast(NamedTuple):
    level: int

    def __call__(self, _log: Any, method: str, event: Fields) -> Fields:
        if logging.getLevelNamesMapping().get(method.upper(), logging.ERROR) < self.level:
            raise structlog.DropEvent
        return event


class _Named(NamedTuple):
    node: str | None

    def __call__(self, _log: Any, _method: str, event: Fields) -> Fields:
        if self.node is not None:
            event.setdefault("node", self.node)
        return event


class Repeats:
    """Lets a line through once a minute, with the number of those held back since."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # When each was last written, and how often it was held back since. Bounded.
        self._said: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def __call__(self, _logger: Any, _method: str, event: Fields) -> Fields:
        key = repr(sorted((name, str(value)) for name, value in event.items()))
        now = self._clock()
        with self._lock:
            written, held = self._said.pop(key, (None, 0))
            if written is not None and now - written < QUIET:
                self._said[key] = (written, held + 1)
                raise structlog.DropEvent
            self._said[key] = (now, 0)
            while len(self._said) > KNOWN:
                self._said.popitem(last=False)
        if held:
            event["repeated"] = held
        return event


def plain(text: str) -> str:
    """Text from anywhere, made harmless for a terminal, and bounded."""
    return words.plain(text, LONGEST)


def as_text(_logger: Any, _method: str, event: Fields) -> str:
    """`2026-11-16 10:36:23Z warning  n1 member: the engine is away  server=nats://a repeated=59`."""
    moment = _second(str(event.pop("time")))
    level = str(event.pop("level"))
    part = " ".join(plain(str(event.pop(name))) for name in ("node", "part") if name in event)
    trace = _trace(event)
    sentence = plain(str(event.pop("event")))
    fields = " ".join(f"{plain(name)}={_field(value)}" for name, value in event.items())
    line = f"{moment} {level:<7} {part}: {sentence}" + (f"  {fields}" if fields else "")
    return "\n".join([line, *trace])


def _trace(event: Fields) -> list[str]:
    """A traceback is lines of its own, so that it can be read; none of them can pass for a line of ours."""
    return [f"    {plain(one)}" for one in str(event.pop("exception", "")).splitlines()]


def as_json_line(_logger: Any, _method: str, event: Fields) -> str:
    # Everything beyond ASCII is escaped, and with it whatever a terminal would obey.
    first = {name: event.pop(name) for name in FIRST if name in event}
    return json.dumps({**first, **event}, default=str).replace("\x7f", "\\u007f")


def _second(moment: str) -> str:
    stamp = datetime.fromisoformat(moment).astimezone(UTC)
    return f"{stamp:%Y-%m-%d %H:%M:%S}Z"


def _field(value: Any) -> str:
    text = plain(str(value))
    quoted = not text or " " in text or '"' in text
    return '"' + text.replace('"', "'") + '"' if quoted else text


class _Lines:
    """Where lines go. A log that cannot be written is no reason to end."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __call__(self, _log: Any, _method: str, line: str) -> None:
        stream = self._stream or sys.stderr
        try:
            stream.write(f"{line}\n")
            stream.flush()
        except (OSError, ValueError):
            return


class _FromLibraries(logging.Handler):
    """Takes what libraries log by the standard module."""

    def emit(self, record: logging.LogRecord) -> None:
        part = record.name.removeprefix("gossamer.")
        logger(part).log(record.levelno, record.getMessage(), exc_info=record.exc_info or None)
