"""Records of a cluster: numbered once for all, and never lost in silence."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from gossamer.control import replicated_logs
from gossamer.control.audit_log import AuditLog
from gossamer.control.replicated_logs import ReplicatedLogs
from gossamer.control.service import UnreachableError
from gossamer.control.unsent import Unsent, UnsentRecords
from gossamer.engine import memory
from gossamer.engine.memory import MemoryServer


class Copy:
    """A shelf in memory."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, bytes]] = []
        self.old: list[tuple[int, bytes]] = []

    @property
    def newest(self) -> int:
        return self.rows[-1][0] if self.rows else 0

    async def take(self, number: int, body: bytes) -> None:
        self.rows.append((number, body))

    def set_aside(self) -> None:
        self.old, self.rows = self.rows, []


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Numbers are waited for however busy the machine is; to be cut where there is no engine."""

    def wait(seconds: float) -> None:
        monkeypatch.setattr(replicated_logs, "PATIENCE", seconds)

    wait(60.0)
    return wait


@contextlib.asynccontextmanager
async def node(
    server: MemoryServer, directory: Path, *, leads: bool = True, copy: Copy | None = None
) -> AsyncIterator[tuple[ReplicatedLogs, Copy]]:
    """A control node's records, with a copy of the events."""
    directory.mkdir(exist_ok=True)  # noqa: ASYNC240
    engine = await memory.connect(server, "crawl", directory.name)
    copy = copy or Copy()
    kept = ReplicatedLogs(engine, directory, leading=lambda: leads, replicas=lambda: 1)
    kept.follow("events", copy)
    try:
        async with kept:
            yield kept, copy
    finally:
        await engine.close()


async def until(condition: Callable[[], object], what: str) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert condition(), what


async def test_all_have_the_same_with_the_same_numbers(
    server: MemoryServer, tmp_path: Path
) -> None:
    async with (
        node(server, tmp_path / "a") as (a, one),
        node(server, tmp_path / "b", leads=False) as (b, two),
    ):
        numbers = [await (a, b)[turn % 2].keep("events", b"%d" % turn) for turn in range(10)]
        assert numbers == list(range(1, 11))
        # Both hear what a node says; it is kept once.
        a.post("events", b"heard by a", "key")
        b.post("events", b"heard by b", "key")
        assert await a.keep("events", b"last") == 12
        await until(lambda: one.newest == two.newest == 12, "both copies")
        assert one.rows == two.rows
        assert [body for _, body in one.rows[:10]] == [b"%d" % turn for turn in range(10)]
    assert (tmp_path / "a" / "unsent.jsonl").read_bytes() == b""


async def test_without_an_engine_it_waits_in_the_file(
    server: MemoryServer, tmp_path: Path, patience: Callable[[float], None]
) -> None:
    async with node(server, tmp_path / "a") as (kept, copy):
        assert await kept.keep("events", b"first") == 1
        server.stop()
        patience(1.0)
        assert await kept.keep("events", b"second") is None
        patience(60.0)
        assert b"second" in (tmp_path / "a" / "unsent.jsonl").read_bytes()
        assert kept.unsent("events") == [b"second"]
        server.start()
        await until(lambda: copy.newest == 2, "it is sent at last")
        assert copy.rows == [(1, b"first"), (2, b"second")]
        # Who reads may see it before who has sent it knows that it is kept.
        await until(lambda: kept.unsent("events") == [], "nothing is left to send")


async def test_what_one_process_left_the_next_one_sends(
    server: MemoryServer, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    box = UnsentRecords(tmp_path / "a" / "unsent.jsonl")
    await box.add(Unsent("k1", "events", "whole"))
    await box.add(Unsent("k2", "events", "begun", begun=True))
    await box.add(Unsent("k3", "events", "begun too", begun=True))
    await box.add(Unsent("k3", "events", "ended"))
    with (tmp_path / "a" / "unsent.jsonl").open("ab") as file:
        file.write(b'{"key":"cut')
    async with node(server, tmp_path / "a") as (kept, copy):
        assert await kept.keep("events", b"new") == 4
    assert [body for _, body in copy.rows] == [b"whole", b"begun", b"ended", b"new"]


async def test_numbers_go_on_in_an_engine_that_was_wiped(
    server: MemoryServer, tmp_path: Path
) -> None:
    async with node(server, tmp_path / "a") as (kept, copy):
        for turn in range(5):
            await kept.keep("events", b"%d" % turn)
        server.wipe()
        await kept.keep("events", b"after")
        await until(lambda: len(copy.rows) == 6, "the sixth")
        assert copy.rows[-1] == (6, b"after")


async def test_a_copy_of_other_numbers_is_set_aside(server: MemoryServer, tmp_path: Path) -> None:
    copy = Copy()
    copy.rows = [(100, b"of another engine")]
    async with (
        node(server, tmp_path / "a") as (kept, _),
        node(server, tmp_path / "b", leads=False, copy=copy),
    ):
        await kept.keep("events", b"here")
        await until(lambda: copy.rows == [(1, b"here")], "the copy begins anew")
        assert copy.old == [(100, b"of another engine")]


async def test_a_change_is_accounted_for_before_it_is_made(
    server: MemoryServer, tmp_path: Path, patience: Callable[[float], None]
) -> None:
    async with node(server, tmp_path / "a") as (kept, _):
        audit = AuditLog(tmp_path / "a" / "audit.jsonl", kept)
        await audit.open()
        async with audit.change("me", "command", None, new="pause"):
            unsent = (tmp_path / "a" / "unsent.jsonl").read_text()
            assert '"begun":true' in unsent
            assert "pause" in unsent
        (line,) = await audit.last(10)
        assert (line.id, line.who, line.done) == (1, "me", True)
        # Without an engine the line is there too.
        server.stop()
        patience(1.0)
        async with audit.change("me", "command", None, new="resume"):
            pass
        assert [one.new for one in await audit.last(10)] == ["pause", "resume"]
        assert "resume" in (tmp_path / "a" / "unsent.jsonl").read_text()
        # What cannot be accounted for is not done.
        (tmp_path / "a" / "unsent.jsonl").unlink()
        (tmp_path / "a" / "unsent.jsonl").mkdir()
        done = False
        with pytest.raises(UnreachableError, match="nothing was done"):
            async with audit.change("me", "command", None, new="stop"):
                done = True
        assert not done
        (tmp_path / "a" / "unsent.jsonl").rmdir()
