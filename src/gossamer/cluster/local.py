"""A cluster on one machine: an engine, a control node and some crawl nodes as processes of their own.

Takes: a directory and settings. Guarantees: the processes end with this one, however it ends; a
control node or an engine that dies is started again at once, a crawl node when its lease is over (so
that it is clear to everybody who owns its partitions). Nothing is shared between the processes but
the engine and the place of the snapshots, as on many machines.
"""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cluster.member import GRACE
from gossamer.cluster.requests import ask_control, operator
from gossamer.cluster.summary import Summary
from gossamer.engine import Access, Engine, Server, connect
from gossamer.errors import GossamerError
from gossamer.logging import logger
from gossamer.model.stopping import stopping

_log = logger("cluster")

LOOK_EVERY = 0.2
RECORDS = 256 << 20
"""Room in the engine for events, submissions and the audit log."""

END_SECONDS = 60.0
STOP_SECONDS = 5.0
"""How long the control node may take to hear that the crawl ends."""
RESTARTS = 10
_decode = msgspec.json.Decoder(Summary).decode


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Child:
    """One process, with its own directory and a file for what it says."""

    def __init__(self, name: str, directory: Path, arguments: list[str]) -> None:
        self.name = name
        self.directory = directory
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.died: float | None = None

    def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "messages").open("ab") as messages:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "gossamer.cli.main", *self._arguments, "--supervised"],
                # Its end tells the child that we are gone.
                stdin=subprocess.PIPE,
                stdout=messages,
                stderr=messages,
                start_new_session=True,
            )
        (self.directory / "pid").write_text(f"{self._process.pid}\n")
        self.starts += 1
        self.died = None

    @property
    def code(self) -> int | None:
        """The exit code; None: it runs, or was never started."""
        return self._process.poll() if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def last_words(self) -> str:
        try:
            lines = (self.directory / "messages").read_text(errors="replace").splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def end(self) -> None:
        """Asks it to save and end; a second time, to wait for nothing."""
        if self.running and self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        if self._process is not None:
            if self.running:
                self._process.kill()
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()


