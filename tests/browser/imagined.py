"""An imagined cluster behind the real API: states that a small crawl does not come into.

Four nodes, one of them silent, partitions on the move, alerts, hosts with hostile names. It keeps
what it is told, so that a test can ask what was asked of it.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Collection
from typing import Any

from gossamer.control.command_list import CommandList, Wanted
from gossamer.control.event_log import EventLog
from gossamer.control.readings import Readings
from gossamer.control.run_pages import run_page
from gossamer.control.schemas import (
    Alert,
    Change,
    ChangeSettings,
    Command,
    CommandInfo,
    CommandResult,
    Confirmation,
    ControlNodeView,
    ControlState,
    DoubtedPattern,
    Event,
    EventKind,
    EventPage,
    History,
    HostCommand,
    HostDetail,
    HostPage,
    HostQuery,
    HostRow,
    LearntParameter,
    LoggedVisit,
    NodeCommand,
    NodeState,
    NodeView,
    PartitionMap,
    PartitionView,
    PatternPage,
    PatternQuery,
    QueuedUrl,
    QueuePlace,
    RobotsRule,
    RobotsText,
    RobotsVerdict,
    RobotsView,
    RunPage,
    SeedSubmission,
    SettingsView,
    Severity,
    Status,
    StoredPage,
    SubmissionFates,
    SubmissionPage,
    TakenUp,
    TakeUp,
    UrlAccount,
    VisitLine,
    VisitPage,
    VisitQuery,
)
from gossamer.control.schemas.hosts import HostStanding
from gossamer.control.schemas.status import InnerView, WaitView
from gossamer.control.schemas.urls import LastVisit, ParametersView, ParameterView, PatternView
from gossamer.control.service import NotKnownError, RefusedError
from gossamer.control.setting_history import SettingHistory
from gossamer.control.submissions import Submissions, fates
from gossamer.library.runs import Run
from gossamer.model.progress import Activity
from gossamer.settings import CrawlSettings

HOSTILE = '<img src=x onerror="alert(1)">\u202e<script>alert(2)<script>'
NODES = ["north", "east", "south", "west"]
PARTITIONS = 256
HOSTS = 137
DOUBTED = [
    (
        "museum-000.example.org", "/wiki/*?action=edit",
        "of 12 visits 11 noindex, 1 copies",
        "of 14 visits 13 noindex, 1 copies", 12, 31_402,
    ),
    (
        "museum-000.example.org", "/calendar/{date}",
        "9 visits led only to more of the same, up to the year 2031", "of 9 visits 9 new", 9, 16_811,
    ),
    ("archive-001.example.org", f"**?{HOSTILE}", "of 16 visits 0 brought something new", None, 0, 0),
]  # fmt: skip
"""Host, pattern, reason, evidence, visits, URLs set aside."""
_WORDS = ["museum", "archive", "library", "journal", "garden", "weather", "atlas", "letters"]


class ImaginedCluster:
    """A crawl that runs on nothing but the clock."""

    def __init__(self, event_log: EventLog, changes: SettingHistory, seeds: Submissions) -> None:
        self.event_log = event_log
        self.changes = changes
        self.seeds = seeds
        self.settings_now = CrawlSettings()
        self.readings = Readings()
        self.wanted: Wanted = "run"
        self.asked: list[tuple[Any, ...]] = []
        self.blocked: set[str] = set()
        self.trusted: set[str] = set()
        """Patterns that were taken up."""
        self.node_states = dict.fromkeys(NODES, NodeState.RUNNING) | {"west": NodeState.SILENT}
        begun = time.time()
        self.runs_so_far = [
            _run(1, "limit_reached", begun - 400_000, 90_000),
            _run(2, "failed", begun - 300_000, 12, error=HOSTILE),
            _run(3, "killed", begun - 200_000, None),
            _run(4, "running", begun - 900, 230_000),
        ]
        for back in range(900, 0, -1):
            self.readings.add(self._at(begun - back))
        for kind, text in (
            (EventKind.STARTED, "the crawl began to work"),
            (EventKind.NODE_JOINED, "node north joined"),
            (EventKind.HAND_OVER, "partition 17 moved from east to south"),
            (EventKind.HOST, f"block {HOSTILE}"),
            (EventKind.NODE_SILENT, "node west was not heard of for 12 s"),
        ):
            event_log.tell(kind, text)

    def _at(self, now: float) -> Status:
        age = max(0.0, now - 1_780_000_000)
        visits = age * 310 + 9000 * math.sin(age / 90) + 260 * math.sin(age / 7)
        pages = visits * 0.83
        size = pages * 19_300
        return Status(
            time=round(now, 3),
            mode="cluster",
            crawl="museums-2026",
            version="0.1.0",
            activity=Activity.PAUSED if self.wanted == "pause" else Activity.RUNNING,
            wanted="pause" if self.wanted == "pause" else "run",
            pages=int(pages),
            bytes=int(size),
            urls_seen=int(pages * 7),
            urls_set_aside=48_213,
            urls_queued=int(4_200_000 + 90_000 * math.sin(age / 200)),
            visits=int(visits),
            in_flight=412,
            hosts_known=184_221,
            hosts_active=int(380 + 40 * math.sin(age / 30)),
            hosts_waiting=int(900 + 100 * math.sin(age / 50)),
            hosts_set_aside=37,
            hosts_blocked=len(self.blocked),
            hosts_aliases=12,
            reranking=0,
            reranked=0,
            outcomes={
                "fetched": int(pages),
                "redirected": int(visits * 0.07),
                "gone": int(visits * 0.05),
                "robots_refused": int(visits * 0.02),
                "timed_out": int(visits * 0.012),
                "server_failed": int(visits * 0.008),
                "throttled": int(visits * 0.006),
                "duplicate": int(visits * 0.004),
            },
            rss=2_900_000_000,
            disk=418_000_000_000,
            disk_free=1_240_000_000_000,
            seconds=age,
            pages_per_second=round(257 + 30 * math.sin(age / 90), 2),
            bytes_per_second=4_960_000 + 500_000 * math.sin(age / 90),
            eta_seconds=16_300,
            eta_from="the queue, if no new URLs come",
            next_due=None,
            waits={
                "throttled": WaitView(hosts=9, host="busy.example", due=now + 3_540),
                "connect_failed": WaitView(hosts=212, host="away.example", due=now + 14),
            },
            note="",
            nodes=4,
            settings_version=self.changes.version,
            alerts=2,
            inner=InnerView(
                seen_ram=402_000_000,
                hosts_in_ram=91_000,
                heads=412_000,
                head_bytes=61_000_000,
                robots_rules=18_400,
                robots_bytes=44_000_000,
                dns_names=52_000,
                dns_asked=1_000_000,
                dns_hits=931_000,
                dns_lookups=69_000,
                dns_seconds=2_346.0,
            ),
            control=[
                ControlNodeView(
                    id=name,
                    leads=state is ControlState.LEADS,
                    state=state,
                    url=url,
                    since=now - 90_000,
                    last_heartbeat=now - silent,
                    version="0.1.0",
                )
                for name, state, url, silent in (
                    ("control-1", ControlState.LEADS, "https://crawl.example.org:8780", 0),
                    ("control-2", ControlState.WAITS, None, 1),
                    (HOSTILE, ControlState.LOST, "http://10.0.0.3:8780", 4000),
                )
            ],
        )

    async def tick(self) -> None:
        while True:
            status = self._at(time.time())
            self.readings.add(status)
            self.event_log.show(status)
            await asyncio.sleep(0.5)

    async def status(self) -> Status:
        return self._at(time.time())

    async def control_nodes(self) -> list[ControlNodeView]:
        return (await self.status()).control

    async def ready(self) -> str | None:
        return None

    async def alerts(self) -> list[Alert]:
        now = time.time()
        return [
            Alert(
                kind="node_silent", severity=Severity.CRITICAL,
                text="node west was not heard of for 12 s", hint="see its machine and its log",
                since=now - 12, node="west",
            ),
            Alert(
                kind="hosts_set_aside", severity=Severity.NOTICE,
                text="37 hosts are set aside after failures in a row",
                hint="they are tried again later; `retry` tries one now", since=now - 900,
                hosts={"standing": "set_aside"},
            ),
        ]  # fmt: skip

    async def history(self, seconds: float) -> History:
        return self.readings.page(seconds, time.time())

    async def runs(self, before: int | None, limit: int) -> RunPage:
        return run_page(self.runs_so_far, before, limit)

    def _node(self, name: str) -> NodeView:
        index, now = NODES.index(name), time.time()
        state = self.node_states[name]
        return NodeView(
            id=name,
            state=state,
            address=f"10.0.0.{index + 11}",
            pid=4100 + index,
            version="0.1.0",
            uptime=now - 1_780_000_000 - index * 3000,
            last_heartbeat=now - (12 if state is NodeState.SILENT else 0.4),
            pages=41_000_000 + index * 100_003,
            bytes=int(7.9e11),
            urls_seen=290_000_000 + index * 7,
            urls_queued=1_050_000 + index * 999,
            in_flight=103,
            hosts_known=46_055,
            pages_per_second=0.0 if state is NodeState.SILENT else 85.3 + index,
            rss=725_000_000,
            disk=104_500_000_000,
            disk_free=310_000_000_000 * (index + 1),
            partitions=64,
            settings_version=self.changes.version,
        )

    async def nodes(self) -> list[NodeView]:
        return [self._node(name) for name in self.node_states]

    async def node_history(self, node: str, seconds: float) -> History:
        page = self.readings.page(min(seconds, 600), time.time())
        return page.model_copy(update={"outcomes": {}})

    async def node_command(self, node: str, command: NodeCommand, who: str) -> NodeView:
        self.asked.append(("node", node, command.value))
        if node not in self.node_states:
            raise NotKnownError("no_such_node", f"there is no node {node}")
        after = {
            NodeCommand.PAUSE: NodeState.PAUSED,
            NodeCommand.RESUME: NodeState.RUNNING,
            NodeCommand.REMOVE: NodeState.LEAVING,
        }
        self.node_states[node] = after[command]
        return self._node(node)

    async def partitions(self) -> PartitionMap:
        return PartitionMap(
            epoch=9,
            partitions=[
                PartitionView(
                    partition=number,
                    node=None if number == 200 else NODES[number * 4 // PARTITIONS],
                    epoch=7,
                    to="north" if 192 <= number < 204 else None,
                    hosts=700 + number % 13,
                    queued=(number * 7919) % 31_000,
                    pages=640_000 + (number * 31) % 9000,
                )
                for number in range(PARTITIONS)
            ],
        )

    def _host(self, index: int) -> HostRow:
        name = f"{_WORDS[index % 8]}-{index:03}.example.org"
        if index == 3:
            name = HOSTILE
        if index == 5:
            name = "a-very-long-name-" * 12 + "example.org"
        now = time.time()
        robots = RobotsView(kind="rules", until=int(now) + 70_000, since=0, tries=1)
        unknown = RobotsView(kind="unknown", until=0, since=0, tries=0)
        sources = ["setting", "crawl_delay", "response_time", "override"]
        standing = list(HostStanding)[index % 6]
        if name in self.blocked:
            standing = HostStanding.BLOCKED
        return HostRow(
            name=name,
            node=NODES[index % 4],
            partition=index,
            standing=standing,
            due=now + index * 3 - 20,
            last_end=None if index == 2 else now - index * 11,
            gap=1 + index % 9 * 0.7,
            gap_source=sources[index % 4],
            override=5.0 if index % 4 == 3 else None,
            crawl_delay=2.0 if index % 4 == 1 else 0.0,
            response_time=0.21,
            under_way=1 if standing is HostStanding.ACTIVE else 0,
            ip="192.0.2.7",
            queued=(HOSTS - index) * 913,
            waiting=index,
            pages=88_000 - index * 17,
            quota=100_000,
            bytes=1_700_000_000,
            errors=index * 3,
            failures_in_a_row=index % 5,
            set_asides=index % 3,
            blocked=name in self.blocked or standing is HostStanding.BLOCKED,
            set_aside=standing is HostStanding.SET_ASIDE,
            given_up="dns_not_found" if standing is HostStanding.GIVEN_UP else None,
            robots_http=robots,
            robots_https=unknown,
        )

    async def hosts(self, query: HostQuery) -> HostPage:
        self.asked.append(("hosts", query.sort.value, query.search, query.standing))
        if query.failure is not None:
            self.asked.append(("failure", query.failure))
        rows = [self._host(index) for index in range(HOSTS)]
        found = [
            row
            for row in rows
            if query.search.lower() in row.name.lower() and query.standing in {None, row.standing}
        ]
        begin = int(query.cursor or 0)
        end = begin + query.limit
        return HostPage(
            hosts=found[begin:end],
            next=str(end) if end < len(found) else None,
            matched=len(found),
            total=len(rows),
        )

    async def host(self, name: str) -> HostRow:
        for index in range(HOSTS):
            row = self._host(index)
            if row.name == name:
                return row
        raise NotKnownError("no_such_host", f"nothing of the host {name[:100]} was ever queued")

    async def host_detail(self, name: str) -> HostDetail:
        text = "# be kind\nUser-agent: *\nDisallow: /private\n" + HOSTILE
        return HostDetail(
            queue=[
                QueuedUrl(url=f"https://{name}/{HOSTILE}/{at}", score=0.5, depth=2, tries=at % 3, not_before=None)
                for at in range(20)
            ],
            robots_http=None,
            robots_https=RobotsText(text=text, bytes=len(text), cut=False),
        )  # fmt: skip

    async def visits(self, query: VisitQuery) -> VisitPage:
        """Two pages of whatever is asked for; an outcome that never happens has none."""
        self.asked.append(("visits", query.model_dump(exclude_defaults=True)))
        begin = int(query.cursor or 0)
        now = time.time()
        outcomes = ["fetched", "fetched", "gone", "timed_out"]
        rows = [
            LoggedVisit(
                time=now - 7 * at, host=query.host or "museum-000.example.org", node=NODES[at % 4],
                url=query.url or f"https://{query.host or 'museum-000.example.org'}/{at}?q={HOSTILE}",
                outcome=query.outcome or outcomes[at % 4], status=200, bytes=19_000 + at,
                ms=80 + 40 * math.sin(at), ip="192.0.2.7", depth=3, found_on="https://museum.example/",
            )
            for at in range(begin, begin + query.limit)
        ]  # fmt: skip
        if query.outcome == "tls_failed":
            rows = []
        more = str(begin + query.limit) if begin == 0 else None
        return VisitPage(visits=rows, next=more, reached=now - 7 * (begin + query.limit))

    async def stored_page(self, url: str) -> StoredPage:
        return StoredPage(
            url=url, node="north", file="gossamer-20261117-00007-ab.warc.gz", offset=4711,
            kind="response", media_type="text/html", head="HTTP/1.1 200 OK\nServer: nginx",
            text=f"<!doctype html><title>{HOSTILE}</title><script>alert(3)</script>", cut=True, note="",
        )  # fmt: skip

    async def host_command(self, name: str, command: HostCommand, who: str) -> HostRow:
        self.asked.append(("host", name, command.action.value, command.seconds))
        if command.action.value == "block":
            self.blocked.add(name)
        if command.action.value == "unblock":
            self.blocked.discard(name)
        self.event_log.tell(EventKind.HOST, f"{command.action.value} {name}", host=name, who=who)
        return await self.host(name)

    async def patterns(self, query: PatternQuery) -> PatternPage:
        self.asked.append(("patterns", query.host))
        rows = [
            DoubtedPattern(
                host=host,
                node="north",
                pattern=pattern,
                reason=reason,
                evidence=evidence,
                visits=visits,
                set_aside=aside,
                taken_up=False,
            )
            for host, pattern, reason, evidence, visits, aside in DOUBTED
            if query.host in {None, host} and pattern not in self.trusted
        ]
        parameter = LearntParameter(
            host=DOUBTED[0][0],
            node="north",
            parameter="ref",
            place="**",
            state="kept" if "?ref" in self.trusted else "learnt",
            evidence=f"the same page under 9 values {HOSTILE}",
        )
        return PatternPage(
            patterns=rows[: query.limit],
            total=len(rows),
            parameters=[parameter] if query.host in {None, parameter.host} else [],
        )

    async def take_up(self, asked: TakeUp, who: str) -> TakenUp:
        self.asked.append(("take_up", asked.host, asked.pattern))
        of_host = {row[1]: row[5] for row in DOUBTED if row[0] == asked.host}
        if asked.pattern is not None and asked.pattern.startswith("?"):
            of_host[asked.pattern] = 7
        taken = {name: urls for name, urls in of_host.items() if asked.pattern in {None, name}}
        self.trusted |= set(taken)
        text = f"{asked.host}: taken up by the operator"
        self.event_log.tell(EventKind.HOST, text, host=asked.host, who=who)
        return TakenUp(host=asked.host, patterns=len(taken), urls=sum(taken.values()))

    async def why(self, url: str) -> UrlAccount:
        if " " in url.strip():
            return UrlAccount(given=url, refused="a blank in the host")
        return UrlAccount(
            given=url,
            url=f"http://museum.example.org/{HOSTILE}",
            host="museum-000.example.org",
            registered_domain="example.org",
            partition=17,
            fingerprint="00f1e2d3c4b5a697",
            node="south",
            seen=True,
            robots=RobotsVerdict(
                allowed=True, rule=RobotsRule(line=12, allow=True, pattern=HOSTILE),
                crawl_delay=2.0, fresh_until=0,
            ),
            pattern=PatternView(
                pattern=f"/wiki/*?{HOSTILE}", visits=12, evidence="of 12 visits 11 noindex", doubted=HOSTILE,
                trusted=False, set_aside=True, urls_set_aside=31_402,
            ),
            parameters=ParametersView(
                found=[ParameterView(name="ref", place="**", state="learnt", evidence=HOSTILE)],
                stripped="ref", visited_as=f"http://museum.example.org/{HOSTILE}",
            ),
            soft_404=f"answers a missing name with {HOSTILE}",
            queued=QueuePlace(ahead=12, band=1, depth=4, tries=1, not_before=None),
            last_visit=LastVisit(
                outcome="fetched", status=200, time=time.time() - 90, depth=4, warc_file=7,
                warc_name="gossamer-20261117-00007-ab.warc.gz", warc_offset=4711, warc_length=9000,
            ),
            visits=[
                VisitLine(
                    time="2026-11-15T20:01:02.123Z", outcome="timed_out", status=None, bytes=0,
                    ms=30_000, ip="192.0.2.7", found_on=f"http://x.example/{HOSTILE}",
                    robots="noindex", left_out={"other_site": 14},
                )
            ],
            host_state=self._host(0),
        )  # fmt: skip

    async def submit_seeds(self, urls: list[str], who: str) -> SeedSubmission:
        self.asked.append(("seeds", len(urls)))
        reasons = [None if url.startswith("http") else f"no scheme: {url}" for url in urls]
        return self.seeds.keep(urls, reasons, who)

    async def submissions(self, before: int | None, limit: int) -> SubmissionPage:
        return self.seeds.page(before, limit)

    async def submission(self, number: int, offset: int, limit: int) -> SubmissionFates:
        submission = self.seeds.get(number)
        seeds = submission.seeds[offset : offset + limit]
        visit = {"outcome": "fetched", "status": 200, "time": time.time() - 3}
        visits = [visit if index % 2 == 0 else None for index in range(len(seeds))]
        return fates(submission, offset, seeds, visits)

    async def settings(self) -> SettingsView:
        return self.changes.view(self.settings_now)

    async def change_settings(self, change: ChangeSettings, who: str) -> Change:
        return self._change(change, who, None)

    async def undo_settings(self, version: int, who: str) -> Change:
        return self._change(self.changes.undoing(version), who, version)

    def _change(self, asked: ChangeSettings, who: str, undoes: int | None) -> Change:
        after, change = self.changes.plan(self.settings_now, asked, who, undoes=undoes)
        self.settings_now = after
        change = change.model_copy(update={"applied_by": NODES[:3]})
        self.changes.keep(change)
        for value in change.values:
            self.event_log.tell(EventKind.SETTING, f"{value.name} changed", who=who)
        return change

    async def setting_changes(self, before: int | None, limit: int) -> list[Change]:
        return self.changes.last(before, limit)

    async def commands(self) -> list[CommandInfo]:
        return CommandList(lambda: self.wanted).all()

    async def command(self, command: Command, who: str) -> CommandResult:
        self.asked.append(("command", command.value))
        if command is Command.RERANK:
            raise RefusedError("busy", "a ranking is under way; wait for its end")
        if command in {Command.PAUSE, Command.RESUME}:
            self.wanted = "pause" if command is Command.PAUSE else "run"
        silent = command is Command.CHECKPOINT
        return CommandResult(
            command=command,
            time=time.time(),
            confirmed=not silent,
            nodes=[
                Confirmation(node=name, confirmed=not (silent and name == "west"), seconds=0.2)
                for name in NODES
            ],
        )

    async def events(
        self, after: int | None, limit: int, kinds: Collection[EventKind] = ()
    ) -> EventPage:
        return self.event_log.page(after, limit, kinds)

    def watch(self, after: int | None) -> AsyncIterator[Status | Event]:
        return self.event_log.watch(after)


def _run(number: int, state: str, began: float, pages: int | None, *, error: str = "") -> Run:
    return Run(
        number=number, kind="cluster", resumed=number > 1, version="0.1.0", began=began,
        ended=None if state in {"killed", "running"} else began + 5000 * number, state=state,
        pages=pages, pages_in_all=None if pages is None else 100_000 * number, error=error,
    )  # fmt: skip
