"""Which control nodes there are: one key in the engine, in which each keeps a line about itself.

Takes: the key, every third of a lease. Gives: who leads, who waits in reserve, who is lost; and whose
loss leaves the cluster without a reserve. Guarantees: one counts as lost only when its line has not
changed for a whole lease of *our* clock, and time in which we could not read does not count; who goes
in order takes its line away; a lost one's line drops off after a day, and the oldest of too many before.
Nothing is decided by it: who leads is `leader`'s business.
"""

import contextlib

import msgspec

import gossamer
from gossamer.clock import SYSTEM, Clock
from gossamer.cluster.lease import RENEWALS
from gossamer.cluster.messages import CONTROLS, Controls, Leader, Presence, decode, encode
from gossamer.cluster.summary import ControlLine
from gossamer.engine import Bucket
from gossamer.errors import ConflictError, EngineError, VersionError

FORGET = 86400.0
MOST_LOST = 16
TRIES = 5


class Standbys:
    """One control node's line, and what it knows of the others'. All calls from one task."""

    def __init__(
        self,
        bucket: Bucket,
        control: str,
        seconds: float,
        clock: Clock = SYSTEM,
    ) -> None:
        self._bucket = bucket
        self._control = control
        self._seconds = seconds
        self._clock = clock
        self.url = ""
        """Where this control node is reached, once it is."""
        self._started = self._clock.now()
        self._beat = 0
        self._beside = False
        self._lines: dict[str, Presence] = {}
        self._heard: dict[str, tuple[tuple[float, int], int]] = {}
        """The others' last beats, and when we saw them first, on CLOCK_BOOTTIME."""
        self._read = 0

    @property
    def every(self) -> float:
        return self._seconds / RENEWALS

    async def round(self) -> None:
        """Renews our line and reads the others'."""
        for left in reversed(range(TRIES)):
            try:
                await self._renew()
            except ConflictError:
                # Another one renewed its own at the same moment.
                if not left:
                    raise
            else:
                return

    async def _renew(self) -> None:
        entry = await self._bucket.get(CONTROLS)
        self._note(_decoded(entry.value) if entry else {}, self._clock.micros())
        self._beat += 1
        self._lines = self._kept() | {self._control: self._own()}
        data = encode(Controls(nodes=self._lines))
        await self._bucket.change(CONTROLS, data, entry.revision if entry else None)

    def _own(self) -> Presence:
        return Presence(
            started=self._started,
            beat=self._beat,
            time=self._clock.now(),
            url=self.url,
            program=gossamer.__version__,
            beside=self._beside,
        )

    def _note(self, found: dict[str, Presence], now: int) -> None:
        usual = round(self.every * 1e6)
        away = now - self._read - usual if self._read else 0
        # We slept or the engine was away: they may have lived, only we could not see it.
        away = away if away > usual else 0
        heard = {}
        others = {name: line for name, line in found.items() if name != self._control}
        for name, line in list(others.items()):
            beat = (line.started, line.beat)
            before, at = self._heard.get(name, (None, now))
            if before != beat and before is not None:
                self._beside = True
                # If it dies before it has seen us twice, its own line would not say it.
                others[name] = msgspec.structs.replace(line, beside=True)
            heard[name] = (beat, now if before != beat else at + away)
        self._read, self._heard, self._lines = now, heard, others

    def _silent(self, name: str) -> float:
        """Seconds of reading since its line changed."""
        return (self._read - self._heard[name][1]) / 1e6 if name in self._heard else 0.0

    def lost(self, name: str) -> bool:
        return self._silent(name) >= self._seconds

    def _kept(self) -> dict[str, Presence]:
        """The others' lines, as they are written back."""
        lost = sorted(filter(self.lost, self._lines), key=lambda name: (self._silent(name), name))
        gone = {name for name in lost if self._silent(name) >= FORGET} | set(lost[MOST_LOST:])
        kept = {name: line for name, line in self._lines.items() if name not in gone}
        if any(not self.lost(name) for name in kept if name != self._control):
            # There is a reserve again: what was lost before is made good, and nobody misses it.
            for name in set(lost) - gone:
                kept[name] = msgspec.structs.replace(kept[name], beside=False)
        return kept

    async def leave(self) -> None:
        """In order: nobody misses us."""
        for _ in range(TRIES):
            with contextlib.suppress(ConflictError):
                entry = await self._bucket.get(CONTROLS)
                lines = _decoded(entry.value) if entry else {}
                mine = lines.pop(self._control, None)
                if entry is not None and mine is not None and mine.started == self._started:
                    await self._bucket.update(
                        CONTROLS, encode(Controls(nodes=lines)), entry.revision
                    )
                return

    # --- looking

    def missed(self) -> list[str]:
        """Those that are lost and had another one beside them, if none waits in reserve now."""
        others = [name for name in self._lines if name != self._control]
        if any(not self.lost(name) for name in others):
            return []
        return sorted(name for name in others if self._lines[name].beside)

    def lines(self, leader: Leader | None, *, leading: bool) -> list[ControlLine]:
        """All of them: ours first, then who lives, then who is lost."""
        own = _line(self._control, "leads" if leading else "waits", self._own())
        others = []
        leads = leader.control if leader is not None and leader.beat >= 0 and not leading else ""
        for name, line in self._lines.items():
            if name != self._control:
                state = "lost" if self.lost(name) else "leads" if name == leads else "waits"
                others.append(_line(name, state, line))
        if leader is not None and leads not in {"", self._control, *self._lines}:
            # It has not written its line yet.
            others.append(
                ControlLine(control=leads, state="leads", url=leader.url, time=leader.time)
            )
        return [own, *sorted(others, key=lambda one: (one.state == "lost", one.control))]


def quiet() -> contextlib.AbstractContextManager[None]:
    """Without the engine, or among lines of another version, the round is left out."""
    return contextlib.suppress(EngineError, VersionError)


def _decoded(data: bytes) -> dict[str, Presence]:
    return decode(data, Controls, "a control node").nodes


def _line(name: str, state: str, line: Presence) -> ControlLine:
    return ControlLine(
        control=name,
        state=state,
        url=line.url,
        since=line.started,
        time=line.time,
        program=line.program,
    )
