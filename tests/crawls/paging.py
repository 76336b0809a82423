"""`gossamer crawls FOLDER --serve` as a real process, asked over a real socket."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.control.serving import GOSSAMER, Answer, Served, until

from gossamer.simweb import Options

WEB = Options(hosts=10, pages=20_000, host_skew=0.0, port=0)
"""A web that no test comes to the end of."""
SMALL = {"/": '<a href="/a">a</a>', "/a": "a page", "/robots.txt": ""}


class Page(Served):
    """The page of a folder. `out` is the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, None)
        self.tokens = self.control

    @property
    def control(self) -> Path:
        return self.out / ".gossamer"

    def begin(self, *options: str) -> "Page":
        (self.control / "url").unlink(missing_ok=True)
        with self.log("page").open("wb") as errors:
            self.process = subprocess.Popen(
                [*GOSSAMER, "crawls", str(self.out), "--serve", *(options or ("--port", "0"))],
                stdin=subprocess.DEVNULL,
                stderr=errors,
            )
        until(self._is_there, f"the page: {self.log('page').read_text()}")
        return self

    def _is_there(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log("page").read_text()
        return (self.control / "url").exists()

    def finish(self) -> int:
        """As with Ctrl-C."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)

    def start_crawl(self, name: str, seeds: str, **more: Any) -> Answer:
        """Of this machine's pages, without a gap unless told otherwise."""
        usual = {"allow_private": True, "delay": "0s", "scope": "any"}
        body = usual | {"name": name, "seeds": seeds} | more
        return self.ask("POST", "/api/v1/crawls", body)

    def do(self, name: str, what: str, body: object = None) -> Answer:
        return self.ask("POST", f"/api/v1/crawls/{quote(name, safe='')}/{what}", body)

    def rows(self) -> dict[str, Any]:
        return {row["name"]: row for row in self.get("/crawls")["crawls"]}

    def until_state(self, name: str, state: str) -> Any:
        until(lambda: self.rows().get(name, {}).get("state") == state, f"{name} is {state}")
        return self.rows()[name]


@contextlib.contextmanager
def paged(folder: Path, *options: str) -> Iterator[Page]:
    """Serves a folder; at the end the crawls that were started there are ended too."""
    folder.mkdir(exist_ok=True)
    page = Page(folder)
    try:
        yield page.begin(*options)
        if page.process is not None and page.process.poll() is None:
            assert page.finish() == 0, page.log("page").read_text()
            assert not (page.control / "url").exists()
            assert "Traceback" not in page.log("page").read_text()
    finally:
        page.kill()
        kill_all(folder)


def kill_all(folder: Path) -> None:
    """Crawls outlive the page; not their test."""
    for file in folder.glob("*/control/pid"):
        with contextlib.suppress(ValueError, ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGKILL)
