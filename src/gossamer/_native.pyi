from collections.abc import Sequence
from typing import final

# --- outcome

def outcome_names() -> list[str]: ...

# --- canonical

TRACKING_PARAMS: list[str]
SESSION_PARAMS: list[str]

# A refusal is an outcome of the web, not a fault of ours: hence the name.
class UrlRefused(ValueError): ...  # noqa: N818

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

# --- seen

# --- frontier

# --- simweb
