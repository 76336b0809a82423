"""`LinkStream` and `LinkReader`: order, positions, room, readers that are broken."""

import asyncio

import pytest
from tests.contract.engine.worlds import World, eventually, rows

from gossamer.engine import Engine, LinkStream
from gossamer.errors import EngineAwayError, EngineEmptyError, EngineFullError


async def test_links_by_partition_and_position(engine: Engine) -> None:
    stream = engine.links()
    identity = await stream.make(replicas=1, most_bytes=1 << 20)
    assert identity > 0
    assert await stream.make(replicas=1, most_bytes=1 << 20) == identity
    futures = [await stream.send(n % 3, f"{n}".encode()) for n in range(30)]
    assert await stream.sent(futures) == [None] * 30
    reader = await stream.reader({0: (identity, 10), 2: (identity + 1, 99)})
    found = await rows(reader, 16)
    # Partition 0 after sequence 10; partition 2 from its beginning: its position is of another
    # stream.
    assert [p for n, p in found if n == 0] == [b"12", b"15", b"18", b"21", b"24", b"27"]
    assert [p for n, p in found if n == 2] == [f"{n}".encode() for n in range(2, 30, 3)]
    assert await reader.drained()
    assert await reader.read() == []
    await reader.close()
    assert reader.broken
    await stream.purge(0, 16)
    assert await stream.waiting() == {0: 4, 1: 10, 2: 10}
    assert (await stream.state()).last == 30


async def test_the_state_of_a_stream(stream: LinkStream, engine: Engine) -> None:
    empty = await stream.state()
    assert (empty.last, empty.messages, empty.size, empty.oldest) == (0, 0, 0, None)
    assert empty.most == 1 << 20
    assert empty.identity == stream.identity
    numbers = [await stream.publish(n, b"link") for n in range(3)]
    assert numbers == [1, 2, 3]
    full = await stream.state()
    assert (full.first, full.last, full.messages) == (1, 3, 3)
    assert full.size > 12
    assert full.oldest is not None
    await stream.purge(0, 0)
    await stream.purge(0, 3)
    rest = await stream.state()
    assert (rest.first, rest.last, rest.messages) == (2, 3, 2)
    assert await engine.links().make(replicas=1, most_bytes=1) == stream.identity


async def test_many_make_one_stream(world: World) -> None:
    streams = [(await world.line()).links() for _ in range(5)]
    identities = await asyncio.gather(
        *(one.make(replicas=1, most_bytes=1 << 20) for one in streams)
    )
    assert len(set(identities)) == 1
    assert identities[0] == (await streams[0].state()).identity


async def test_nothing_is_there_before_it_is_made(engine: Engine) -> None:
    stream = engine.links()
    verdicts = await stream.sent([await stream.send(1, b"x")])
    assert [type(one) for one in verdicts] == [EngineEmptyError]
    calls = [
        stream.state(),
        stream.publish(1, b"x"),
        stream.waiting(),
        stream.resize(1),
        stream.renew(),
        stream.purge(1, 1),
        stream.reader({1: (0, 0)}),
    ]
    for call in calls:
        with pytest.raises(EngineEmptyError):
            await call
    assert await stream.sent([]) == []


async def test_links_that_come_later_are_read_in_order(stream: LinkStream, world: World) -> None:
    reader = await stream.reader(dict.fromkeys(range(4), (0, 0)))
    assert await reader.read() == []
    assert await reader.drained()
    far = (await world.line()).links()

    async def send() -> None:
        for start in range(0, 1000, 100):
            some = [await far.send(n % 4, b"%d" % n) for n in range(start, start + 100)]
            assert await far.sent(some) == [None] * 100

    sending = asyncio.create_task(send())
    found = await rows(reader, 1000)
    await sending
    assert found == [(n % 4, b"%d" % n) for n in range(1000)]
    assert await reader.drained()
    assert not reader.broken


async def test_a_position_says_where_to_go_on(stream: LinkStream) -> None:
    for n in range(10):
        await stream.publish(1, b"%d" % n)
    reader = await stream.reader({1: (0, 0)})
    async with asyncio.timeout(30):
        while not (found := await reader.read()):
            pass
    partition, identity, sequence, _payload = found[3]
    assert (partition, identity) == (1, stream.identity)
    again = await stream.reader({1: (identity, sequence)})
    assert await rows(again, 6) == [(1, b"%d" % n) for n in range(4, 10)]


async def test_a_new_identity_makes_everything_new(stream: LinkStream, world: World) -> None:
    before = stream.identity
    for n in range(5):
        await stream.publish(1, b"%d" % n)
    reader = await stream.reader({1: (before, 3)})
    assert await rows(reader, 2) == [(1, b"3"), (1, b"4")]
    identity = await stream.renew()
    assert identity not in {0, before}
    assert stream.identity == identity
    other = (await world.line()).links()
    state = await other.state()
    assert (state.identity, state.messages, state.last) == (identity, 5, 5)
    assert state.most == 1 << 20
    # A position in what it was is none in what it is; who reads already goes on.
    again = await other.reader({1: (before, 3)})
    assert again.identity == identity
    assert await rows(again, 5) == [(1, b"%d" % n) for n in range(5)]
    assert await stream.publish(1, b"5") == 6
    assert await rows(reader, 1) == [(1, b"5")]


