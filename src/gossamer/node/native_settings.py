"""Settings as the native node takes them: plain numbers, times in microseconds, one JSON text."""

from typing import Final

import msgspec

import gossamer
from gossamer.node.doors import patience
from gossamer.policy import chosen, rules
from gossamer.policy.chosen import Policies
from gossamer.policy.hosts import aliases, robots, set_aside, soft404, throttling
from gossamer.policy.hosts.gap import RESPONSE_FACTOR
from gossamer.policy.hosts.outcomes import FREE_TRIES, LONGEST_RETRY_AFTER, REACTIONS
from gossamer.settings import CrawlSettings
from gossamer.settings.link_defaults import skipped
from gossamer.settings.model import Fsync

NONE: Final = Policies()

ANCHORS: Final = {"order.anchor", "pages.links"}
"""Columns for which anchor texts are put together."""

KNOWN: Final = {"order.anchor", "order.kind", "order.parent_score"}
"""Columns for which a queued URL keeps what is known of its link, for a re-rank."""


def micros(seconds: float) -> int:
    return round(seconds * 1e6)


def user_agent(settings: CrawlSettings) -> str:
    """The crawler names itself and its operator in every request."""
    contact = settings.fetch.contact or "no contact given"
    return f"{settings.fetch.agent}/{gossamer.__version__} (+{contact})"


def to_native(
    settings: CrawlSettings,
    *,
    node_name: str | None = None,
    host_list: bool = False,
    look: bool = False,
    policies: Policies = NONE,
    secrets: rules.Secrets | None = None,
) -> str:
    """The settings for `_native.Node`. With a node's name: for a node of a cluster.

    `host_list`: keep a list of all hosts to look at. `look`: for a view of a node's directory. For a node that makes visits: `policies`, those
    that it asks (others need not have them installed), and `secrets`, the values of credentials
    (others need only their names).
    """
    values: dict[str, object] = {
        "host_list": host_list,
        "look": look,
        "partitions": settings.partitions,
        "grouping": settings.grouping,
        "threads": settings.threads,
        "canonical": settings.canonical.model_dump(mode="json"),
        "scope": {
            **settings.scope.model_dump(mode="json", exclude={"sitemaps", "ascend"}),
            "skip_suffixes": skipped(settings.scope.skip_suffixes, settings.fetch.types),
            "site_depth": settings.limits.site_depth,
        },
        "seen": {
            "kind": settings.seen.kind.value,
            "ram": settings.seen.ram,
            "expected": settings.seen.expected,
        },
        "fetch": _fetch(settings),
        "dns": _dns(settings),
        "parse": {
            "links_bytes": settings.parse.links_bytes,
            "anchor_bytes": settings.parse.anchor_bytes,
            "anchors": bool(_asked(policies) & ANCHORS),
        },
        "store": {
            "warc_size": settings.store.warc_size,
            "outlinks": settings.store.outlinks,
            "durable": settings.store.fsync is Fsync.BATCH,
            "cache": settings.store.cache,
            "batch_pages": settings.store.batch_pages,
            "batch_wait": micros(settings.store.batch_wait),
        },
        "frontier": _frontier(settings, policies),
        "rules": rules.to_native(settings, secrets),
        "alias": aliases.to_native(settings.alias),
        "duplicates": chosen.duplicates(settings).to_native(),
        "noarchive": chosen.noarchive(settings).to_native(),
    }
    doors = _doors(settings, policies)
    if doors:
        values["doors"] = doors
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
        "follow_types": fetch.follow_types,
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
        "first_negative": micros(robots.first_refusal(settings.politeness.retry_wait)),
        "entries": dns.entries,
        "concurrency": dns.concurrency,
        "timeout": micros(dns.timeout),
    }


def _frontier(settings: CrawlSettings, policies: Policies) -> dict[str, object]:
    polite, limits = settings.politeness, settings.limits
    address_delay = polite.delay if polite.address_delay is None else polite.address_delay
    factor = polite.response_factor
    return {
        "delay": micros(polite.delay),
        "address_delay": micros(address_delay),
        "response_factor": RESPONSE_FACTOR if factor is None else factor,
        # Who asks for the factor gets it, also with `per_host` 8 and `delay` 0.
        "rest_side_by_side": factor is not None,
        "max_crawl_delay": micros(polite.max_crawl_delay),
        "per_host": polite.per_host,
        "overrides": {host: micros(gap) for host, gap in polite.overrides.items()},
        "robots_refresh": micros(polite.robots_refresh),
        "robots_patience": micros(polite.robots_patience),
        **robots.to_native(list(REACTIONS), polite.retry_wait),
        **set_aside.to_native(polite),
        **throttling.to_native(),
        "sitemaps": settings.scope.sitemaps,
        "ascend": settings.scope.ascend,
        "order": chosen.formula(settings, policies).to_native(),
        "band_wait": micros(settings.frontier.band_wait),
        "known": bool(_asked(policies) & KNOWN),
        "depth": limits.depth,
        "dynamic_depth": limits.depth if limits.dynamic_depth is None else limits.dynamic_depth,
        "pages_per_host": limits.pages_per_host,
        "pages": limits.pages,
        "bytes": limits.bytes,
        "evidence": {
            **chosen.patterns(settings).to_native(limits),
            "parameters": chosen.parameters(settings).to_native(),
        },
        "soft_404": soft404.to_native(settings.fetch),
        "free_tries": FREE_TRIES,
        "longest_retry_after": micros(LONGEST_RETRY_AFTER),
        "policies": {
            outcome: reaction.to_native(polite.retry_wait)
            for outcome, reaction in REACTIONS.items()
        },
    }


def _asked(policies: Policies) -> set[str]:
    """What called policies ask to know of links."""
    return {
        f"{door}.{column}" for door, columns in policies.columns().items() for column in columns
    }


def _doors(settings: CrawlSettings, policies: Policies) -> dict[str, object]:
    """How the called policies are asked; a door without one is left out."""
    doors, waits = settings.doors, patience(settings)
    return {
        door: {
            "columns": columns,
            "rows": doors.batch_rows,
            "wait": micros(doors.hosts_every if door == "hosts" else doors.batch_wait),
            "patience": micros(waits[door]),
        }
        for door, columns in policies.columns().items()
    }
