"""The private extension module. Checked against the built module by `stubtest`."""

from collections.abc import Sequence
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

class StateError(Exception): ...
class StateFullError(StateError): ...
class StateFormatError(StateError): ...
class StateInUseError(StateError): ...

def seen_kinds() -> list[str]: ...

@final
class Seen:
    def __new__(
        cls,
        kind: str,
        directory: str | PathLike[str] | None = None,
        *,
        cache_bytes: int | None = None,
        filter_bytes: int | None = None,
        recent_keys: int | None = None,
        bloom_bytes: int | None = None,
        store_cache_bytes: int | None = None,
        store_buffer_bytes: int | None = None,
    ) -> Seen: ...
    def admit(self, urls: Sequence[str]) -> list[bool]: ...
    def commit(self, *, durable: bool = False) -> None: ...
    def forget(self) -> None: ...
    def ram_bytes(self) -> int: ...
    def error_rate(self) -> float: ...
    def store_bytes(self) -> tuple[int, int, int]: ...
    def close(self) -> None: ...

@final
class SeenRehearsal:
    def __new__(cls, urls: int, hosts: int) -> SeenRehearsal: ...
    def load(self, seen: Seen, pages: int) -> tuple[int, int, int, float, float, float]: ...
    def visit(
        self, seen: Seen, pages: int, fresh: int
    ) -> tuple[int, int, int, float, float, float]: ...

# --- frontier

# --- simweb
