"""A cluster with its API, asked as an operator's program asks it."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cluster.clustering import Cluster
from tests.crawl.crawling import until

from gossamer.control.client import Client
from gossamer.control.tokens import read_token
from gossamer.engine.server import free_port
from gossamer.errors import GossamerError


class Steered:
    """A cluster with its API."""

    def __init__(
        self, make: Callable[..., Cluster], tmp_path: Path, *options: str, delay: str
    ) -> None:
        self.port = free_port()
        self.tokens = tmp_path / "tokens"
        self.tokens.mkdir(mode=0o700)
        self.cluster = make(
            "--set", f"control.port={self.port}",
            "--set", f"control.tokens={self.tokens}",
            *options,
            delay=delay,
        )  # fmt: skip

    def client(self) -> Client:
        until((self.tokens / "token").exists, "a token", 60)
        return Client(f"http://127.0.0.1:{self.port}", read_token(self.tokens / "token"))

    def ask(self, question: Callable[[Client], Any]) -> Any:
        with contextlib.suppress(GossamerError):
            return question(self.client())
        return None

    def until(self, question: Callable[[Client], Any], what: str, seconds: float = 120.0) -> Any:
        end = time.monotonic() + seconds
        while not (answer := self.ask(question)):
            assert time.monotonic() < end, f"waited in vain: {what}\n{self.cluster.said()}"
            time.sleep(0.1)
        return answer
