"""The settings of a crawl, one class per stage.

A setting is known, typed and has a unit, or the program refuses to start and names it. A field made
by `live` can be changed while the crawl runs; one made by `fixed` belongs to the crawl from its
first start.
"""

import ipaddress
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from gossamer._native import SESSION_PARAMS, SESSION_TOKEN, TRACKING_PARAMS
from gossamer.model.choices import ScopeKind
from gossamer.settings.lenient import as_meant
from gossamer.settings.link_defaults import PAGE_MARKS, RELATIONS, SUFFIX_TYPES
from gossamer.settings.policy_values import JsonValue
from gossamer.settings.rules import MOST_RULES, Credentials, Rule
from gossamer.settings.server_names import PublicName
from gossamer.settings.units import Duration, Size


def live(default: object, meaning: str, **bounds: Any) -> Any:
    """A setting that can be changed while the crawl runs."""
    return Field(default=default, description=meaning, json_schema_extra={"live": True}, **bounds)


def fixed(default: object, meaning: str, **bounds: Any) -> Any:
    """A setting that is chosen when the crawl is created or started."""
    return Field(default=default, description=meaning, json_schema_extra={"live": False}, **bounds)


# Bounds that the native node has too, so that what is out of them is refused by its own name.
YEARS = 10 * 365 * 86400.0
"""No time is longer: ten years, in seconds. Microseconds of it are counted in 64 bits."""
DAY = 86400.0
SHORTEST = 0.001
"""Of limits for a visit, in seconds: with none at all, every visit would fail."""
BYTES = 2**60
U8, U16, U32 = 2**8 - 1, 2**16 - 1, 2**32 - 1
COUNT = 10**15


