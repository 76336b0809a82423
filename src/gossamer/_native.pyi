"""The private extension module. Checked against the built module by `stubtest`."""

from collections.abc import Sequence
from typing import Any, final

# --- outcome

def outcome_names() -> list[str]: ...

# --- canonical

# --- robots

# --- sitemap

# --- parse

# --- fetch

@final
class FetchResponse:
    @property
    def outcome(self) -> str: ...
    @property
    def status(self) -> int: ...
    @property
    def http_version(self) -> str: ...
    @property
    def request_head(self) -> bytes: ...
    @property
    def response_head(self) -> bytes: ...
    @property
    def wire_body(self) -> bytes: ...
    @property
    def body(self) -> bytes: ...
    @property
    def chunked(self) -> bool: ...
    @property
    def ip(self) -> str | None: ...
    @property
    def location(self) -> str | None: ...
    @property
    def retry_after(self) -> float | None: ...
    @property
    def reused(self) -> bool: ...
    @property
    def truncated(self) -> str | None: ...
    @property
    def detail(self) -> str: ...
    @property
    def timings(self) -> tuple[int, int, int, int, int]: ...
    def header(self, name: str) -> str | None: ...

@final
class Fetcher:
    def __new__(cls, settings: dict[str, Any] | None = None) -> Fetcher: ...
    def fetch(
        self, requests: Sequence[str | dict[str, Any]], *, concurrency: int = 64
    ) -> list[FetchResponse]: ...
    def close_idle(self) -> None: ...

def forbidden_address(ip: str) -> str | None: ...

# --- warc

# --- seen

# --- frontier

# --- simweb
