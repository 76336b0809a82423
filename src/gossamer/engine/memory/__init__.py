"""The engine within one process, for tests: the same ports, with faults that a test switches on.

`MemoryServer` is what all lines share, and where faults are made: away, slow, choosing a leader, wiped,
full, without its tail, without answers. `line` is one line; `bucket`, `links` and `records` are what is
kept. Nothing here waits for a real clock: on a `SettableLoop` a time-out of ten seconds takes none.
"""

from gossamer.engine.memory.faults import Faults
from gossamer.engine.memory.line import MemoryEngine, connect
from gossamer.engine.memory.server import MemoryServer

__all__ = ["Faults", "MemoryEngine", "MemoryServer", "connect"]