class Stage(BaseModel):
    """What all settings classes share: unknown names are refused, defaults are checked too."""

    model_config = ConfigDict(extra="forbid", validate_default=True, frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _as_meant(cls, value: Any, info: ValidationInfo) -> Any:
        return as_meant(cls.model_fields[str(info.field_name)].annotation, value)


class SeenKind(StrEnum):
    EXACT = "exact"
    BLOOM = "bloom"
    TRIE = "trie"
    TABLE = "table"
    MEMORY = "memory"


class Order(StrEnum):
    BREADTH = "breadth"
    DEEP = "deep"
    ARRIVAL = "arrival"
    STATIC = "static"


class Fsync(StrEnum):
    BATCH = "batch"
    NEVER = "never"


HostName = Annotated[str, StringConstraints(to_lower=True, min_length=1, max_length=255)]


class CanonicalSettings(Stage):
    strip_parameters: list[str] = fixed(
        list(TRACKING_PARAMS), "query parameters that only track; `name*` means a prefix"
    )
    strip_sessions: list[str] = fixed(
        list(SESSION_PARAMS), "session ids, removed from queries and from path parameters if their "
        "values look like tokens",
    )  # fmt: skip
    session_token: int = fixed(
        SESSION_TOKEN, "shortest value of a session id that is removed, in characters; one that is shorter, a "
        "number or a word may name a page", ge=4, le=1024,
    )  # fmt: skip
    max_length: int = fixed(2048, "longest URL that is taken, in bytes", ge=64, le=65536)


class ScopeSettings(Stage):
    kind: ScopeKind = live(
        ScopeKind.HOST, "what a link must share with a seed: its host, its registered domain, "
        "its URL up to the last slash (prefix), or nothing (any)",
    )  # fmt: skip
    schemes: list[str] = live(["http", "https"], "schemes that are followed")
    seed_redirects: int = live(
        10, "redirects in a row from a seed whose targets are seeds too, on whatever host; 0: none",
        ge=0, le=U8,
    )  # fmt: skip
    skip_suffixes: list[str] = live(
        list(SUFFIX_TYPES), "file suffixes of URLs that are not visited, unless `fetch.types` names "
        "what the suffix stands for",
    )  # fmt: skip
    page_marks: list[str] = live(
        PAGE_MARKS, "where `skip_suffixes` does not hold and the type of the answer decides: folders "
        "(`wiki/`), and texts in the name of a file (`:`)",
    )  # fmt: skip
    include: list[str] = live([], "regular expressions; if any are given, a URL must match one")
    exclude: list[str] = live([], "regular expressions; a URL that matches one is not visited")
    block: list[HostName] = live([], "hosts or domains that are not visited")
    resources: bool = live(default=False, meaning="follow images, scripts and other embeds too")
    forms: bool = live(default=False, meaning="follow forms that use GET")
    relations: list[str] = live(
        RELATIONS, "relations of <link> and of the header Link that are followed; `*`: all; also "
        "`feed`, `oembed` and `format` (alternates by their media type), `shortlink`, `search` …",
    )  # fmt: skip
    nofollow: bool = live(default=True, meaning="do not follow links marked rel=nofollow")
    sitemaps: bool = live(
        default=True, meaning="take URLs from the sitemaps that robots files name"
    )
    ascend: bool = live(
        default=False, meaning="also visit the folders above each URL (path-ascending)"
    )


class SeenSettings(Stage):
    kind: SeenKind = fixed(SeenKind.EXACT, "how the URLs already known are kept")
    ram: Size = fixed(
        "160MiB", "memory at most for the cache of popular URLs and the filter in front of those on disk (exact; "
        "enough for 200 million URLs), or for the Bloom filter", ge=0, le=BYTES,
    )  # fmt: skip
    expected: int = fixed(10_000_000, "URLs that a Bloom filter is sized for", ge=1000, le=COUNT)


class FrontierSettings(Stage):
    order: Order = live(
        Order.BREADTH, "which URLs of a host come first, after the seeds: those near the seeds "
        "(breadth), those far from them (deep), those found first (arrival), or those without a "
        "query (static); counts for URLs queued from now on, and for all others after `rerank`",
    )  # fmt: skip
    band_wait: Duration = live(
        "10s", "how long a host that is due lets others go first for each 1/64 that the score of "
        "their best URL is higher; 0: hosts are served in the order in which they fall due",
        ge=0, le=YEARS,
    )  # fmt: skip


class PolitenessSettings(Stage):
    delay: Duration = live("1s", "shortest gap between visits to a host", ge=0, le=YEARS)
    address_delay: Duration | None = live(
        None, "shortest gap between visits to an IP address; absent: as `delay`", ge=0, le=YEARS
    )
    response_factor: float | None = live(
        None, "the gap is at least this many times the last response time, divided by the "
        "connections; absent: 1, and 0 where several connections and no gap are asked for",
        ge=0, le=1000,
    )  # fmt: skip
    max_crawl_delay: Duration = live(
        "60s", "a site's longer Crawl-delay is cut to this", ge=0, le=YEARS
    )
    per_host: int = live(
        1, "connections to a host at the same time; one to a site that names a Crawl-delay",
        ge=1, le=64,
    )  # fmt: skip
    overrides: dict[HostName, Annotated[Duration, Field(ge=0, le=YEARS)]] = live(
        {},
        'gap of single hosts instead of `delay`, by their names as in URLs: `overrides."example.org:8080" = "5s"`; `gossamer slow` changes it',
    )
    robots_refresh: Duration = live(
        "1d", "robots rules are fetched again after this", ge=0, le=YEARS
    )
    robots_patience: Duration = live(
        "2d",
        "URLs of a host whose robots rules stay unreachable this long are refused; a host that has "
        "never given its rules ends sooner (docs/reference/failures.md)",
        ge=0,
        le=YEARS,
    )
    set_aside_after: int = live(8, "failures in a row that set a host aside", ge=1, le=U16)
    set_aside_for: Duration = live(
        "1h", "how long a host is set aside the first time", ge=0, le=YEARS
    )
    set_aside_times: int = live(3, "times a host is set aside before it is given up", ge=1, le=U8)
    retry_wait: Duration = live(
        "60s", "wait before the second try of a URL; grows fourfold", ge=0, le=YEARS
    )


class FetchSettings(Stage):
    agent: str = fixed("gossamer", "the crawler's name: what robots rules are matched against",
                       pattern=r"^[A-Za-z_-]+$")  # fmt: skip
    contact: str = fixed("", "address or page of the operator, named in every request")
    headers: dict[str, str] = fixed({}, "further request headers")
    concurrency: int = live(
        0, "visits under way at most; 0 adapts to machine and line", ge=0, le=100_000
    )
    connect_timeout: Duration = live("10s", "limit for a connection", ge=SHORTEST, le=DAY)
    tls_timeout: Duration = live("10s", "limit for the TLS handshake", ge=SHORTEST, le=DAY)
    first_byte_timeout: Duration = live(
        "30s", "limit until the first byte of the answer", ge=SHORTEST, le=DAY
    )
    stall_timeout: Duration = live("20s", "limit without any new byte", ge=SHORTEST, le=DAY)
    total_timeout: Duration = live("120s", "limit for a whole visit", ge=SHORTEST, le=DAY)
    max_body: Size = live("16MiB", "longest body that is kept", ge=0, le=BYTES)
    max_ratio: int = live(200, "highest ratio of decoded to received bytes", ge=2, le=U32)
    types: list[str] = live(
        ["text/*", "application/xhtml+xml", "application/xml", "application/rss+xml",
         "application/atom+xml"],
        "media types of pages that are kept; empty: all",
    )  # fmt: skip
    follow_types: list[str] = live(
        ["text/html", "application/xhtml+xml"],
        "media types of pages that are read for their links, kept or not",
    )
    http2: bool = fixed(default=True, meaning="offer HTTP/2 over TLS")
    proxy: str | None = fixed(
        None,
        "http://, socks5:// (names resolved, addresses judged here) or socks5h:// (by the proxy)",
    )
    allow_private: bool = fixed(
        default=False, meaning="visit loopback, private and other special addresses"
    )
    cookies: bool = fixed(default=False, meaning="keep cookies per host")
    soft_404_probe: bool = fixed(
        default=True,
        meaning="ask a host whose pages repeat themselves once for a name that cannot exist",
    )


class DnsSettings(Stage):
    servers: list[str] = fixed([], "name servers as address:port; empty: the system's")
    answers: dict[HostName, list[str]] = fixed({}, "answers that are not looked up")
    floor: Duration = fixed("60s", "answers are kept at least this long", ge=0, le=YEARS)
    ceiling: Duration = fixed("1d", "answers are kept at most this long", ge=0, le=YEARS)
    negative: Duration = fixed("5m", "failures are kept this long", ge=0, le=YEARS)
    entries: int = fixed(200_000, "answers kept in memory", ge=16, le=U32)
    concurrency: int = live(64, "look-ups under way at most", ge=1, le=10_000)
    timeout: Duration = fixed("5s", "limit for one look-up", ge=SHORTEST, le=DAY)


class ParseSettings(Stage):
    links_bytes: Size = live(
        "64MiB", "memory for the links of one page; the rest is left out, and counted as `cut`",
        ge=1024, le=2**30,
    )  # fmt: skip
    anchor_bytes: int = live(128, "anchor text kept of each link", ge=0, le=4096)


class StoreSettings(Stage):
    warc_size: Size = fixed("1GiB", "a WARC file is closed when it is larger", ge=0, le=BYTES)
    outlinks: bool = live(default=False, meaning="write a metadata record with each page's links")
    fsync: Fsync = fixed(
        Fsync.BATCH, "flush to disk with every batch (batch), or leave it to the system (never)"
    )
    cache: Size = fixed("128MiB", "memory of the embedded store's cache", ge=0, le=BYTES)
    batch_pages: int = live(512, "pages committed together at most", ge=1, le=10_000)
    batch_wait: Duration = live("50ms", "longest wait for a batch to fill", ge=0, le=DAY)


class AliasSettings(Stage):
    enabled: bool = live(
        default=True, meaning="find hosts that are one site under many names, and visit one of them"
    )
    after: int = live(16, "paths with the same page that make two hosts one site", ge=1, le=256)
    after_shared: int = live(8, "the same for hosts that were met at one address", ge=1, le=256)
    differences: float = live(
        0.05, "share of the compared paths that may have different pages", ge=0, le=0.5
    )
    least_bytes: Size = live("256B", "pages with fewer bytes are not compared", ge=0, le=BYTES)
    sample: int = live(
        20, "one in so many URLs of an alias is visited all the same, to see whether it is one; 0: none",
        ge=0, le=U32,
    )  # fmt: skip


class LimitSettings(Stage):
    pages: int | None = live(None, "pages of the whole crawl", ge=1, le=COUNT)
    bytes: Size | None = live(None, "bytes received in the whole crawl", ge=0, le=BYTES)
    time: Duration | None = live(None, "time that the crawl may take", ge=0, le=YEARS)
    depth: int | None = live(None, "links from a seed, at most", ge=0, le=U16)
    dynamic_depth: int | None = live(
        None, "the same for URLs with a query; absent: as `depth`", ge=0, le=U16
    )
    site_depth: int | None = live(
        None,
        "folders deep into a site, at most (slashes of the path after the first); absent: no limit",
        ge=0,
        le=65535,
    )
    pages_per_host: int | None = live(None, "pages of one host", ge=1, le=U32)
    doubted_visits: int = live(
        3, "visits of a host to URLs of hopeless patterns, before the rest of them is set aside …",
        ge=0, le=U32,
    )  # fmt: skip
    doubted_share: float = live(
        0.25, "… and this share of the host's useful visits besides; 1000: nothing is set aside",
        ge=0, le=1000,
    )  # fmt: skip


PolicyName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]


