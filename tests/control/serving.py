"""Crawls that serve the control API, as real processes, asked over real sockets."""

import contextlib
import http.client
import io
import itertools
import json
import os
import subprocess
import sys
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from gossamer.cli import main as command_line
from gossamer.simweb import SimWeb

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def until(condition: Callable[[], Any], what: str, seconds: float = 60.0) -> Any:
    """Waits for a condition, not for a time; gives what it gave."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(0.02)
    return found


class Served:
    """A crawl's directory, its process and its API."""

    def __init__(self, out: Path, web: SimWeb | None) -> None:
        self.out = out
        self.web = web
        self.seed: str | None = None
        """What it begins with instead of the web."""
        self.process: subprocess.Popen[bytes] | None = None
        self.tokens = out / "control"

    @property
    def control(self) -> Path:
        return self.out / "control"

    @property
    def url(self) -> str:
        return (self.control / "url").read_text().strip()

    @property
    def authority(self) -> str:
        return urllib.parse.urlsplit(self.url).netloc

    def token(self, name: str = "token") -> str:
        return (self.tokens / name).read_text().strip()

    def start(self, *options: str, resume: bool = False) -> "Served":
        """Starts it and waits until the API answers."""
        # A process that was killed left it: others may listen there by now.
        (self.control / "url").unlink(missing_ok=True)
        self.launch(*options, resume=resume)
        return self.wait(self.log("stderr"))

    def wait(self, errors: Path) -> "Served":
        """Until the API answers. `errors`: what the process says."""
        until(lambda: self._answers(errors), f"the API: {errors.read_text()}")
        return self

    def launch(self, *options: str, resume: bool = False, stderr: int | None = None) -> None:
        first = ["--resume"] if resume else [self.get_seed(), *USUAL]
        command = [*GOSSAMER, "crawl", *first, "--out", str(self.out), "--serve-port", "0"]
        with self.log("stderr").open("wb") as errors, self.log("stdout").open("wb") as answer:
            self.process = subprocess.Popen(
                [*command, "--json", *options],
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=errors if stderr is None else stderr,
            )

    def _answers(self, errors: Path) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, errors.read_text()
        if not (self.control / "url").exists():
            return False
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/readyz").status == 200
        return False

    def log(self, name: str) -> Path:
        return self.out.with_name(f"{self.out.name}.{name}")

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = "",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """With the token to operate unless another (or None) is given."""
        sent = {"Authorization": f"Bearer {token or self.token()}"} if token is not None else {}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        connection = http.client.HTTPConnection(self.authority, timeout=20)
        try:
            skip = "Host" in sent
            connection.putrequest(method, path, skip_host=skip, skip_accept_encoding=True)
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(content or b"")))
            connection.endheaders(content)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str, **query: object) -> Any:
        text = f"?{urllib.parse.urlencode(query)}" if query else ""
        answer = self.ask("GET", f"/api/v1{path}{text}")
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, body: object = None) -> Any:
        answer = self.ask("POST", f"/api/v1{path}", body)
        assert answer.status == 200, answer
        return answer.json

    def set(self, **values: object) -> Any:
        """`fetch__types` for `fetch.types`."""
        named = {name.replace("__", "."): value for name, value in values.items()}
        answer = self.ask("PATCH", "/api/v1/settings", {"values": named})
        assert answer.status == 200, answer
        return answer.json

    def command(self, *words: str, environ: dict[str, str] | None = None) -> Any:
        """A command of ours against this crawl: the whole command line, without another process."""
        said, answer = io.StringIO(), io.StringIO()
        with (
            mock.patch.object(sys, "argv", ["gossamer", *words, "--out", str(self.out), "--json"]),
            mock.patch.dict(os.environ, environ or {}),
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(answer),
        ):
            try:
                code: object = command_line.main()
            except SystemExit as ended:
                code = ended.code
        assert code == 0, said.getvalue()
        return json.loads(answer.getvalue())

    def get_seed(self) -> str:
        if self.seed is None:
            assert self.web is not None
            return self.web.url
        return self.seed

    def end(self) -> int:
        """Stops it by the API and waits; gives the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.post("/commands", {"command": "stop"})
        return self.process.wait(60)

    def rest(self) -> None:
        """Pauses it, and waits until nothing is under way and all that visits brought is queued."""
        assert self.post("/commands", {"command": "pause"})["confirmed"]
        # The status may still be that of an earlier rest; the node is asked for these.
        until(lambda: not self.get("/hosts", standing="active")["hosts"], "visits end")
        until(
            lambda: (s := self.get("/status"))["activity"] == "paused" and s["in_flight"] == 0,
            "it rests",
        )
        assert self.post("/commands", {"command": "checkpoint"})["confirmed"]

    def settled(self, hosts: Iterable[str]) -> float:
        """From when on no request to these hosts is of a visit that had begun before this."""

        def at_rest(host: str) -> bool:
            return bool(self.get(f"/hosts/{host}")["under_way"] == 0)

        for host in hosts:
            until(partial(at_rest, host), f"the visit to {host} ends")
        return time.time()

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)


# Without a factor, the gap is that of the settings however slow the machine answers.
USUAL = [
    "--scope", "any", "--allow-private",
    "--set", "store.batch_wait=5ms", "--set", "politeness.response_factor=0",
]  # fmt: skip


def requests(log: Path) -> list[tuple[float, str, str]]:
    """Time in seconds, host and path of every request, from the server's own log.

    The time is that of its arrival; a line is in the file some 50 ms later.
    """
    rows = []
    for line in log.read_text().splitlines():
        parts = line.split(" ")
        if len(parts) == 5:
            rows.append((int(parts[0]) / 1e6, parts[2], parts[3]))
    return rows


def hosts_of(log: Path) -> list[str]:
    """Those that were visited, the busiest first."""
    return [host for host, _ in Counter(host for _, host, _ in requests(log)).most_common()]


def gaps_since(log: Path, begun: float) -> list[float]:
    """Seconds between visits to a host, of all hosts."""
    times: dict[str, list[float]] = {}
    for moment, host, _ in requests(log):
        if moment > begun:
            times.setdefault(host, []).append(moment)
    return [b - a for row in times.values() for a, b in itertools.pairwise(sorted(row))]


@contextlib.contextmanager
def served(out: Path, web: SimWeb, *options: str) -> Iterator[Served]:
    crawl = Served(out, web)
    try:
        yield crawl.start(*options)
    finally:
        crawl.kill()
