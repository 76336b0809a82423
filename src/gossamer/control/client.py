"""A client of the control API, for the command line. The token comes from a file, never from the
command line, and is not sent to an address whose process has ended.
"""

import http.client
import os
import ssl
import time
import urllib.parse
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from gossamer.control.tokens import read_token, token_file
from gossamer.errors import GossamerError, NoCrawlError, UsageError
from gossamer.pid_file import is_alive

TOKEN_FILE = "GOSSAMER_TOKEN_FILE"  # noqa: S105
TIMEOUT = 60.0
PATIENCE = 20.0
"""Seconds in which a request is made again that the control node asks to make again."""
LONGEST_WAIT = 5.0
LONG_TIMEOUT = 330.0
"""For commands whose answer a control node itself awaits for up to 300 s."""


_AS_URL: Final = "give it as http://HOST:PORT"


class AwayError(GossamerError):
    """The control node cannot do it now. `again`: seconds after which it may; None: not soon."""

    remedy: ClassVar[str] = "try again in a while; `gossamer status` says how the crawl is"

    def __init__(self, text: str, again: float | None) -> None:
        super().__init__(text)
        self.again = again


class NoControlNodeError(UsageError):
    """A directory does not say where the control node of its crawl is."""

    remedy: ClassVar[str] = (
        "a crawl has one while it runs with --serve; name it with --control URL or --out DIR"
    )


class GoneError(GossamerError):
    """The control node that a directory names has ended; somebody else may listen at its address now."""

    remedy: ClassVar[str] = (
        "a crawl has one while it runs with --serve (--resume goes on with it); if it runs elsewhere, as in a container, "
        "name it with --control URL"
    )


def read_address(url: str) -> tuple[bool, str, int | None]:
    """Whether it is reached by TLS, its host and port; `UsageError`: it is no address."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UsageError(f"--control: {url!r} is no address: {error}", do=_AS_URL) from error
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageError(f"--control: {url!r} is no address of a control node", do=_AS_URL)
    return parts.scheme == "https", host, port


class Client:
    """Asks one control node."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._secure, self._host, self._port = read_address(url)
        self._token = token

    def get(self, path: str, **query: object) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        return self.ask("GET", f"{path}?{urllib.parse.urlencode(given)}" if given else path)

    def post(self, path: str, body: object = None, *, timeout: float | None = None) -> Any:
        return self.ask("POST", path, body, timeout=timeout)

    def patch(self, path: str, body: object) -> Any:
        return self.ask("PATCH", path, body)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        timeout: float | None = None,
        patience: float | None = None,
    ) -> Any:
        """The answer's JSON; a refusal is an error with its reason.

        Where the engine or a node is away for a moment, which is a 503 with Retry-After, it is asked
        again for a while: `patience`.
        """
        end = time.monotonic() + (PATIENCE if patience is None else patience)
        while True:
            try:
                return self._ask(method, path, body, timeout)
            except AwayError as error:
                if error.again is None or time.monotonic() + error.again > end:
                    raise
                time.sleep(error.again)

    def _ask(self, method: str, path: str, body: object, timeout: float | None) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        content = None
        if body is not None:
            content = msgspec.json.encode(body)
            headers["Content-Type"] = "application/json"
        connection = self._connect(TIMEOUT if timeout is None else timeout)
        try:
            connection.request(method, f"/api/v1{path}", body=content, headers=headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise GossamerError(
                f"no answer from {self._url}: {_reason(error)}",
                do="check the address, and that the crawl still runs",
            ) from error
        finally:
            connection.close()
        try:
            value = msgspec.json.decode(text) if text else None
        except msgspec.DecodeError as error:
            raise GossamerError(
                f"{self._url} is no control node: it answered no JSON",
                do="check the address (--control)",
            ) from error
        if answer.status >= 400:
            detail = value.get("detail") if isinstance(value, dict) else answer.reason
            if answer.status == 503:
                raise AwayError(f"not done now: {detail}", _seconds(answer.headers["Retry-After"]))
            kind = UsageError if answer.status in {404, 422} else GossamerError
            raise kind(f"refused ({answer.status}): {detail}")
        return value

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=timeout, context=context
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _seconds(text: str | None) -> float | None:
    """Of a Retry-After field that a control node sends: whole seconds."""
    return min(float(text), LONGEST_WAIT) if text is not None and text.isdecimal() else None


def path_of(*parts: str) -> str:
    """A path with each part quoted."""
    return "".join(f"/{urllib.parse.quote(part, safe='')}" for part in parts)


def control_directory(out: Path) -> Path:
    """Where a control node has address, process number and token: in a crawl's directory, or in its own."""
    own = not (out / "control").is_dir() and (out / "url").exists()
    return out if own else out / "control"


def is_served(out: Path) -> bool:
    """Whether a directory has the address of a control node, and its process lives."""
    directory = control_directory(out)
    return (directory / "url").exists() and is_alive(directory / "pid")


def find(control: str | None, out: Path | None) -> Client:
    """The control node at a URL, or that of a directory: of a crawl, or a control node's own.

    `GoneError`: the directory names one whose process has ended.
    """
    own = out or Path("crawl-out")
    directory = control_directory(own)
    if control is not None:
        # Before a token is looked for, which nobody would be sent.
        read_address(control)
    else:
        control = _address_in(own, directory)
    named = os.environ.get(TOKEN_FILE)
    file = Path(named) if named else token_file(directory)
    if not named and not file.exists():
        raise UsageError(
            f"no token in {file}",
            do=f"name the crawl's directory with --out, or a file with the token in {TOKEN_FILE}",
        )
    return Client(control, read_token(file))


def own_client(out: Path) -> Client:
    """The control node of a directory, with the token that is there and no other. Errors: as those of `find`."""
    directory = control_directory(out)
    return Client(_address_in(out, directory), read_token(token_file(directory)))


def _address_in(own: Path, directory: Path) -> str:
    if own.exists() and not own.is_dir():
        raise NoCrawlError.at(own, "")
    try:
        address = (directory / "url").read_text().strip()
    except OSError as error:
        gone = "" if own.exists() else ", which is not there"
        raise NoControlNodeError(f"no control node is known in {directory}{gone}") from error
    # Left by a crawl that was killed, or copied with a directory, it may be anybody's by now.
    if not is_alive(directory / "pid"):
        raise GoneError(
            f"the control node of {own} does not run any more: {address} was its address, and there is no process on "
            f"this machine with the number in {directory / 'pid'}"
        )
    return address