class DoorsSettings(Stage):
    """Policies in Python. The settings of each are its table `[policy.NAME]`."""

    pages: list[PolicyName] = fixed([], "policies that see finished visits, one after the other")
    order: PolicyName | None = fixed(
        None, "policy that scores fresh URLs; absent: the formula of frontier.order"
    )
    refresh: PolicyName | None = fixed(
        None, "policy that chooses the next visit of a page; absent: none is visited again"
    )
    hosts: PolicyName | None = fixed(None, "policy that judges hosts by their counters")
    batch_rows: int = fixed(512, "rows that a policy is given at most", ge=1, le=65536)
    batch_wait: Duration = fixed("100ms", "longest wait for a batch to fill", ge=SHORTEST, le=DAY)
    hosts_every: Duration = fixed("5s", "time between two batches of hosts", ge=SHORTEST, le=DAY)
    patience: Duration = fixed(
        "2s", "an answer of order, refresh or hosts that comes later does not count",
        ge=SHORTEST, le=DAY,
    )  # fmt: skip
    pages_patience: Duration = fixed(
        "30s", "the same for pages, which hold their visits meanwhile", ge=SHORTEST, le=DAY
    )


class ExchangeMode(StrEnum):
    EXCHANGE = "exchange"
    DISCARD = "discard"
    LOCAL = "local"


