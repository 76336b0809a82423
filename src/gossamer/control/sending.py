"""Seeds, and links that the engine lost: what the control node puts into the stream.

A stream that is nearly full frees itself: see `_relieve`.
Guarantees: a seed that was taken is on disk before it is sent, and is sent when every node knows the
roots that come with it; after the engine was wiped every node sends again what it may have held.
"""

import asyncio
import contextlib
import time

from gossamer.cluster.messages import (
    Duty,
    Roots,
    decode,
    encode,
)
from gossamer.control.seat import Seat
from gossamer.engine import StreamState
from gossamer.errors import (
    EngineError,
    UsageError,
)

ROOTS_PART = 2000
SEEDS_TOGETHER = 1000
WATCH_EVERY = 2.0
MARGIN = 60.0
"""Seconds that links are sent again before the oldest that the engine may have lost."""


NEARLY = 0.8
"""Of the stream, when nodes are asked for snapshots, which let it forget."""
FULL = 0.9
RELIEF_EVERY = 10.0
LINK_BYTES = 256
"""Of a link in a message of its own: where links wait for room, messages are small at worst."""


class Sending(Seat):
    # --- seeds

    async def _put_roots(self, urls: list[str]) -> None:
        for start in range(0, len(urls), ROOTS_PART):
            part = urls[start : start + ROOTS_PART]
            number = self._view.root_parts + start // ROOTS_PART
            await self._view.crawls.create(f"roots.{number}", encode(Roots(urls=part)))

    async def add_seeds(self, urls: list[str]) -> list[tuple[str, str]]:
        """Every seed is taken, or refused with a reason; those taken are durable when this ends."""
        reasons = await asyncio.to_thread(self._coder.refusals, urls, self._settings)
        taken = [url for url, reason in zip(urls, reasons, strict=True) if reason is None]
        refused = [(u, r) for u, r in zip(urls, reasons, strict=True) if r is not None]
        if taken:
            await asyncio.to_thread(self._copy.add_seeds, taken)
            self._seeds += taken
            if self._view.crawl is not None and self.leading:
                # They are taken: what does not work now, as when two come at once, `_send_seeds` does.
                with contextlib.suppress(EngineError):
                    await self._view.refresh()
                    await self._put_roots(taken)
            self._finish.again()
            self._view.hint.set()
        return refused

    async def _send_seeds(self) -> None:
        """Sends what was not sent yet, when every node knows the roots that come with it."""
        view = self._view
        if self._seeds_sent >= len(self._seeds) or view.map is None:
            return
        # Seeds that were taken before the crawl was known, or while another led, bring theirs now.
        known_roots = set(view.roots)
        missing = [url for url in self._seeds[self._seeds_sent :] if url not in known_roots]
        if missing:
            await self._put_roots(missing)
            return
        for name in view.map.nodes():
            known = self._roster.nodes.get(name)
            if known is None or not known.alive:
                continue
            status = known.fresh
            if status is None or status.roots < view.root_parts:
                return
        for start in range(self._seeds_sent, len(self._seeds), SEEDS_TOGETHER):
            some = self._seeds[start : start + SEEDS_TOGETHER]
            for partition, payload in await asyncio.to_thread(
                self._coder.encode, some, self._settings
            ):
                await self._stream.publish(partition, payload)
            self._seeds_sent = start + len(some)
            await asyncio.to_thread(self._copy.set_sent, self._seeds_sent)

    # --- links that the engine lost

    async def _watch_stream(self) -> None:
        """Knows how far back links must be sent again, should the engine lose them."""
        if not self._sized:
            self._sized = True
            if await self._stream.resize(self._settings.cluster.links_bytes):
                self._say(
                    f"the stream of links may now hold {self._settings.cluster.links_bytes} B"
                )
        now = time.monotonic()
        if now - self._watched < WATCH_EVERY:
            return
        self._watched = now
        state = await self._stream.state()
        await self._relieve(state)
        if self._send_since is None:
            oldest = time.time() if state.oldest is None else state.oldest
            await asyncio.to_thread(self._copy.set_oldest, oldest)

    async def _relieve(self, state: StreamState) -> None:
        """Asks for snapshots before the stream is full, and lends it room for them when it is.

        A snapshot counts only when the links of its pages are in the stream, and the stream forgets
        only what a snapshot covers: full, each would wait for the other. The loan is for the links
        that wait at the nodes, whose number `cluster.backlog` bounds, and there is none when
        snapshots fail: then the stream stays full, which is told, and the nodes wait.
        """
        size = self._settings.cluster.links_bytes
        self._stream_full = state.size > FULL * size
        if state.size > NEARLY * size and time.monotonic() - self._relieved > RELIEF_EVERY:
            self._relieved = time.monotonic()
            if self._relief is None or self._relief.done():
                self._relief = asyncio.create_task(self.checkpoint())
        if state.size > FULL * state.most and not _failed(self._relief):
            waiting = sum(one.fresh.outbox for one in self._roster.nodes.values() if one.fresh)
            lent = state.size + size // 4 + waiting * LINK_BYTES
            await self._lend(lent, f"the stream of links is full: it may hold {lent} B for a while")
        elif state.most > size and state.size < size // 2:
            await self._lend(size, f"the stream of links holds {size} B at most again")

    async def _lend(self, size: int, told: str) -> None:
        try:
            await self._stream.resize(size)
            self._say(told)
        except EngineError as error:
            self._say(f"the stream of links cannot be made {size} B large: {error}")

    async def _must_send_again(self) -> None:
        """The engine was wiped: all that it may have held. Whoever leads next must know it too."""
        oldest = await asyncio.to_thread(self._copy.oldest)
        self._send_since, self._sent_again = max(0.0, (oldest or 0.0) - MARGIN), set()
        self._seeds_sent, self._sized = 0, False
        await asyncio.to_thread(self._copy.set_sent, 0)
        await self._note_duty()

    async def _note_duty(self) -> None:
        duty = Duty(since=self._send_since, done=sorted(self._sent_again))
        await self._view.crawls.put("resend", encode(duty))

    async def _read_duty(self) -> None:
        """What an earlier leader had begun."""
        if self._duty_read:
            return
        entry = await self._view.crawls.get("resend")
        if entry is not None:
            duty = decode(entry.value, Duty, "a control node")
            self._send_since, self._sent_again = duty.since, set(duty.done)
        self._duty_read = True

    async def _send_again(self) -> None:
        """After the engine was wiped: every node sends again what the engine may have held."""
        await self._read_duty()
        value, since = self._view.map, self._send_since
        if value is None or since is None:
            return
        for name in sorted(value.nodes() - self._sent_again):
            known = self._roster.nodes.get(name)
            if known is None or known.fresh is None or not known.alive:
                continue
            with contextlib.suppress(EngineError, UsageError):
                rows = await self.ask_node(name, "resend", {"since_us": round(since * 1e6)})
                self._sent_again.add(name)
                await self._note_duty()
                self._say(f"{name} sends {rows} rows of links again")
        if value.nodes() <= self._sent_again:
            self._send_since = None
            await self._note_duty()
            self._finish.again()


def _failed(relief: "asyncio.Task[dict[str, object]] | None") -> bool:
    """Some node could not take its snapshots."""
    if relief is None or not relief.done():
        return False
    return any(isinstance(answer, dict) for answer in relief.result().values())
