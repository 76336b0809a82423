"""How a crawl stands that does not run: status, nodes, partitions. Its time is that of its last visit."""

import time

import gossamer
from gossamer._native import Node, UrlRefused, disk_use, host_key, partition
from gossamer.control.archive.crawl import ArchivedCrawl
from gossamer.control.monitor import COUNTERS
from gossamer.control.running_crawl import NODE
from gossamer.control.schemas import (
    Alert,
    ControlNodeView,
    ControlState,
    NodeState,
    NodeView,
    PartitionMap,
    PartitionView,
    Severity,
    Status,
)
from gossamer.control.schemas.status import door_views, wait_views
from gossamer.disk import free_bytes
from gossamer.model.progress import Progress
from gossamer.report import Known
from gossamer.report.build import Ending
from gossamer.report.progress import progress_of
from gossamer.settings.url_rules import url_rules

READER = "files"
"""The name of who answers: no control node of the crawl."""


def archived_status(
    known: Known, progress: Progress, ended: float | None, told: Ending, *, nodes: int = 1, url: str | None = None,
    settings_version: int = 0, read_only: str | None = None,
) -> Status:  # fmt: skip
    """The counters at the end. `told`: how it ended."""
    moment = round(ended or time.time(), 3)
    usual = {name: getattr(progress, name) for name in COUNTERS}
    return Status(
        **usual
        | {"in_flight": 0, "hosts_active": 0, "rss": None, "next_due": None, "reranking": 0, "reranked": 0}
        | {"disk": disk_use(known.out)},
        time=moment,
        mode="cluster" if known.cluster else "standalone",
        crawl=known.out.absolute().name,
        version=gossamer.__version__,
        activity=told.state,
        wanted="run",
        disk_free=free_bytes(known.out),
        pages_per_second=None,
        bytes_per_second=None,
        eta_seconds=None,
        eta_from=None,
        note=told.words,
        read_only=read_only or told.words,
        nodes=nodes,
        settings_version=settings_version,
        alerts=1,
        doors=door_views(progress.doors),
        waits=wait_views(progress.waits),
        control=[
            ControlNodeView(
                id=READER, leads=True, state=ControlState.LEADS, url=url, last_heartbeat=moment,
                version=gossamer.__version__,
            )
        ],
    )  # fmt: skip


class Standing:
    def __init__(self, crawl: ArchivedCrawl) -> None:
        self._crawl = crawl
        self.url: str | None = None
        """Where it is served."""

    def progress(self) -> Progress:
        return self._crawl.known.progress or progress_of(self._crawl.visits)

    def status(self, settings_version: int) -> Status:
        crawl = self._crawl
        return archived_status(
            crawl.known,
            self.progress(),
            crawl.visits.ended,
            crawl.ending,
            nodes=max(1, len(crawl.visits.nodes)),
            url=self.url,
            settings_version=settings_version,
            read_only=crawl.read_only,
        )

    def alert(self, status: Status) -> Alert:
        """Says at the top of the dashboard what one looks at."""
        can = (
            self._crawl.known.resume
            if self._crawl.nodes
            else "fetch the whole directory to go on with it"
        )
        return Alert(
            kind="read_only",
            severity=Severity.NOTICE,
            text=f"The crawl does not run: these are its files, as of its last visit. {status.note}",
            hint=f"to go on with it: {can}" if self._crawl.nodes else can,
            since=status.time,
        )

    def nodes(self, status: Status) -> list[NodeView]:
        tallies = self._crawl.visits.nodes
        if not tallies:
            partitions = self._crawl.settings.partitions
            return [self._node(NODE, status, status.pages, status.bytes, partitions)]
        owned = self._crawl.assignment()
        counts = owned.counts() if owned else {}
        return [
            self._node(name, status, row.pages, row.bytes, counts.get(name, 0))
            for name, row in sorted(tallies.items())
        ]

    def _node(
        self, name: str, status: Status, pages: int, received: int, partitions: int
    ) -> NodeView:
        """What the files tell; what its process needed, nobody wrote down."""
        counters = self._crawl.readings.get(name)
        place = self._crawl.directories().get(name)
        return NodeView(
            id=name,
            state=NodeState.FINISHED,
            address=None,
            pid=None,
            version=None,
            uptime=None,
            last_heartbeat=None,
            pages=pages,
            bytes=received,
            urls_seen=counters.urls_seen if counters else None,
            urls_queued=counters.urls_queued if counters else None,
            in_flight=0,
            hosts_known=counters.hosts_known if counters else None,
            pages_per_second=None,
            rss=None,
            disk=disk_use(place) if place else None,
            disk_free=status.disk_free,
            partitions=partitions,
            settings_version=None,
            note="ended",
            inner=None,
        )

    def partitions(self) -> PartitionMap:
        owned = self._crawl.assignment()
        number = len(owned.rows) if owned else self._crawl.settings.partitions
        sizes = self._partition_sizes(number)
        rows = []
        for at, (hosts, queued, pages) in enumerate(sizes):
            node = owned.rows[at].owner or None if owned else self._only_node()
            epoch = owned.rows[at].epoch if owned else 1
            rows.append(
                PartitionView(
                    partition=at,
                    node=node,
                    epoch=epoch,
                    to=None,
                    hosts=hosts,
                    queued=queued,
                    pages=pages,
                )
            )
        return PartitionMap(epoch=owned.epoch if owned else 1, partitions=rows)

    def _only_node(self) -> str | None:
        return None if self._crawl.known.cluster else NODE

    def _partition_sizes(self, number: int) -> list[tuple[int, int, int]]:
        sums = [(0, 0, 0)] * number
        if self._crawl.nodes:
            for node in self._crawl.nodes.values():
                for at, row in enumerate(_sizes(node)[:number]):
                    sums[at] = (sums[at][0] + row[0], sums[at][1] + row[1], sums[at][2] + row[2])
            return sums
        rules = url_rules(self._crawl.settings)
        for host in self._crawl.visits.hosts.all():
            try:
                at = partition(host_key(f"http://{host.host}/", rules), number)
            except (UrlRefused, ValueError):
                continue
            sums[at] = (sums[at][0] + 1, 0, sums[at][2] + host.pages)
        return sums


def _sizes(node: Node) -> list[tuple[int, int, int]]:
    found = node.host_list()
    return [] if found is None else found.partition_sizes()