class ClusterSettings(Stage):
    name: str = fixed("crawl", "the crawl's name in the engine; several can share one",
                      pattern=r"^[A-Za-z0-9_-]{1,64}$")  # fmt: skip
    engine: list[str] = fixed([], "addresses of the NATS servers, such as nats://10.0.0.1:4222")
    credentials: str | None = fixed(None, "file with the credentials (JWT and key) for the engine")
    token: str | None = fixed(None, "file with the token (a shared password) for the engine")
    tls_ca: str | None = fixed(None, "file with the authorities that the engine's TLS must be of")
    tls_cert: str | None = fixed(None, "file with our own certificate for the engine")
    tls_key: str | None = fixed(None, "file with the key of our certificate")
    replicas: int = fixed(1, "servers that keep each message and value: 1, 3 or 5", ge=1, le=5)
    links_bytes: Size = fixed(
        "10GiB", "links that the engine keeps until a snapshot covers them", ge=0, le=BYTES
    )
    lease: Duration = fixed("10s", "a node that is silent this long is taken out", ge=0.5, le=600)
    rejoin: Duration = fixed(
        "60s", "time for known nodes to come back when a control node starts", ge=0, le=86400
    )
    mode: ExchangeMode = fixed(
        ExchangeMode.EXCHANGE, "links to partitions of others: send them (exchange), forget them "
        "(discard), or visit them here (local)",
    )  # fmt: skip
    links: int = live(500, "links for a partition that are sent together", ge=1, le=50_000)
    wait: Duration = live("100ms", "longest wait for so many links", ge=0.001, le=60)
    cache: int = fixed(1_000_000, "links sent lately that are not sent again", ge=0, le=U32)
    keep: Duration = live(
        "2d", "how long links are kept after they were sent, to send them again", ge=0, le=YEARS
    )
    backlog: Size = live(
        "64MiB", "with more links waiting to be sent, no new visits are begun", ge=0, le=BYTES
    )
    snapshots: str = fixed("", "where snapshots go: a directory, file://, s3:// and the like")
    snapshot_every: Duration = live("5m", "time between snapshots of a partition", ge=0.1, le=YEARS)
    snapshot_keep: int = live(2, "snapshots of a partition that are kept", ge=1, le=1000)
    archive: bool = fixed(
        default=True,
        meaning="copy WARC and log files to the place of the snapshots before these count, so "
        "that a lost disk costs no page",
    )


