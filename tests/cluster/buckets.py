"""A real S3 server on loopback, which checks signatures: `rclone serve s3` on a directory."""

import subprocess
import sys
from pathlib import Path

import httpx
from tests.crawl.crawling import until

from gossamer.engine.server import free_port

KEYS = {"AWS_ACCESS_KEY_ID": "gossamer", "AWS_SECRET_ACCESS_KEY": "a secret of the test"}
BUCKET = "crawls"


class ObjectStore:
    """One bucket; what is in it can be seen in `directory`, but is changed by S3 alone."""

    def __init__(self, place: Path) -> None:
        self.directory = place / BUCKET
        self.directory.mkdir(parents=True)
        self.endpoint = f"http://127.0.0.1:{free_port()}"
        server = Path(sys.executable).with_name("rclone")
        self._messages = place.with_suffix(".messages")
        with self._messages.open("wb") as file:
            self._process = subprocess.Popen(
                [
                    server, "serve", "s3", str(place), "--config", "/dev/null",
                    "--addr", self.endpoint.removeprefix("http://"),
                    "--auth-key", ",".join(KEYS.values()),
                ],
                stdout=file,
                stderr=file,
            )  # fmt: skip
        try:
            until(self._answers, "the object store", 60.0)
        except BaseException:
            self.end()
            raise

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._messages.read_text()
        try:
            httpx.get(self.endpoint, timeout=5.0)
        except httpx.TransportError:
            return False
        return True

    @property
    def environment(self) -> dict[str, str]:
        """All that a node needs to be told, apart from `s3://crawls/…`."""
        return {**KEYS, "AWS_ENDPOINT_URL": self.endpoint, "AWS_ALLOW_HTTP": "true"}

    def end(self) -> None:
        self._process.kill()
        self._process.wait(10)
