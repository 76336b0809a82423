"""Questions and answers in process: the kind of an error survives the way, and what is away is asked again."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from gossamer._native import StateError, StateFullError
from gossamer.clock import SettableLoop
from gossamer.cluster import requests
from gossamer.cluster.messages import Answer, Question, decode, encode
from gossamer.cluster.questions import Questions
from gossamer.cluster.requests import KINDS, ask_control, ask_node, failure, persist, result_of
from gossamer.control.audit_log import AuditLog
from gossamer.control.leader.command_requests import CommandRequests
from gossamer.control.leader.control_node import ControlNode
from gossamer.engine import Engine, Names
from gossamer.errors import (
    DiskFullError,
    EngineAwayError,
    EngineEmptyError,
    GossamerError,
    NoResponderError,
    SettingsError,
    UsageError,
)

AWAY = "ask $JS.API.STREAM.MSG.GET.KV_crawl_map: no answer in time"


class Line:
    """A line to one answerer, which may be away. Stands in for the engine."""

    def __init__(self, answer: Callable[[bytes], Awaitable[bytes | None]]) -> None:
        self.names = Names("crawl")
        self._answer = answer
        self.asked = 0
        self.deaf = 0
        """So many requests are heard by nobody."""

    async def request(self, subject: str, payload: bytes, seconds: float = 5.0) -> bytes:
        self.asked += 1
        if self.deaf:
            self.deaf -= 1
            raise NoResponderError(f"ask {subject}: nobody answers there")
        try:
            async with asyncio.timeout(seconds):
                answer = await self._answer(payload)
        except TimeoutError as error:
            raise EngineAwayError(f"ask {subject}: no answer in time") from error
        if answer is None:
            raise EngineAwayError(f"ask {subject}: no answer in time")
        return answer


class Leading:
    """The commands of a control node that leads, whose engine is away for a while."""

    def __init__(self, error: Exception | None = None, times: int = 10**9) -> None:
        self.leading = True
        self.error, self.times = error, times
        self.done = 0
        self.tried = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def pause(self) -> None:
        self.tried += 1
        await self.gate.wait()
        if self.error is not None and self.times:
            self.times -= 1
            raise self.error
        self.done += 1


class Leader:
    """A control node that has no parts but its commands."""

    def __init__(self, commands: Leading) -> None:
        self.commands = commands

    @property
    def leading(self) -> bool:
        return self.commands.leading


def line_to(leading: Leading, tmp_path: Path) -> tuple[Engine, Line]:
    node = cast("ControlNode", Leader(leading))
    line = Line(CommandRequests(node, AuditLog(tmp_path / "audit.jsonl")).answer)
    return cast("Engine", line), line


async def asked(line: Line, times: int) -> None:
    async with asyncio.timeout(20):
        while line.asked < times:  # noqa: ASYNC110  a counter, not an event
            await asyncio.sleep(0.001)


def in_no_time(asking: Coroutine[Any, Any, None]) -> None:
    """By a clock that moves when everything waits: how busy the machine is makes no difference."""
    with asyncio.Runner(loop_factory=SettableLoop) as runner:
        runner.run(asking)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AGAIN_AFTER", 0.01)


@pytest.mark.parametrize("kind", KINDS.values())
def test_an_error_arrives_as_the_kind_that_it_was(kind: type[GossamerError]) -> None:
    sent = decode(encode(failure(kind("it is so"))), Answer)
    with pytest.raises(GossamerError, match="it is so") as found:
        result_of(sent)
    assert type(found.value) is kind


def test_errors_without_a_name_of_their_own() -> None:
    class SpecialError(EngineAwayError): ...

    assert failure(SpecialError("x")).kind == "engine_away"
    assert failure(NoResponderError("x")).kind == "engine_away"
    # Wrong use is told from our own defects where it is found.
    assert failure(ValueError("a defect")).kind == "failed"
    assert failure(msgspec.ValidationError("a defect")).kind == "failed"
    assert failure(OSError("disk")).kind == "failed"
    assert failure(RuntimeError()).error == "RuntimeError"


def test_an_older_answer_without_a_kind_is_no_wrong_use() -> None:
    with pytest.raises(GossamerError) as found:
        result_of(Answer(error="ask X: no answer in time"))
    assert not isinstance(found.value, UsageError)


@pytest.mark.parametrize("error", [EngineAwayError(AWAY), EngineEmptyError("no stream answers")])
async def test_a_command_waits_for_an_engine_that_elects(tmp_path: Path, error: Exception) -> None:
    leading = Leading(error, times=3)
    engine, line = line_to(leading, tmp_path)
    await ask_control(engine, "pause", seconds=20.0)
    assert (leading.done, leading.tried, line.asked) == (1, 4, 4)


def test_then_it_says_what_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AGAIN_AFTER", 1.0)

    async def give() -> None:
        engine, line = line_to(Leading(EngineAwayError(AWAY)), tmp_path)
        with pytest.raises(EngineAwayError, match="KV_crawl_map: no answer in time") as found:
            await ask_control(engine, "pause", seconds=4.5)
        assert not isinstance(found.value, UsageError)
        # After 0, 1, 2, 3 and 4 s, however long the audit log takes to be written.
        assert line.asked == 5

    in_no_time(give())


async def test_wrong_use_is_said_at_once(tmp_path: Path) -> None:
    leading = Leading(SettingsError("no such setting"))
    engine, line = line_to(leading, tmp_path)
    for name, body, error in (
        ("pause", None, SettingsError),
        ("dance", None, UsageError),
        ("pause", {"much": 1}, UsageError),
        ("move", None, UsageError),
    ):
        line.asked = 0
        with pytest.raises(error):
            await ask_control(engine, name, body, seconds=20.0)
        assert line.asked == 1, name


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, KeyError, msgspec.DecodeError])
async def test_a_defect_is_answered_as_a_failure(tmp_path: Path, kind: type[Exception]) -> None:
    engine, _ = line_to(Leading(kind("boom")), tmp_path)
    with pytest.raises(GossamerError, match="boom") as found:
        await ask_control(engine, "pause", seconds=20.0)
    assert type(found.value) is GossamerError


async def test_a_command_that_comes_before_anybody_leads_is_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "ONE_TRY", 0.05)
    leading = Leading()
    engine, line = line_to(leading, tmp_path)
    leading.leading, line.deaf = False, 2
    asking = asyncio.create_task(ask_control(engine, "pause", seconds=30.0))
    await asked(line, 4)
    assert leading.done == 0
    leading.leading = True
    await asking
    assert leading.done == 1


def test_where_there_is_no_control_node_a_command_ends_sooner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "AGAIN_AFTER", 1.0)

    async def give() -> None:
        engine, line = line_to(Leading(), tmp_path)
        line.deaf = 10**9
        with pytest.raises(GossamerError, match="no control node answers") as found:
            await ask_control(engine, "pause", seconds=600.0)
        assert type(found.value) is GossamerError
        assert line.asked == 1 + requests.NOBODY

    in_no_time(give())


async def test_a_slow_command_that_is_sent_again_is_done_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "ONE_TRY", 0.02)
    leading = Leading()
    engine, line = line_to(leading, tmp_path)
    leading.gate.clear()
    asking = asyncio.create_task(ask_control(engine, "pause", seconds=30.0))
    await asked(line, 4)
    leading.gate.set()
    await asking
    assert (leading.tried, leading.done) == (1, 1)


async def test_every_try_that_failed_is_in_the_audit_log(tmp_path: Path) -> None:
    engine, _ = line_to(Leading(EngineAwayError(AWAY), times=1), tmp_path)
    await ask_control(engine, "pause", seconds=20.0, who="ann@here")
    lines = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert [('"done":true' in line, "ann@here" in line) for line in lines] == [
        (False, True),
        (True, True),
    ]


class Native:
    """The native node's part in two questions."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def why(self, _url: str) -> str:
        raise self._error

    def rerank(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("no URL"), UsageError),
        (OSError("the disk"), GossamerError),
        (DiskFullError("full"), DiskFullError),
        (StateFullError("no space left"), DiskFullError),
        (StateError("damaged"), GossamerError),
        (EngineAwayError(AWAY), EngineAwayError),
    ],
)
async def test_a_node_answers_with_the_kind_too(
    error: Exception, kind: type[GossamerError]
) -> None:
    nothing = cast("Any", None)
    questions = Questions(
        cast("Any", Native(error)),
        nothing,
        stop=nothing,
        status=nothing,
        visits=nothing,
        directory=nothing,
    )
    engine = cast("Engine", Line(questions.answer))
    with pytest.raises(GossamerError, match="n1: ") as found:
        await ask_node(engine, "n1", "why", {"url": "x"})
    assert type(found.value) is kind
    with pytest.raises(UsageError):
        await ask_node(engine, "n1", "why", {"uri": "x"})
    with pytest.raises(UsageError, match="does not know the question"):
        await ask_node(engine, "n1", "sing")
    if isinstance(error, ValueError):
        # Nobody gave a value that could be wrong: it is ours.
        with pytest.raises(GossamerError, match="n1: ") as found:
            await ask_node(engine, "n1", "rerank")
        assert type(found.value) is GossamerError


async def test_a_node_that_is_away_is_named() -> None:
    async def silent(_data: bytes) -> None:
        return None

    line = Line(silent)
    with pytest.raises(EngineAwayError, match="node n7 does not answer"):
        await ask_node(cast("Engine", line), "n7", "status")
    line.deaf = 1
    with pytest.raises(NoResponderError, match="node n7 does not answer"):
        await ask_node(cast("Engine", line), "n7", "status")


async def test_only_what_passes_is_tried_again() -> None:
    tried = 0

    async def refused() -> None:
        nonlocal tried
        tried += 1
        raise UsageError("no")

    with pytest.raises(UsageError):
        await persist(refused, 20.0)
    assert tried == 1


def test_fields_that_older_programs_do_not_send_are_optional() -> None:
    old = decode(b'{"type":"question","version":3,"name":"status"}', Question)
    assert (old.id, old.who) == ("", "")
    assert decode(b'{"type":"answer","version":3,"error":"x"}', Answer).kind == ""
