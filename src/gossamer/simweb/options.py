"""Options of a simulated web: what it looks like. The same options give the same web."""

import dataclasses
import json
import re
from typing import Any

import msgspec


class OptionsError(ValueError):
    """An option is wrong; the message begins with its name as on the command line."""


def _option(default: Any, text: str) -> Any:
    return dataclasses.field(default=default, metadata={"help": text})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Rates are shares from 0 to 1, and 0 is off. The field names are those of the command line."""

    seed: int = _option(1, "everything follows from this number")
    hosts: int = _option(100, "number of hosts")
    pages: int = _option(10_000, "number of pages of all hosts together")
    port: int = _option(8080, "the one port of all hosts; 0 takes any free one")
    host_skew: float = _option(0.8, "exponent of the long tail of pages per host; 0: all alike")
    names: bool = _option(False, "hosts are called hN.sim.test instead of 127.x.y.z")
    latency: str = _option(
        "",
        "time to answer, one draw per host: 50ms, uniform:10ms,200ms, exp:50ms, lognormal:50ms,1",
    )
    drip: float = _option(0.0, "share of hosts that send bodies slowly")
    drip_seconds: float = _option(2.0, "seconds that a slow host takes for a body")
    errors: float = _option(0.0, "share of pages that answer 500, half of them only once")
    resets: float = _option(0.0, "share of pages that reset the connection, half of them only once")
    redirects: float = _option(0.0, "share of pages that redirect: chains, loops, other hosts")
    dead_links: float = _option(0.0, "dead links (404) per link")
    throttle: float = _option(0.0, "share of pages that answer 429 or 503 once")
    retry_after: int = _option(1, "seconds asked for by Retry-After")
    robots: float = _option(0.0, "share of hosts with a robots file, of many kinds")
    crawl_delay: float = _option(1.0, "seconds in robots files that say Crawl-delay")
    meta_robots: float = _option(0.0, "share of pages with meta robots or X-Robots-Tag")
    sitemaps: float = _option(0.0, "share of hosts with a sitemap: plain, gzip, index")
    duplicates: float = _option(0.0, "share of pages that are exact copies of another")
    near_duplicates: float = _option(0.0, "share of pages that nearly equal another")
    mirrors: float = _option(0.0, "share of hosts that mirror another (at most 0.5)")
    shared_address: float = _option(0.0, "share of hosts on the address of another (needs --names)")
    multi_address: float = _option(0.0, "share of hosts with several addresses (needs --names)")
    traps: float = _option(0.0, "share of hosts with a trap of one of six kinds")
    change_rate: float = _option(0.0, "mean changes of a page per simulated day")
    clock_speed: float = _option(1.0, "simulated seconds per second")
    validators: float = _option(0.0, "share of pages with ETag or Last-Modified")
    charsets: float = _option(0.0, "share of pages in other charsets, or declared wrongly")
    compression: float = _option(0.0, "share of pages served as gzip, br or zstd on request")
    orphans: float = _option(0.0, "share of pages without links to them (at most 0.4)")

    def to_json(self) -> str:
        """The form that the native side reads."""
        fields: dict[str, object] = {
            field.name: getattr(self, field.name) for field in dataclasses.fields(self)
        }
        fields["latency"] = parse_latency(self.latency)
        for name, low, high in (("seed", 0, 2**64 - 1), ("port", 0, 65535)):
            value = fields[name]
            if not isinstance(value, int) or not low <= value <= high:
                raise OptionsError(f"--{name}: must be {low} to {high}, not {value}")
        for name in ("hosts", "pages", "retry_after"):
            value = fields[name]
            if not isinstance(value, int) or not 0 <= value < 2**32 * (
                1 if name != "pages" else 2**31
            ):
                raise OptionsError(f"--{name.replace('_', '-')}: out of range: {value}")
        for name, value in fields.items():
            if isinstance(value, float) and value != value:  # noqa: PLR0124 - a test for NaN
                raise OptionsError(f"--{name.replace('_', '-')}: not a number")
        return json.dumps(fields)

    def replace(self, **changes: Any) -> "Options":
        return dataclasses.replace(self, **changes)


#: A moderate rate of every behaviour (--all-behaviours). Names and addresses are not among them.
ALL_BEHAVIOURS: dict[str, Any] = {
    "latency": "uniform:0ms,5ms",
    "drip": 0.02,
    "drip_seconds": 0.5,
    "errors": 0.02,
    "resets": 0.02,
    "redirects": 0.04,
    "dead_links": 0.02,
    "throttle": 0.02,
    "robots": 0.8,
    "crawl_delay": 0.1,
    "meta_robots": 0.05,
    "sitemaps": 0.5,
    "duplicates": 0.05,
    "near_duplicates": 0.05,
    "mirrors": 0.1,
    "traps": 0.1,
    "change_rate": 1.0,
    "validators": 0.5,
    "charsets": 0.2,
    "compression": 0.5,
    "orphans": 0.05,
}

_TIME = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s)")
_UNIT = {"us": 0.001, "ms": 1.0, "s": 1000.0}


def _milliseconds(text: str) -> float:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise OptionsError(f"--latency: not a time with a unit (us, ms, s): {text!r}")
    return float(match[1]) * _UNIT[match[2]]


def parse_latency(text: str) -> dict[str, str | float] | None:
    """A distribution as written on the command line, for the native side; none when empty."""
    if not text:
        return None
    kind, colon, rest = text.partition(":")
    if not colon:
        return {"kind": "constant", "ms": _milliseconds(text)}
    parts = rest.split(",")
    if kind == "uniform" and len(parts) == 2:
        return {
            "kind": kind,
            "low_ms": _milliseconds(parts[0]),
            "high_ms": _milliseconds(parts[1]),
        }
    if kind == "exp" and len(parts) == 1:
        return {"kind": "exponential", "mean_ms": _milliseconds(parts[0])}
    if kind == "lognormal" and len(parts) == 2:
        try:
            sigma = msgspec.convert(parts[1], float, strict=False)
        except msgspec.ValidationError:
            raise OptionsError(f"--latency: not a number: {parts[1]!r}") from None
        return {"kind": kind, "median_ms": _milliseconds(parts[0]), "sigma": sigma}
    raise OptionsError(
        f"--latency: {text!r} is none of 50ms, uniform:10ms,200ms, exp:50ms, lognormal:50ms,1"
    )
