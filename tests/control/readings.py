"""Statuses and nodes as a service reads them, with only what a test is about."""

from typing import Any

from gossamer.control.schemas import NodeState, NodeView, Status
from gossamer.model.progress import Activity


def status(time: float = 1000.0, **values: Any) -> Status:
    usual: dict[str, Any] = dict.fromkeys(
        (
            "pages", "bytes", "urls_seen", "urls_queued", "visits", "in_flight", "hosts_known",
            "hosts_active", "hosts_waiting", "hosts_set_aside", "hosts_blocked", "hosts_aliases",
            "reranking", "reranked", "rss", "disk", "nodes", "settings_version", "alerts",
        ),
        0,
    )  # fmt: skip
    usual |= {
        "mode": "cluster", "crawl": "web", "version": "0", "activity": Activity.RUNNING,
        "wanted": "run", "outcomes": {}, "disk_free": None, "seconds": 1.0, "note": "",
        "pages_per_second": 0.0, "bytes_per_second": 0.0, "eta_seconds": None, "eta_from": None,
        "next_due": None, "control": [],
    }  # fmt: skip
    return Status(time=time, **(usual | values))


def node(name: str, state: NodeState = NodeState.RUNNING, heard: float = 1000.0) -> NodeView:
    return NodeView(
        id=name, state=state, address=None, pid=None, version="0", uptime=1.0,
        last_heartbeat=heard, pages=0, bytes=0, urls_seen=0, urls_queued=0, in_flight=0,
        hosts_known=0, pages_per_second=0.0, rss=0, disk=0, disk_free=None, partitions=1,
        settings_version=0, note="",
    )  # fmt: skip
