"""Settings as the native node takes them: plain numbers, times in microseconds, one JSON text."""

import msgspec

import gossamer
from gossamer.model.outcome import POLICIES, Policy
from gossamer.settings import CrawlSettings
from gossamer.settings.model import Fsync


def micros(seconds: float) -> int:
    return round(seconds * 1e6)


def user_agent(settings: CrawlSettings) -> str:
    """The crawler names itself and its operator in every request."""
    contact = settings.fetch.contact or "no contact given"
    return f"{settings.fetch.agent}/{gossamer.__version__} (+{contact})"


def native_settings(
    settings: CrawlSettings, *, node_name: str | None = None, host_list: bool = False
) -> str:
    """The settings for `_native.Node`. With a node's name: for a node of a cluster.

    `host_list`: keep a list of all hosts to look at.
    """
    values: dict[str, object] = {
        "host_list": host_list,
        "partitions": settings.partitions,
        "grouping": settings.grouping,
        "threads": settings.threads,
        "canonical": settings.canonical.model_dump(mode="json"),
        "scope": {
            **settings.scope.model_dump(mode="json", exclude={"sitemaps", "ascend"}),
            "site_depth": settings.limits.site_depth,
        },
        "seen": {
            "kind": settings.seen.kind.value,
            "ram": settings.seen.ram,
            "expected": settings.seen.expected,
        },
        "fetch": _fetch(settings),
        "dns": _dns(settings),
        "parse": settings.parse.model_dump(mode="json"),
        "store": {
            "warc_size": settings.store.warc_size,
            "outlinks": settings.store.outlinks,
            "durable": settings.store.fsync is Fsync.BATCH,
            "cache": settings.store.cache,
            "batch_pages": settings.store.batch_pages,
            "batch_wait": micros(settings.store.batch_wait),
        },
        "frontier": _frontier(settings),
        "alias": {
            "enabled": settings.alias.enabled,
            "after": settings.alias.after,
            "after_shared": settings.alias.after_shared,
            "differences": settings.alias.differences,
            "least_bytes": settings.alias.least_bytes,
        },
    }
    if node_name is not None:
        values["cluster"] = _cluster(settings)
        values["node_name"] = node_name
    return msgspec.json.encode(values).decode()


def _cluster(settings: CrawlSettings) -> dict[str, object]:
    cluster = settings.cluster
    return {
        "mode": cluster.mode.value,
        "batch_links": cluster.links,
        "batch_wait": micros(cluster.wait),
        "cache": cluster.cache,
        "keep": micros(cluster.keep),
        "backlog": cluster.backlog,
    }


def _fetch(settings: CrawlSettings) -> dict[str, object]:
    fetch = settings.fetch
    return {
        "agent": fetch.agent,
        "user_agent": user_agent(settings),
        "contact": fetch.contact,
        "headers": list(fetch.headers.items()),
        "concurrency": fetch.concurrency,
        "connect_timeout": micros(fetch.connect_timeout),
        "tls_timeout": micros(fetch.tls_timeout),
        "first_byte_timeout": micros(fetch.first_byte_timeout),
        "stall_timeout": micros(fetch.stall_timeout),
        "total_timeout": micros(fetch.total_timeout),
        "max_body": fetch.max_body,
        "max_ratio": fetch.max_ratio,
        "types": fetch.types,
        "http2": fetch.http2,
        "proxy": fetch.proxy,
        "allow_private": fetch.allow_private,
        "cookies": fetch.cookies,
    }


def _dns(settings: CrawlSettings) -> dict[str, object]:
    dns = settings.dns
    return {
        "servers": dns.servers,
        "answers": dns.answers,
        "floor": micros(dns.floor),
        "ceiling": micros(dns.ceiling),
        "negative": micros(dns.negative),
        "entries": dns.entries,
        "concurrency": dns.concurrency,
        "timeout": micros(dns.timeout),
    }


def _frontier(settings: CrawlSettings) -> dict[str, object]:
    polite, limits = settings.politeness, settings.limits
    address_delay = polite.delay if polite.address_delay is None else polite.address_delay
    return {
        "delay": micros(polite.delay),
        "address_delay": micros(address_delay),
        "response_factor": polite.response_factor,
        "max_crawl_delay": micros(polite.max_crawl_delay),
        "per_host": polite.per_host,
        "overrides": {host: micros(gap) for host, gap in polite.overrides.items()},
        "robots_refresh": micros(polite.robots_refresh),
        "robots_patience": micros(polite.robots_patience),
        "set_aside_after": polite.set_aside_after,
        "set_aside_for": micros(polite.set_aside_for),
        "set_aside_times": polite.set_aside_times,
        "sitemaps": settings.scope.sitemaps,
        "ascend": settings.scope.ascend,
        "order": settings.frontier.order.value,
        "depth": limits.depth,
        "dynamic_depth": limits.depth if limits.dynamic_depth is None else limits.dynamic_depth,
        "pages_per_host": limits.pages_per_host,
        "pages": limits.pages,
        "bytes": limits.bytes,
        "trap_budget": limits.trap_budget,
        "policies": {
            outcome: _policy(policy, polite.retry_wait) for outcome, policy in POLICIES.items()
        },
    }


def _policy(policy: Policy, retry_wait: float) -> dict[str, object]:
    # The table's waits are written for a first wait of a minute; the setting scales them all.
    return {
        "blame": policy.blame.value,
        "tries": policy.tries,
        "wait": micros(policy.wait * retry_wait / 60.0),
        "growth": policy.growth,
    }
