"""What the engine says about the crawl, as one process sees it: map, settings, wanted state, roots.

Reading is by hint (somebody tried to change something) and by the clock, so a missed hint costs a
second. What could not be read stays as it was: nodes go on without the engine until their lease ends.
"""

import asyncio
import contextlib

from gossamer.cluster.assignment import Assignment, decode_assignment, encode_assignment
from gossamer.cluster.messages import (
    CONTROLS,
    Crawl,
    Held,
    Resume,
    Roots,
    Wanted,
    decode,
    decode_wanted,
    encode,
)
from gossamer.engine import Engine
from gossamer.errors import ConflictError, EngineEmptyError

READ_EVERY = 1.0
CONTROL = "the control node"


class CrawlState:
    """The newest that was read. `refresh` by one task; anybody may look."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.maps = engine.bucket(engine.names.map_bucket)
        self.nodes = engine.bucket(engine.names.nodes_bucket)
        self.crawls = engine.bucket(engine.names.crawl_bucket)
        self.map: Assignment | None = None
        self.map_revision: int | None = None
        self.crawl: Crawl | None = None
        self.crawl_revision: int | None = None
        self.wanted: Wanted = Resume()
        self.wanted_revision: int | None = None
        self.held: frozenset[str] = frozenset()
        """Nodes that are held back alone."""
        self.root_lists: list[list[str]] = []
        self.hint = asyncio.Event()

    @property
    def root_parts(self) -> int:
        return len(self.root_lists)

    @property
    def roots(self) -> list[str]:
        return [url for urls in self.root_lists for url in urls]

    async def open(self) -> None:
        """Listens for hints."""
        await self.maps.hints(self.hint.set)
        await self.crawls.hints(self.hint.set, CONTROLS)

    async def wait(self, seconds: float = READ_EVERY) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.hint.wait()
        self.hint.clear()

    async def refresh(self) -> None:
        """Reads all. Raises `EngineError`s; what was read before stays."""
        entry = await self.crawls.get("crawl")
        if entry is None:
            raise EngineEmptyError("the engine knows no such crawl yet; is a control node running?")
        if entry.revision != self.crawl_revision:
            self.crawl = decode(entry.value, Crawl, CONTROL)
            self.crawl_revision = entry.revision
        await self.read_wanted()
        await self.read_held()
        await self._read_roots()
        await self.read_map()

    async def read_wanted(self) -> None:
        entry = await self.crawls.get("wanted")
        if entry is not None and entry.revision != self.wanted_revision:
            self.wanted, self.wanted_revision = decode_wanted(entry.value), entry.revision

    async def read_held(self) -> int | None:
        """Gives the revision. In an engine that lost the key what was read before stays."""
        entry = await self.crawls.get("held")
        if entry is None:
            return None
        self.held = frozenset(decode(entry.value, Held, CONTROL).nodes)
        return entry.revision

    async def _read_roots(self) -> None:
        # Parts are only ever added, so only the next one has to be looked for.
        while (entry := await self.crawls.get(f"roots.{self.root_parts}")) is not None:
            self.root_lists.append(decode(entry.value, Roots, CONTROL).urls)

    async def want(self, wanted: Wanted) -> None:
        """Sets what all nodes are to do, whatever it was."""
        await self.crawls.put("wanted", encode(wanted))
        await self.refresh()

    async def set_held(self, node: str, *, hold: bool) -> None:
        """Holds one node back, or lets it go."""
        while True:
            revision = await self.read_held()
            nodes = self.held | {node} if hold else self.held - {node}
            if revision is not None and nodes == self.held:
                return
            with contextlib.suppress(ConflictError):
                await self.crawls.change("held", encode(Held(nodes=sorted(nodes))), revision)
                self.held = nodes
                return

    def forget_revisions(self) -> None:
        """The engine is a new one: everything is read again."""
        self.map_revision = self.wanted_revision = self.crawl_revision = None

    async def read_map(self) -> Assignment | None:
        entry = await self.maps.get("map")
        if entry is None:
            return None
        if entry.revision != self.map_revision:
            self.map, self.map_revision = decode_assignment(entry.value), entry.revision
        return self.map

    async def change_map(self, value: Assignment) -> None:
        """Puts a map in the place of the one that was read last. `ConflictError`: read again."""
        revision = await self.maps.change("map", encode_assignment(value), self.map_revision)
        self.map, self.map_revision = value, revision