async def test_a_reader_of_nothing(stream: LinkStream) -> None:
    reader = await stream.reader({})
    assert reader.broken
    assert await reader.read() == []
    assert not await reader.drained()
    await reader.close()


async def test_a_full_stream_refuses_and_forgets_nothing(engine: Engine) -> None:
    stream = engine.links()
    identity = await stream.make(replicas=1, most_bytes=20_000)
    verdicts = await stream.sent([await stream.send(1, bytes(1000)) for _ in range(40)])
    taken = verdicts.count(None)
    assert 0 < taken < 40
    assert {type(one) for one in verdicts if one is not None} == {EngineFullError}, verdicts
    with pytest.raises(EngineFullError):
        await stream.publish(1, bytes(1000))
    state = await stream.state()
    assert (state.first, state.messages) == (1, taken)
    await stream.purge(1, taken)
    assert await stream.publish(1, bytes(1000)) > taken
    reader = await stream.reader({1: (identity, taken)})
    assert await rows(reader, 1) == [(1, bytes(1000))]


async def test_room_can_be_lent(engine: Engine) -> None:
    stream = engine.links()
    await stream.make(replicas=1, most_bytes=5000)
    assert not await stream.resize(5000)
    while True:
        try:
            await stream.publish(1, bytes(1000))
        except EngineFullError:
            break
    before = await stream.state()
    assert await stream.resize(50_000)
    await stream.publish(1, bytes(1000))
    # Back to what it was: nothing is forgotten, nothing is taken.
    assert await stream.resize(5000)
    state = await stream.state()
    assert (state.messages, state.most) == (before.messages + 1, 5000)
    with pytest.raises(EngineFullError):
        await stream.publish(1, bytes(1000))


async def test_a_reader_that_the_engine_forgot_says_so(
    stream: LinkStream, engine: Engine, world: World
) -> None:
    some = [await stream.send(n % 3, b"%d" % n) for n in range(600)]
    assert await stream.sent(some) == [None] * 600
    reader = await stream.reader({0: (0, 0), 2: (0, 0)})
    # More than are asked for at a time, each partition in order.
    found = await rows(reader, 400)
    assert found == [(n % 3, b"%d" % n) for n in range(600) if n % 3 != 1]
    assert await reader.drained()
    await world.forget(engine, reader)

    async def noticed() -> bool:
        try:
            await reader.read()
        except EngineAwayError:
            return reader.broken
        return False

    await eventually(noticed, "the reader to say that it is of no use")
    assert await reader.read() == []
    assert not await reader.drained()


async def test_a_restart_loses_nothing_and_the_reader_says_so(
    stream: LinkStream, world: World
) -> None:
    identity = stream.identity
    for n in range(5):
        await stream.publish(1, f"{n}".encode())
    reader = await stream.reader({1: (0, 0)})
    assert len(await rows(reader, 5)) == 5
    await world.stop()
    with pytest.raises(EngineAwayError):
        await stream.publish(1, b"lost")
    with pytest.raises(EngineAwayError):
        await stream.send(1, b"lost")
    await world.start()
    await eventually(lambda: stream.publish(1, b"5"), "the line to come back")

    async def noticed() -> bool:
        return await reader.read() == [] and reader.broken

    await eventually(noticed, "the reader to see that the line was broken")
    assert (await stream.state()).identity == identity
    again = await stream.reader({1: (identity, 5)})
    # Where an answer came too late it was sent again.
    assert set(await rows(again, 1)) == {(1, b"5")}


async def test_a_cut_line_is_one_process_alone(world: World, stream: LinkStream) -> None:
    near, cut, mend = await world.frail_line()
    mine = near.links()
    reader = await mine.reader({1: (0, 0)})
    assert near.connections == 1
    cut()

    async def down() -> bool:
        return not near.connected

    await eventually(down, "the line to be down")
    with pytest.raises(EngineAwayError):
        await mine.publish(1, b"kept for later, and sent by nobody")
    assert await stream.publish(1, b"others") == 1
    mend()

    async def up() -> bool:
        return near.connected and near.connections == 2

    await eventually(up, "the line to be up again")
    assert await reader.read() == []
    assert reader.broken
    again = await mine.reader({1: (0, 0)})
    assert await rows(again, 1) == [(1, b"others")]
    assert (await stream.state()).last == 1


async def test_a_power_cut_gives_numbers_out_again(stream: LinkStream, world: World) -> None:
    """What was acknowledged last can be lost by an engine that does not flush it."""
    for n in range(5):
        await stream.publish(1, b"%d" % n)
    await world.remember()

    async def sent() -> bool:
        some = [await stream.send(1, b"lost") for _ in range(3)]
        return await stream.sent(some) == [None] * 3

    await eventually(sent, "the line to come back")
    before = await stream.state()
    await world.power_cut()

    async def back() -> bool:
        return (await stream.state()).last < before.last

    await eventually(back, "the engine to be there without its tail")
    state = await stream.state()
    assert (state.identity, state.last, state.messages) == (before.identity, 5, 5)
    assert await stream.publish(1, b"new") == 6
