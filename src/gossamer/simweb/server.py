"""A running simulated web inside this process. Its threads never hold the interpreter lock."""

from pathlib import Path
from types import TracebackType
from typing import Self

from gossamer._native import SimwebServer
from gossamer.simweb.options import Options, OptionsError


class SimWeb:
    """A running server. `url` is the start page, `port` the one port of all hosts."""

    def __init__(self, native: SimwebServer, options: Options) -> None:
        self._native = native
        self.url = native.url
        self.port = native.port
        self.dns_port = native.dns_port
        #: The options with the port that was taken: those to ask the truth for.
        self.options = options.replace(port=native.port)

    def requests(self) -> int:
        """Requests answered so far."""
        return self._native.requests()

    def simulated_now(self) -> float:
        """The simulated time, in seconds since 1970."""
        return self._native.simulated_now()

    def stop(self) -> None:
        """Ends all connections and threads. Afterwards the log is complete."""
        self._native.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.stop()


def serve(
    options: Options | None = None,
    *,
    workers: int = 1,
    log: str | Path | None = None,
    dns_port: int | None = None,
) -> SimWeb:
    """Starts a server; it is ready when this returns. Without options, any free port is taken.

    A wrong option raises OptionsError, a port in use OSError.
    """
    options = Options(port=0) if options is None else options
    if not 1 <= workers <= 256:
        raise OptionsError(f"--workers: must be 1 to 256, not {workers}")
    if dns_port is not None and not 0 <= dns_port <= 65535:
        raise OptionsError(f"--dns-port: must be 0 to 65535, not {dns_port}")
    text = options.to_json()
    try:
        native = SimwebServer(text, workers=workers, log=log, dns_port=dns_port)
    except ValueError as error:
        raise OptionsError(str(error)) from None
    return SimWeb(native, options)
