"""Time that a test sets: the clock, and the loop that runs by it."""

import asyncio
import threading
import time

import pytest

from gossamer.clock import SYSTEM, Clock, SettableClock, SettableLoop


@pytest.mark.parametrize("clock", [SYSTEM, SettableClock()], ids=["system", "settable"])
def test_its_readings_belong_together(clock: Clock) -> None:
    first, micros, second = clock.monotonic(), clock.micros(), clock.monotonic()
    assert first - 1e-6 <= micros / 1e6 <= second + 1e-6
    assert clock.now() > 1_700_000_000


def test_the_system_clock_runs() -> None:
    before, day = SYSTEM.monotonic(), SYSTEM.now()
    time.sleep(0.01)
    assert SYSTEM.monotonic() >= before + 0.01
    assert SYSTEM.now() != day


def test_a_settable_clock_stands_until_it_is_moved() -> None:
    clock = SettableClock(now=100.0)
    before = clock.micros()
    assert clock.now() == 100.0
    clock.advance(2.5)
    assert (clock.now(), clock.micros() - before) == (102.5, 2_500_000)
    # Never a moment short: what waits would wait for ever.
    clock.advance(1e-9)
    assert clock.micros() - before == 2_500_001
    clock.set_now(50.0)
    assert (clock.now(), clock.micros() - before) == (50.0, 2_500_001)
    clock.advance(1.0)
    assert clock.now() == 51.0
    with pytest.raises(ValueError, match="forward"):
        clock.advance(-1.0)


def run(coroutine):
    loop = SettableLoop()
    try:
        return loop.run_until_complete(coroutine)
    finally:
        loop.close()


def test_hours_pass_in_order_and_in_no_time() -> None:
    told: list[tuple[str, float]] = []

    async def every(name: str, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            told.append((name, loop.time() - begun))

    async def both() -> None:
        tasks = [asyncio.create_task(every("a", 1800.0)), asyncio.create_task(every("b", 2500.0))]
        await asyncio.sleep(5500.0)
        for task in tasks:
            task.cancel()

    loop = SettableLoop()
    begun, real = loop.time(), time.monotonic()
    loop.run_until_complete(both())
    loop.close()
    assert time.monotonic() - real < 10
    assert [name for name, _ in told] == ["a", "b", "a", "b", "a"]
    assert [at for _, at in told] == pytest.approx([1800, 2500, 3600, 5000, 5400], abs=1e-3)


def test_time_outs_are_by_its_clock() -> None:
    async def wait() -> float:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30.0):
                await asyncio.Event().wait()
        return loop.time() - begun

    assert run(wait()) == pytest.approx(30.0, abs=1e-3)


def test_a_thread_at_work_holds_time_still() -> None:
    begin, working = threading.Event(), threading.Event()

    def work() -> str:
        working.set()
        begin.wait(30)
        return "done"

    async def both() -> tuple[str, float]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        nap = asyncio.create_task(asyncio.sleep(1000.0))
        thread = asyncio.create_task(asyncio.to_thread(work))
        while not working.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0)
        threading.Timer(0.2, begin.set).start()
        result = await thread
        passed = loop.time() - begun
        nap.cancel()
        return result, passed

    result, passed = run(both())
    assert result == "done"
    assert passed < 1.0


def test_who_waits_for_nothing_is_told_so() -> None:
    loop = SettableLoop()
    task = loop.create_task(asyncio.Event().wait())
    with pytest.raises(RuntimeError, match="nothing will ever wake"):
        loop.run_until_complete(task)
    task.cancel()
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()
