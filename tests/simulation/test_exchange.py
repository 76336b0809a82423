"""`Sender` and `Receiver` on the engine in memory: at least once, nothing forgotten, nothing in between lost."""

import asyncio

import pytest

from gossamer.clock import SettableClock
from gossamer.cluster.exchange import WINDOW, Receiver, Sender
from gossamer.engine import Engine, LinkStream, Message
from gossamer.engine.memory import MemoryEngine, MemoryServer
from gossamer.engine.ports import ACK_TIMEOUT
from gossamer.engine.tasks import end
from gossamer.errors import EngineAwayError, EngineEmptyError, EngineFullError


class Outbox:
    """Messages that wait; the engine has them when they are acknowledged."""

    def __init__(self, count: int, size: int = 1) -> None:
        self.waiting = {n: (n % 4, bytes(size)) for n in range(count)}
        self.on_its_way: set[int] = set()
        self.safe: list[int] = []
        self.returned: list[int] = []

    def outgoing(self, most: int) -> list[tuple[int, int, int, bytes]]:
        some = [n for n in self.waiting if n not in self.on_its_way][:most]
        self.on_its_way.update(some)
        return [(n, self.waiting[n][0], 3, self.waiting[n][1]) for n in some]

    def acknowledge(self, tokens: list[int]) -> None:
        self.safe += tokens
        for token in tokens:
            del self.waiting[token]

    def give_back(self, tokens: list[int]) -> None:
        self.returned += tokens
        self.on_its_way.difference_update(tokens)


class Inbox:
    """Partitions 0 to 3; what is taken is safe when `store` was called."""

    def __init__(self) -> None:
        self.held = [0, 1, 2, 3]
        self.cold: list[int] = []
        self.number = 1
        self.room = 1000
        self.taken: list[Message] = []
        self.safe: dict[int, tuple[int, int]] = {}

    def generation(self) -> int:
        return self.number

    def receive(self, generation: int, messages: list[Message]) -> int:
        assert generation == self.number
        some = messages[: self.room]
        self.taken += some
        return len(some)

    def store(self) -> None:
        for partition, stream, sequence, _payload in self.taken:
            self.safe[partition] = (stream, sequence)

    def partitions(self) -> list[tuple[int, int]]:
        return [(number, 1) for number in self.held]

    def frozen(self) -> list[int]:
        return self.cold

    def positions(self) -> dict[int, tuple[int, int]]:
        return self.safe

    @property
    def sequences(self) -> list[int]:
        return [sequence for _partition, _stream, sequence, _payload in self.taken]


@pytest.fixture
async def stream(engine: Engine) -> LinkStream:
    one = engine.links()
    await one.make(replicas=1, most_bytes=100_000)
    return one


async def test_a_window_at_a_time(stream: LinkStream) -> None:
    box = Outbox(WINDOW + 10)
    sender = Sender(box, stream)
    assert await sender.round() == WINDOW
    assert await sender.round() == 10
    assert await sender.round() == 0
    assert box.safe == list(range(WINDOW + 10))
    assert (sender.messages, sender.links, sender.bytes) == (138, 3 * 138, 138)
    assert (await stream.state()).messages == 138


async def test_what_is_not_acknowledged_is_given_back(
    stream: LinkStream, server: MemoryServer, clock: SettableClock
) -> None:
    box = Outbox(10)
    sender = Sender(box, stream)
    server.faults.lose_answers = 3
    begun = clock.monotonic()
    with pytest.raises(EngineAwayError):
        await sender.round()
    assert clock.monotonic() - begun == pytest.approx(ACK_TIMEOUT, abs=0.01)
    assert (sorted(box.returned), sorted(box.safe)) == ([0, 1, 2], list(range(3, 10)))
    assert await sender.round() == 3
    assert sorted(box.safe) == list(range(10))
    # The engine has some twice; whoever reads them does not mind.
    assert (await stream.state()).messages == 13


async def test_without_the_engine_everything_is_given_back_at_once(
    stream: LinkStream, server: MemoryServer, clock: SettableClock
) -> None:
    box = Outbox(10)
    told: list[str] = []
    sender = Sender(box, stream, clock, told.append)
    running = asyncio.create_task(sender.run())
    await asyncio.sleep(0.1)
    assert box.waiting == {}
    server.stop()
    box.waiting = {20: (1, b"later")}
    await asyncio.sleep(5.0)
    assert sender.trouble == "links wait: send links for partition 1: not connected"
    assert set(box.returned) == {20}
    server.start()
    await asyncio.sleep(2.0)
    assert (box.waiting, sender.trouble) == ({}, "")
    # It was told once, for those who look later.
    assert told == ["links wait: send links for partition 1: not connected"]
    await end([running])


