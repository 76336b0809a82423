# The private extension module. Checked against the built module by `stubtest`.

from collections.abc import Sequence
from os import PathLike
from typing import final
import builtins
from collections.abc import Sequence
from os import PathLike
from typing import Self, final

from collections.abc import Sequence
from typing import final

# --- outcome

def outcome_names() -> list[str]: ...

# --- canonical

TRACKING_PARAMS: list[str]
SESSION_PARAMS: list[str]

class UrlRefused(ValueError): ...

@final
class UrlRules:
    def __new__(
        cls,
        strip_params: Sequence[str] | None = None,
        strip_session: Sequence[str] | None = None,
        max_length: int = 2048,
        grouping: str = "host",
    ) -> UrlRules: ...

def canonical_url(raw: str, base: str | None = None, rules: UrlRules | None = None) -> str: ...
def canonical_urls(
    raws: Sequence[str], base: str | None = None, rules: UrlRules | None = None
) -> list[tuple[str | None, str | None]]: ...
def fingerprint(url: str, rules: UrlRules | None = None) -> int: ...
def host_key(url: str, rules: UrlRules | None = None) -> int: ...
def url_key(url: str, rules: UrlRules | None = None) -> bytes: ...
def host(url: str) -> str: ...
def partition(host_key: int, partitions: int) -> int: ...
def registered_domain(url: str) -> str | None: ...
def literal_address(url: str) -> str | None: ...

# --- robots

@final
class Robots:
    def __new__(cls, body: bytes, agent: str) -> Robots: ...
    def allows(self, path_and_query: str) -> bool: ...
    def which_rule(self, path_and_query: str) -> tuple[int, bool, str] | None: ...
    @property
    def crawl_delay(self) -> float | None: ...
    @property
    def sitemaps(self) -> list[str]: ...
    @property
    def rule_count(self) -> int: ...
    @property
    def heap_size(self) -> int: ...

def robots_lines(body: bytes) -> list[tuple[int, str, bytes]]: ...
def robots_meaning(status: int | None, redirects: int = 0) -> str: ...
def product_token(agent: str) -> str: ...

# --- sitemap

@final
class Sitemap:
    @property
    def kind(self) -> str: ...
    @property
    def is_index(self) -> bool: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def refused(self) -> int: ...
    @property
    def entries(self) -> list[tuple[str, int | None, str | None, float | None]]: ...

def parse_sitemap(
    body: bytes,
    url: str,
    rules: UrlRules | None = None,
    max_bytes: int = 52428800,
    max_entries: int = 50000,
) -> Sitemap: ...

# --- parse

# --- fetch

# --- warc

class StoreError(Exception): ...
class DiskFullError(StoreError): ...

@final
class WarcWriter:
    def __new__(
        cls,
        dir: str | PathLike[str],  # noqa: A002
        *,
        node: str = "0",
        max_size: int = ...,
        fsync_ms: int | None = ...,
        level: int = 1,
        block_digest: bool = False,
    ) -> Self: ...
    @staticmethod
    def resume(
        dir: str | PathLike[str],  # noqa: A002
        position: bytes | None,
        *,
        node: str = "0",
        max_size: int = ...,
        fsync_ms: int | None = ...,
        level: int = 1,
        block_digest: bool = False,
    ) -> WarcWriter: ...
    def append_visit(
        self,
        url: str,
        date: int,
        request: bytes,
        head: bytes,
        body: bytes,
        *,
        ip: str | None = None,
        truncated: str | None = None,
        protocols: Sequence[str] = ...,
        outlinks: Sequence[tuple[str, str]] | None = None,
    ) -> list[tuple[str, str, int, int]]: ...
    def append_revisit(
        self,
        url: str,
        date: int,
        request: bytes,
        head: bytes,
        *,
        refers_to_uri: str,
        refers_to_date: int,
        payload_digest: bytes | None = None,
        not_modified: bool = False,
        ip: str | None = None,
    ) -> list[tuple[str, str, int, int]]: ...
    def position(self) -> bytes | None: ...
    def sync(self, now: int) -> bool: ...
    def committed(self, position: bytes) -> None: ...
    def close(self) -> None: ...

@final
class FetchLogWriter:
    def __new__(
        cls,
        dir: str | PathLike[str],  # noqa: A002
        *,
        node: str = "0",
        max_size: int = ...,
        fsync_ms: int | None = ...,
    ) -> Self: ...
    @staticmethod
    def resume(
        dir: str | PathLike[str],  # noqa: A002
        position: bytes | None,
        *,
        node: str = "0",
        max_size: int = ...,
        fsync_ms: int | None = ...,
    ) -> FetchLogWriter: ...
    def append(
        self,
        time: int,
        url: str,
        host: str,
        outcome: str,
        *,
        ip: str | None = None,
        status: int | None = None,
        bytes: int = 0,  # noqa: A002
        ms: float = 0.0,
        depth: int = 0,
        from_url: str | None = None,
        digest: builtins.bytes | None = None,
    ) -> None: ...
    def position(self) -> bytes | None: ...
    def sync(self, now: int) -> bool: ...
    def close(self) -> None: ...

@final
class WarcRecord:
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def record_id(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def uri(self) -> str | None: ...
    @property
    def ip(self) -> str | None: ...
    @property
    def status(self) -> int | None: ...
    @property
    def mime(self) -> str | None: ...
    @property
    def payload_digest(self) -> str | None: ...
    @property
    def refers_to_uri(self) -> str | None: ...
    @property
    def refers_to_date(self) -> str | None: ...
    @property
    def profile(self) -> str | None: ...
    @property
    def truncated(self) -> str | None: ...
    @property
    def concurrent_to(self) -> str | None: ...
    @property
    def body_length(self) -> int: ...
    @property
    def head(self) -> bytes: ...
    @property
    def body(self) -> bytes | None: ...

@final
class WarcReader:
    def __new__(
        cls, path: str | PathLike[str], *, offset: int = 0, body_limit: int | None = None
    ) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> WarcRecord: ...

def write_cdxj(files: Sequence[str | PathLike[str]], out: str | PathLike[str]) -> int: ...
def surt(url: str) -> str: ...

# --- seen

class StoreError(Exception): ...
class DiskFullError(StoreError): ...
class StateFormatError(StoreError): ...
class StateInUseError(StoreError): ...

def seen_kinds() -> list[str]: ...
@final
class Seen:
    def __new__(
        cls,
        kind: str,
        directory: str | PathLike[str] | None = None,
        *,
        cache_bytes: int | None = None,
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
    def load(self, seen: Seen, pages: int) -> tuple[int, int, int, float, float]: ...
    def visit(self, seen: Seen, pages: int, fresh: int) -> tuple[int, int, int, float, float]: ...

# --- frontier

# --- simweb