class LocalCluster:
    def __init__(
        self,
        out: Path,
        *,
        nodes: int,
        urls: list[str],
        access: Callable[[list[str], Path | None], Access],
        crawl: str,
        lease: float,
        links_bytes: int,
        control_port: int,
        log_options: list[str],
    ) -> None:
        self.out = out
        self._port = control_port
        self._count = nodes
        self._urls = urls
        self._access = access
        self._crawl = crawl
        self._lease = lease
        self._log_options = log_options
        self._server = (
            None
            if urls
            else Server(out / "engine", most_bytes=4 * links_bytes + RECORDS, guarded=True)
        )
        self._children: list[Child] = []
        self._control: Child | None = None
        self._last_node = 0
        self.summary: Summary | None = None
        self._stopping_since: float | None = None

    async def run(
        self,
        show: Callable[[Summary], None],
        interrupted: Callable[[], int],
        *,
        resume: bool,
        more_seeds: list[str],
        changes: dict[str, Any],
    ) -> Summary:
        """Until the crawl is done or we are interrupted; gives the last summary."""
        if self._server is not None:
            # From this thread: the server ends when the thread does that started it.
            self._server.start()
            self._urls = [self._server.url]
        try:
            token = self._server.token if self._server else None
            line = self._access(self._urls, token)
            engine = await connect(line, self._crawl, "gossamer cluster")
            try:
                await engine.listen(engine.names.summary, self._note)
                await engine.serve(engine.names.launcher, self._launch)
                await self._run(engine, show, interrupted, resume, more_seeds, changes)
            finally:
                await engine.close()
        finally:
            for child in self._children:
                child.kill()
            if self._server is not None:
                self._server.stop()
        return self._last()

    def _note(self, _subject: str, data: bytes) -> None:
        self.summary = _decode(data)

    def _last(self) -> Summary:
        file = self.out / "control" / "summary.json"
        if file.exists():
            return _decode(file.read_bytes())
        if self.summary is None:
            raise GossamerError(
                "the cluster ended before it began",
                do=f"see why in {self.out / 'control' / 'messages'}",
            )
        return self.summary

    def _arguments(self, kind: str) -> list[str]:
        token = ["--set", f"cluster.token={self._server.token}"] if self._server else []
        return [
            kind,
            "--engine",
            ",".join(self._urls),
            "--config",
            str(self.out / "crawl.toml"),
            *token,
            *self._log_options,
        ]

    async def _run(  # noqa: PLR0917
        self,
        engine: Engine,
        show: Callable[[Summary], None],
        interrupted: Callable[[], int],
        resume: bool,
        more_seeds: list[str],
        changes: dict[str, Any],
    ) -> None:
        (self.out / "control" / "summary.json").unlink(missing_ok=True)
        control = [*self._arguments("control"), "--out", str(self.out / "control")]
        control += ["--name", "control", "--until-done", "--expect", str(self._count)]
        control += ["--resume"] if resume else []
        if not _is_free(self._port):
            _log.warning("the port is in use: the dashboard takes another one", port=self._port)
            control += ["--set", "control.port=0"]
        self._control = Child("control", self.out / "control", control)
        self._children.append(self._control)
        self._control.start()
        # Nodes that came before the control node has said that the crawl goes on would end again.
        while self.summary is None or self.summary.wanted == "shutdown":
            if not self._control.running:
                raise GossamerError(
                    f"the control node ended: {self._control.last_words()}",
                    do=f"see more in {self._control.directory / 'messages'}",
                )
            if interrupted():
                return await self._end(show, interrupted)
            await asyncio.sleep(0.05)
        if changes:
            await ask_control(engine, "settings", {"values": changes}, 60.0, who=operator())
        if more_seeds:
            await ask_control(engine, "seeds", {"urls": more_seeds}, 60.0, who=operator())
        for _ in range(self._count):
            self._start_node()
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if self.summary is not None:
                show(self.summary)
            if interrupted():
                return await self._stop(engine, show, interrupted)
            if self._finished():
                return await self._wait_for_all(show, interrupted)
            await self._supervise(engine)

    def _start_node(self) -> str:
        """The next node; its number grows, so a removed one's directory is not used again."""
        self._last_node += 1
        name = f"n{self._last_node}"
        directory = self.out / "nodes" / name
        arguments = [*self._arguments("node"), "--name", name, "--out", str(directory)]
        child = Child(name, directory, arguments)
        self._children.append(child)
        child.start()
        return name

    async def _launch(self, _request: bytes) -> bytes:
        """Another node, asked for through the control node."""
        return self._start_node().encode()

    def _finished(self) -> bool:
        return self._control is not None and self._control.code == 0

    async def _supervise(self, engine: Engine) -> None:
        if self._server is not None and not self._server.running:
            _log.warning("nats-server ended; starting it again")
            self._server.start()
        for child in self._children:
            if child.running or child.code is None or child.code == 0:
                continue
            now = time.monotonic()
            if child.died is None:
                child.died = now
                _log.warning(
                    "a process ended", name=child.name, code=child.code, said=child.last_words()
                )
            wait = 0.0 if child is self._control else 2 * self._lease
            if now - child.died < wait:
                continue
            if child.starts > RESTARTS:
                raise GossamerError(
                    f"{child.name} does not stay up: {child.last_words()}",
                    do=f"see more in {child.directory / 'messages'}",
                )
            if not engine.connected:
                continue
            child.start()

    async def _stop(
        self, engine: Engine, show: Callable[[Summary], None], interrupted: Callable[[], int]
    ) -> None:
        """As `gossamer stop` does, so that the control node counts what the nodes did last."""
        self._say(show, interrupted())
        try:
            await ask_control(engine, "stop", None, STOP_SECONDS, who=operator())
        except GossamerError as error:
            _log.warning("the control node was not told; the processes are ended", error=str(error))
            await self._end(show, interrupted)
        else:
            await self._wait_for_all(show, interrupted)

    async def _end(self, show: Callable[[Summary], None], interrupted: Callable[[], int]) -> None:
        """Saves everything: the control node first, so that nobody is taken out for leaving."""
        for child in self._children:
            child.end()
        await self._wait_for_all(show, interrupted)

    def _say(self, show: Callable[[Summary], None], interrupts: int) -> None:
        """What the end waits for."""
        if self.summary is None:
            return
        nodes = [one for one in self._children if one.running and one is not self._control]
        self._stopping_since = self._stopping_since or time.monotonic()
        # Nodes that have ended leave nothing to wait for.
        left = GRACE - (time.monotonic() - self._stopping_since) if nodes else 0.0
        where = f" on {len(nodes)} node{'' if len(nodes) == 1 else 's'}"
        progress = stopping(self.summary.progress, left, interrupts=interrupts, where=where)
        self.summary.progress = progress
        show(self.summary)

    async def _wait_for_all(
        self, show: Callable[[Summary], None], interrupted: Callable[[], int]
    ) -> None:
        end = time.monotonic() + END_SECONDS
        hurried = False
        while any(child.running for child in self._children):
            self._say(show, interrupted())
            if interrupted() > 1 and not hurried:
                hurried = True
                for child in self._children:
                    if child is not self._control:
                        child.end()
            if time.monotonic() > end:
                names = [child.name for child in self._children if child.running]
                _log.warning("killing what did not end", names=", ".join(names))
                return
            await asyncio.sleep(LOOK_EVERY)