async def test_a_full_stream_is_told_as_such(engine: MemoryEngine) -> None:
    stream = engine.links()
    await stream.make(replicas=1, most_bytes=20_000)
    box = Outbox(40, size=1000)
    sender = Sender(box, stream)
    with pytest.raises(EngineFullError):
        await sender.round()
    assert len(box.safe) + len(box.returned) == 40
    assert 0 < len(box.safe) < 40
    assert sorted(box.waiting) == sorted(box.returned)


async def test_a_stream_that_is_gone(stream: LinkStream, server: MemoryServer) -> None:
    server.streams.clear()
    box = Outbox(3)
    with pytest.raises(EngineEmptyError):
        await Sender(box, stream).round()
    assert sorted(box.returned) == [0, 1, 2]


async def test_reads_what_is_held_and_not_frozen(stream: LinkStream, clock: SettableClock) -> None:
    for n in range(12):
        await stream.publish(n % 4, b"%d" % n)
    inbox = Inbox()
    inbox.held, inbox.cold = [0, 1, 2], [1]
    receiver = Receiver(inbox, stream, clock)
    await receiver.round()
    assert inbox.sequences == [1, 3, 5, 7, 9, 11]
    assert receiver.messages == 6
    # Partitions come and go: from the positions that are safe, not from those that were read.
    inbox.held, inbox.cold, inbox.number = [0, 3], [], 2
    inbox.safe = {0: (stream.identity, 5)}
    inbox.taken.clear()
    await receiver.round()
    assert inbox.sequences == [4, 8, 9, 12]


async def test_a_node_that_takes_little_at_a_time(stream: LinkStream, clock: SettableClock) -> None:
    for n in range(20):
        await stream.publish(n % 4, b"%d" % n)
    inbox = Inbox()
    inbox.room = 3
    await Receiver(inbox, stream, clock).round()
    assert inbox.sequences == list(range(1, 21))


async def test_read_to_is_what_is_safe(stream: LinkStream, clock: SettableClock) -> None:
    for n in range(8):
        await stream.publish(n % 4, b"%d" % n)
    inbox = Inbox()
    receiver = Receiver(inbox, stream, clock)
    for _ in range(3):
        await receiver.round()
    assert (receiver.read_to, len(inbox.taken)) == (0, 8)
    inbox.store()
    await receiver.round()
    assert (receiver.read_to, receiver.identity) == (8, stream.identity)
    # Who holds nothing has nothing to read.
    empty = Inbox()
    empty.held = []
    idle = Receiver(empty, stream, clock)
    await idle.round()
    assert idle.read_to == 8


@pytest.mark.parametrize("fault", ["forgotten", "restarted", "wiped"])
async def test_after_a_fault_it_reads_from_what_is_safe(
    stream: LinkStream, server: MemoryServer, clock: SettableClock, fault: str
) -> None:
    for n in range(8):
        await stream.publish(n % 4, b"%d" % n)
    inbox = Inbox()
    receiver = Receiver(inbox, stream, clock)
    running = asyncio.create_task(receiver.run())
    await asyncio.sleep(1.0)
    assert inbox.sequences == list(range(1, 9))
    # Only half of it was stored.
    inbox.safe = dict.fromkeys(range(4), (stream.identity, 4))
    inbox.taken.clear()
    if fault == "forgotten":
        server.forget_readers()
    else:
        server.stop()
        await asyncio.sleep(3.0)
        assert receiver.trouble.startswith("links cannot be read: ")
        assert receiver.trouble.endswith(": not connected")
        if fault == "wiped":
            server.wipe()
        server.start()
        await asyncio.sleep(1.0)
    if fault == "wiped":
        assert receiver.trouble.endswith("stream not found")
        await stream.make(replicas=1, most_bytes=100_000)
    await stream.publish(2, b"new")
    await asyncio.sleep(3.0)
    await end([running])
    # A new stream counts from its beginning, whatever the position in the old one was.
    assert inbox.sequences == ([1] if fault == "wiped" else [5, 6, 7, 8, 9])
    assert receiver.trouble == ""
