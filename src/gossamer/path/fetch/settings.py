"""Settings of the fetch stage. Durations are seconds, sizes are bytes; unknown keys are refused.

Addresses, field names and roots are checked when the native fetcher is made, before the first fetch.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, le=86_400)]
Bytes = Annotated[int, Field(gt=0, le=1 << 40)]
Count = Annotated[int, Field(gt=0, le=1 << 32)]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FetchLimits(_Settings):
    """Everything that bounds one fetch."""

    connect: Seconds = 10.0
    tls: Seconds = 10.0
    first_byte: Seconds = 30.0
    stall: Seconds = 20.0
    total: Seconds = 120.0
    head_bytes: Annotated[int, Field(ge=256, le=16 << 20)] = 64 << 10
    head_lines: Count = 256
    body_bytes: Bytes = 16 << 20
    decoded_bytes: Bytes = 64 << 20
    ratio: Count = 200


class DnsSettings(_Settings):
    """How names become addresses. `servers` empty: those of the system."""

    servers: tuple[str, ...] = ()
    fixed: dict[str, tuple[str, ...]] = {}
    ttl_floor: Seconds = 60.0
    ttl_ceiling: Seconds = 86_400.0
    negative_ttl: Seconds = 60.0
    stale: Annotated[float, Field(ge=0)] = 3600.0
    capacity: Count = 200_000
    concurrency: Count = 256
    timeout: Seconds = 3.0
    attempts: Annotated[int, Field(gt=0, le=10)] = 2


class TlsSettings(_Settings):
    """Which certificates end a chain of trust; `extra_roots` are DER."""

    web_roots: bool = True
    native_roots: bool = False
    extra_roots: tuple[bytes, ...] = ()


class FetchSettings(_Settings):
    """What the fetcher is told once."""

    user_agent: str = "gossamer/0.1.0"
    contact: str = ""
    accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    accept_encoding: str = "gzip, deflate, br, zstd"
    extra_headers: tuple[tuple[str, str], ...] = ()
    limits: FetchLimits = FetchLimits()
    accept_types: tuple[str, ...] = ()
    http2: bool = True
    proxy: str | None = None
    allow_private: bool = False
    cookies: bool = False
    credentials: tuple[tuple[str, str], ...] = ()
    dns: DnsSettings = DnsSettings()
    tls: TlsSettings = TlsSettings()
    idle_connections: Annotated[int, Field(ge=0)] = 4096
    idle_per_host: Annotated[int, Field(ge=0)] = 1
    idle_timeout: Seconds = 15.0
    local_address: str | None = None

    def native(self) -> dict[str, Any]:
        """The form that `gossamer._native.Fetcher` takes."""
        return self.model_dump()
