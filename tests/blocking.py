"""No blocking call in an event loop: one that our code makes there raises, and so fails the test."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from blockbuster import BlockBuster

ALLOWED: Final = [
    # Reads a pipe that was made not to block, when the loop says that there is something.
    ("gossamer/cli/supervised.py", {"look"}),
    # `gossamer cluster` only supervises processes of this machine: nothing in its loop waits for it.
    ("gossamer/cluster/local.py", {"run", "_launch"}),
    # The engine ends with the thread that started it, which must be the one that stays.
    ("gossamer/engine/server.py", {"start", "stop"}),
    # The client of NATS asks for them by a call that it does not await; a file of a few lines.
    ("gossamer/engine/jetstream/credentials.py", {"data"}),
    # Once, before anything is served.
    ("gossamer/control/api/app.py", {"guarded_app"}),
    # Modules that are loaded when they are asked for: once, and without them a start is slower.
    ("<frozen importlib._bootstrap>", {"_find_and_load"}),
]
"""Functions within which our code may block: each with the reason."""


_watching: Final[list[BlockBuster]] = []


def watch() -> BlockBuster:
    """Begins to watch this process, once."""
    import gossamer

    if _watching:
        return _watching[0]

    watching = BlockBuster(scanned_modules=[gossamer])
    for function in watching.functions.values():
        for file, names in ALLOWED:
            function.can_block_in(file, names)
    watching.activate()
    _watching.append(watching)
    return watching


@contextlib.contextmanager
def unwatched() -> Iterator[None]:
    """Where a library runs an event loop beneath synchronous code, which may block."""
    for one in _watching:
        one.deactivate()
    yield
    for one in _watching:
        one.activate()


STARTUP: Final = Path(__file__).parent / "startup"
"""On PYTHONPATH, it makes the processes that a test starts watch themselves too."""
