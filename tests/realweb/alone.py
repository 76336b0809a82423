"""One run at a time has an application, on the whole machine: its addresses and its folder are the same for all."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from tests.realweb.app import App


@contextlib.contextmanager
def alone(apps: Sequence[type[App]], console: Console) -> Iterator[None]:
    """Waits for other runs that have one of these applications.

    All runs take them in the same order, so that no two wait for each other.
    """
    with contextlib.ExitStack() as held:
        for app in sorted(apps, key=lambda app: app.number):
            place = Path(tempfile.gettempdir()) / f"gossamer-realweb-{app.number}.lock"
            file = held.enter_context(place.open("a+"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                console.print(f"waiting for {app.name}, which process {file.read()} has")
                fcntl.flock(file, fcntl.LOCK_EX)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield
