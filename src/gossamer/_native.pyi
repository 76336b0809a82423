# The private extension module. Checked against the built module by `stubtest`.

from os import PathLike
from typing import final

# --- outcome

def outcome_names() -> list[str]: ...

# --- canonical

# --- robots

# --- sitemap

# --- parse

# --- fetch

# --- warc

# --- seen

# --- frontier

# --- simweb
@final
class SimwebServer:
    def __new__(
        cls,
        options_json: str,
        *,
        workers: int = 1,
        log: str | PathLike[str] | None = None,
        dns_port: int | None = None,
    ) -> SimwebServer: ...
    @property
    def url(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def dns_port(self) -> int | None: ...
    def requests(self) -> int: ...
    def simulated_now(self) -> float: ...
    def stop(self) -> None: ...

@final
class SimwebModel:
    def __new__(cls, options_json: str) -> SimwebModel: ...
    @property
    def hosts(self) -> int: ...
    @property
    def pages(self) -> int: ...
    def host_pages(self, host: int) -> int: ...
    def authority(self, host: int) -> str: ...
    def addresses(self, host: int) -> list[str]: ...
    def content_host(self, host: int) -> int: ...
    def robots(self, host: int) -> tuple[int, bytes]: ...
    def sitemap(self, host: int) -> str | None: ...
    def urls(self, codes: bytes) -> list[str]: ...
    def redirect_chain(self, id: int) -> list[int]: ...  # noqa: A002
    def title(self, id: int) -> str: ...  # noqa: A002
    @staticmethod
    def names() -> tuple[list[str], list[tuple[str, str | None, str | None]]]: ...
    def block(
        self, start: int, end: int
    ) -> tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]: ...
