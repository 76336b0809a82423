"""Prometheus metrics, health and readiness. Counters of the status, made into text when asked."""

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from gossamer.control.api.dependencies import TEXT_REFUSALS, ServiceDep
from gossamer.control.schemas import Alert, ControlState, NodeView, Status
from gossamer.control.schemas.status import InnerView
from gossamer.control.service import UnreachableError
from gossamer.model.progress import Activity

router = APIRouter(responses=TEXT_REFUSALS, tags=["health"])

COUNTERS = {
    "pages": "Pages stored",
    "bytes": "Bytes received",
    "urls_seen": "URLs known",
    "visits": "Visits made",
}
GAUGES = {
    "urls_queued": "URLs queued",
    "urls_set_aside": "URLs of doubted patterns that wait to be taken up",
    "in_flight": "Visits under way",
    "hosts_known": "Hosts known",
    "hosts_active": "Hosts with a visit under way",
    "hosts_waiting": "Hosts that wait for their turn",
    "hosts_set_aside": "Hosts set aside after failures",
    "hosts_blocked": "Hosts blocked by the operator",
    "rss": "Resident memory of the crawl nodes in bytes",
    "disk": "All that the crawl takes on the disk in bytes",
    "disk_free": "Free bytes where the crawl is",
    "seconds": "Seconds that the crawl has worked",
    "settings_version": "Version of the settings",
}
INNER_COUNTERS = {"dns_asked", "dns_hits", "dns_lookups", "dns_seconds"}
"""Of the sizes of inner structures, those that only grow; they begin anew with a node."""

NODE_GAUGES = {
    "pages_per_second": "Pages per second over the last ten",
    "urls_queued": "URLs queued",
    "rss": "Resident memory in bytes",
    "disk_free": "Free bytes on its disk",
    "partitions": "Partitions owned",
    "last_heartbeat": "When it was last heard of, in seconds since the epoch",
}


class _Reading(Collector):
    """One reading of everything."""

    def __init__(self, status: Status, nodes: list[NodeView], alerts: list[Alert]) -> None:
        self._status = status
        self._nodes = nodes
        self._alerts = alerts

    def collect(self) -> Iterator[Metric]:
        status = self._status
        for name, text in COUNTERS.items():
            yield CounterMetricFamily(f"gossamer_{name}", text, value=getattr(status, name))
        for name, text in GAUGES.items():
            value = getattr(status, name)
            if value is not None:
                yield GaugeMetricFamily(f"gossamer_{name}", text, value=value)
        for name, field in InnerView.model_fields.items() if status.inner else ():
            text = str(field.description).capitalize()
            family_of = CounterMetricFamily if name in INNER_COUNTERS else GaugeMetricFamily
            yield family_of(f"gossamer_{name}", text, value=getattr(status.inner, name))
        present = sum(one.state is not ControlState.LOST for one in status.control)
        yield GaugeMetricFamily(
            "gossamer_control_nodes", "Control nodes alive, the leading one included", value=present
        )
        outcomes = CounterMetricFamily(
            "gossamer_outcomes", "Lines of the fetch log by outcome", labels=["outcome"]
        )
        for outcome, count in status.outcomes.items():
            outcomes.add_metric([outcome], count)
        yield outcomes
        links = CounterMetricFamily(
            "gossamer_links_left_out", "Links not followed, by reason", labels=["reason"]
        )
        for reason, count in status.links_left_out.items():
            links.add_metric([reason], count)
        yield links
        activity = GaugeMetricFamily(
            "gossamer_activity", "1 for what the crawl does", labels=["activity"]
        )
        for kind in Activity:
            activity.add_metric([kind.value], float(kind is status.activity))
        yield activity
        alerts = GaugeMetricFamily(
            "gossamer_alerts", "Alerts that stand", labels=["kind", "severity"]
        )
        for alert in self._alerts:
            alerts.add_metric([alert.kind, alert.severity.value], 1)
        yield alerts
        for name, text in NODE_GAUGES.items():
            family = GaugeMetricFamily(f"gossamer_node_{name}", text, labels=["node"])
            for node in self._nodes:
                value = getattr(node, name)
                if value is not None:
                    family.add_metric([node.id], value)
            yield family


@router.get("/metrics", summary="Prometheus metrics", response_class=PlainTextResponse)
async def metrics(service: ServiceDep) -> Response:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        _Reading(await service.status(), await service.nodes(), await service.alerts())
    )
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


@router.get("/healthz", summary="The control node answers", response_class=PlainTextResponse)
async def healthz() -> str:
    return "ok\n"


@router.get("/readyz", summary="The crawl can be steered", response_class=PlainTextResponse)
async def readyz(service: ServiceDep) -> str:
    reason = await service.ready()
    if reason is not None:
        raise UnreachableError("not_ready", reason)
    return "ok\n"
