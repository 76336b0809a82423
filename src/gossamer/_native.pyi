"""The private extension module. Checked against the built module by `stubtest`."""

from ipaddress import IPv4Address, IPv6Address
from typing import Self, final

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

@final
class MemoryFrontier:
    def __new__(cls, now: int, *, gap_us: int = 1_000_000, ip_gap_us: int = 500_000) -> Self: ...
    def add(self, now: int, rows: list[tuple[str, str, int, int]]) -> list[str | None]: ...
    def take(
        self, now: int, most: int
    ) -> tuple[str, int, list[tuple[int, str, str, int, int]], list[tuple[str, str]]]: ...
    def finish(
        self,
        now: int,
        lease: int,
        outcome: str,
        *,
        ip: IPv4Address | IPv6Address | None = None,
        response_us: int | None = None,
        wait_us: int | None = None,
        robots: bytes | None = None,
    ) -> str: ...
    def commit(self) -> None: ...
    def crash(self, now: int) -> None: ...
    def counts(self) -> tuple[int, int, int]: ...

# --- simweb
