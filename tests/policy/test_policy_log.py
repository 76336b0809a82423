"""Failures of policies in the log: a trace that can be read, every failure of its own told."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from tests.policy.batches import Rows

from gossamer.logging import _current, configure
from gossamer.node.policy_log import log_failure
from gossamer.policy import Batch
from gossamer.policy.ask import FailedError, Failure, ask

HOSTILE = "bad \x1b[2J\u202e value"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, stages = root.handlers[:], root.level, _current.stages
    yield
    _current.stages = stages
    root.handlers, root.level = handlers, level


class Raising:
    name = "raising"
    columns = ("url",)

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.depth = text, depth

    def score(self, batch: Batch) -> None:
        self._deeper(self.depth)

    def _deeper(self, left: int) -> None:
        # Two functions in turn: equal lines of a trace are folded by Python.
        if left == 0:
            raise ValueError(self.text)
        self._still_deeper(left - 1)

    def _still_deeper(self, left: int) -> None:
        self._deeper(left)


def failure(text: str, depth: int = 0) -> Failure:
    with pytest.raises(FailedError) as raised:
        ask(Rows("order", {"url": ["http://a/"]}, 1), [Raising(text, depth)])
    return raised.value.failure


def written(*failures: Failure, as_json: bool = False) -> list[str]:
    stream = io.StringIO()
    configure(stream=stream, as_json=as_json)
    for one in failures:
        log_failure(one)
    return stream.getvalue().splitlines()


def test_a_trace_is_lines_of_its_own_to_the_last() -> None:
    first, *trace = written(failure(HOSTILE, depth=60))
    assert first.endswith(
        "warning policy: policy failed  door=order policy=raising kind=raised "
        'error="ValueError: bad \\x1b[2J\\u202e value"'
    )
    assert trace[0] == "    Traceback (most recent call last):"
    assert trace[-1] == "    ValueError: bad \\x1b[2J\\u202e value"
    assert all(line.startswith("    ") and line.isprintable() for line in trace)
    assert sum(len(line) for line in trace) > 2000


def test_in_json_a_failure_is_one_object() -> None:
    (line,) = written(failure(HOSTILE, depth=60), as_json=True)
    assert line.isprintable()
    told = json.loads(line)
    assert (told["event"], told["door"], told["policy"]) == ("policy failed", "order", "raising")
    assert told["exception"].splitlines()[-1] == f"ValueError: {HOSTILE}"


def test_another_exception_is_told_although_one_was_just_now() -> None:
    lines = written(failure("one"), failure("one"), failure("two"), failure("one"))
    told = [line for line in lines if "policy failed" in line]
    assert [line.rpartition("ValueError: ")[2] for line in told] == ['one"', 'two"']


def test_a_policy_that_is_late_has_no_trace() -> None:
    (line,) = written(Failure("order", "p", "late", "no answer within 2 s"))
    assert line.endswith('policy=p kind=late error="no answer within 2 s"')


def test_an_exception_with_a_whole_page_in_it_is_bounded() -> None:
    (line,) = written(failure("x" * 1_000_000), as_json=True)
    assert len(line) < 30_000
    assert json.loads(line)["error"].startswith("ValueError: xxx")
