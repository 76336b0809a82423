"""`gossamer open` as a real process, asked over a real socket."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.control.serving import GOSSAMER, Served


@contextlib.contextmanager
def opened(out: Path, *options: str) -> Iterator[Served]:
    """Serves a crawl's directory; at the end Ctrl-C must end it well."""
    view = Served(out, None)
    # Of whom the directory was copied from.
    (view.control / "url").unlink(missing_ok=True)
    with view.log("view").open("wb") as errors:
        process = subprocess.Popen(
            [*GOSSAMER, "open", str(out), *(options or ("--port", "0"))],
            stdin=subprocess.DEVNULL,
            stderr=errors,
        )
    view.process = process
    try:
        yield view.wait(view.log("view"))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, view.log("view").read_text()
        assert not (out / "control" / "url").exists()
    finally:
        view.kill()
