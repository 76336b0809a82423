"""Crawl nodes and the partitions they own."""

from enum import StrEnum

from pydantic import Field

from gossamer.control.schemas.base import Schema
from gossamer.control.schemas.status import InnerView


class NodeState(StrEnum):
    JOINING = "joining"
    RUNNING = "running"
    PAUSED = "paused"
    DISK_FULL = "disk_full"
    LEAVING = "leaving"
    SILENT = "silent"
    LOST = "lost"
    FINISHED = "finished"


class NodeView(Schema):
    """A crawl node. Null is what is not known: of a node that said nothing yet, or of a crawl that does not run."""

    id: str
    state: NodeState
    address: str | None = Field(description="the machine's name or address, if it was told")
    pid: int | None
    version: str | None
    uptime: float | None = Field(description="seconds since its process began")
    last_heartbeat: float | None
    pages: int | None
    bytes: int | None
    urls_seen: int | None = Field(description="URLs that passed the seen test: analysed and new")
    urls_queued: int | None
    in_flight: int | None
    hosts_known: int | None
    pages_per_second: float | None = Field(description="over the last 10 s")
    rss: int | None
    disk: int | None = Field(description="all that its directory takes on the disk")
    disk_free: int | None
    partitions: int
    settings_version: int | None = Field(
        description="the version of the settings that it works with"
    )
    note: str = ""
    inner: InnerView | None = Field(default=None, description="sizes of what it holds in memory")


class NodeCommand(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    REMOVE = "remove"


class PartitionView(Schema):
    partition: int
    node: str | None = Field(description="who owns it; null: nobody at the moment")
    epoch: int = Field(description="the map's version when it got this owner")
    to: str | None = Field(description="the node it is moving to; null: it stays")
    hosts: int
    queued: int
    pages: int


class PartitionMap(Schema):
    """Who owns what. Sizes are of the last report of each owner."""

    epoch: int
    partitions: list[PartitionView]
