"""The log: what a line holds, that repeats are counted, that nothing in it steers a terminal."""

import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gossamer.logging import KNOWN, QUIET, _current, configure, logger
from gossamer.model.choices import Level

HOSTILE = "a\x1b]0;title\x07\r\nb\x9b31m\u202e\x7f\ud800"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stages = _current.stages
    yield
    _current.stages = stages
    root.handlers, root.level = handlers, level


@pytest.fixture
def log() -> Callable[..., tuple[io.StringIO, Clock]]:
    def begin(level: Level = Level.INFO, **options: Any) -> tuple[io.StringIO, Clock]:
        stream, clock = io.StringIO(), Clock()
        configure(level, stream=stream, clock=clock, **options)
        return stream, clock

    return begin


def test_a_line_has_time_level_part_and_fields(log):
    stream, _ = log(node="n1")
    logger("member").warning("the engine is away", server="nats://a:4222", why="no way")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ warning n1 member: the engine is away  "
        r'server=nats://a:4222 why="no way"\n',
        stream.getvalue(),
    )


def test_json_is_an_object_a_line(log):
    stream, _ = log(as_json=True, node="n1")
    logger("member").info("joined", partitions=16)
    line = json.loads(stream.getvalue())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", line.pop("time"))
    assert line == {
        "level": "info", "node": "n1", "part": "member", "event": "joined", "partitions": 16
    }  # fmt: skip


def test_lines_below_the_level_are_not_written(log):
    stream, _ = log(Level.WARNING)
    logger("a").debug("no")
    logger("a").info("no")
    logger("a").warning("yes")
    logger("a").error("yes")
    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["warning", "error"]


def test_the_same_line_is_written_once_a_minute_with_a_count(log):
    stream, clock = log()
    for second in range(int(QUIET) + 1):
        clock.now = float(second)
        logger("a").warning("the engine is away", server="x")
    logger("a").warning("the engine is away", server="y")
    lines = [line.split("a: ")[1] for line in stream.getvalue().splitlines()]
    assert lines == [
        "the engine is away  server=x",
        "the engine is away  server=x repeated=59",
        "the engine is away  server=y",
    ]


def test_what_is_remembered_of_repeats_is_bounded(log):
    stream, _ = log()
    for number in range(KNOWN + 1):
        logger("a").info("met", host=number)
    logger("a").info("met", host=0)
    logger("a").info("met", host=KNOWN)
    assert len(stream.getvalue().splitlines()) == KNOWN + 2


@pytest.mark.parametrize("as_json", [False, True])
def test_nothing_from_the_web_steers_a_terminal(log, as_json: bool):
    stream, _ = log(as_json=as_json, node=HOSTILE)
    fields = {HOSTILE: HOSTILE, "url": HOSTILE}
    logger("a").error(HOSTILE, exc_info=ValueError(HOSTILE), **fields)
    written = stream.getvalue()
    assert all(letter == "\n" or letter.isprintable() for letter in written)
    # One line of ours: what follows is indented, so it cannot pass for another.
    ours = [line for line in written.splitlines() if not line.startswith("    ")]
    assert len(ours) == 1
    if as_json:
        assert json.loads(written)["url"] == HOSTILE


def test_long_text_is_cut(log):
    stream, _ = log()
    logger("a").info("met", url="x" * 100_000)
    assert len(stream.getvalue()) < 3000


def test_what_libraries_log_goes_the_same_way(log):
    stream, _ = log()
    logging.getLogger("uvicorn.error").info("not from libraries")
    logging.getLogger("uvicorn.error").warning("bad %s", "request\x1b[2J")
    assert re.search(r"Z warning uvicorn.error: bad request\\x1b\[2J\n$", stream.getvalue())
    assert len(stream.getvalue().splitlines()) == 1


def test_a_log_that_cannot_be_written_ends_nothing(log):
    stream, _ = log()
    stream.close()
    logger("a").error("nobody reads this")


def test_without_a_configuration_the_standard_log_has_it(caplog: pytest.LogCaptureFixture):
    logger("doors").warning("a policy failed", door="order", why="bad \x1b[2J")
    assert caplog.record_tuples == [
        ("gossamer.doors", logging.WARNING, 'a policy failed door=order why="bad \\x1b[2J"')
    ]


def test_a_trace_in_the_standard_log_can_be_read(caplog: pytest.LogCaptureFixture):
    logger("policy").warning("policy failed", door="order", exception="Traceback\n  bad \x1b[2J")
    (record,) = caplog.records
    assert record.getMessage() == "policy failed door=order\n    Traceback\n      bad \\x1b[2J"