class ControlSettings(Stage):
    """Where the control API listens. Of the process that serves it, so fixed while it runs."""

    address: str = fixed("127.0.0.1", "IP address that the control API listens on")
    port: int = fixed(8780, "its port; 0: any that is free", ge=0, le=65535)
    names: list[PublicName] = fixed(
        [],
        "further names under which it is reached, as `name`, `name:port` or `https://name[:port]`; "
        "requests by other names are refused",
    )
    tokens: str | None = fixed(
        None, "directory of the token files, for control nodes that share them; absent: its own"
    )
    certificate: str | None = fixed(None, "file with the TLS certificate chain; absent: no TLS")
    key: str | None = fixed(None, "file with the certificate's key")

    @field_validator("address")
    @classmethod
    def _is_address(cls, value: str) -> str:
        try:
            ipaddress.ip_address(value)
        except ValueError as error:
            raise ValueError("an IP address such as 127.0.0.1 or ::1 expected") from error
        return value


class CrawlSettings(Stage):
    """Everything a crawl can be told. `crawl.toml` holds it with a table per stage."""

    partitions: int = fixed(256, "partitions of the crawl", ge=1, le=65536)
    grouping: str = fixed("host", "what is kept together: `host`, or `site` (first label)",
                          pattern="^(host|site)$")  # fmt: skip
    threads: int = fixed(0, "threads that fetch and parse; 0: one per core", ge=0, le=1024)
    canonical: CanonicalSettings = CanonicalSettings()
    scope: ScopeSettings = ScopeSettings()
    seen: SeenSettings = SeenSettings()
    frontier: FrontierSettings = FrontierSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetch: FetchSettings = FetchSettings()
    dns: DnsSettings = DnsSettings()
    parse: ParseSettings = ParseSettings()
    store: StoreSettings = StoreSettings()
    alias: AliasSettings = AliasSettings()
    limits: LimitSettings = LimitSettings()
    rule: list[Rule] = live(
        [], "rules, in order: where one matches, its effects; see docs/reference/rules.md",
        max_length=MOST_RULES,
    )  # fmt: skip
    credentials: dict[str, Credentials] = fixed({}, "request headers that rules name")
    doors: DoorsSettings = DoorsSettings()
    policy: dict[PolicyName, dict[str, JsonValue]] = fixed(
        {}, "settings of policies: a table for each, by the policy's name"
    )
    cluster: ClusterSettings = ClusterSettings()
    control: ControlSettings = ControlSettings()
