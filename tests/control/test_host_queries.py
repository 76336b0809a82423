"""Hosts of a cluster: each is asked of its owner, pages of all nodes are merged, and who is away is said."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gossamer.cluster.assignment import Assignment, Row
from gossamer.control.host_queries import HostQueries
from gossamer.control.leader.control_node import ControlNode
from gossamer.control.schemas import HostAction, HostQuery, PatternQuery
from gossamer.control.service import NotKnownError, RefusedError, UnreachableError
from gossamer.errors import EngineAwayError, GossamerError, UsageError
from gossamer.settings import CrawlSettings

PARTITIONS = 8


def state(name: str, queued: int) -> dict[str, Any]:
    robots = {"kind": "unknown", "until": 0, "since": 0, "tries": 0}
    counters = dict.fromkeys(
        ("waiting", "pages", "bytes", "errors", "failures_in_a_row", "set_asides", "under_way"), 0
    )
    return counters | {
        "name": name, "standing": "waiting", "due": 1.0, "last_end": 0, "gap": 1.0,
        "gap_source": "setting", "crawl_delay": 0.0, "response_time": 0.0, "ip": None,
        "queued": queued, "blocked": False, "set_aside": False, "given_up": None, "policy": None,
        "robots": {"http": robots, "https": robots},
    }  # fmt: skip


def found(hosts: dict[str, int]) -> dict[str, Any]:
    """What a node tells of hosts: a doubted pattern and a parameter of each."""
    pattern = {
        "pattern": "/*/edit",
        "reason": "copies",
        "evidence": None,
        "visits": 9,
        "taken_up": False,
    }
    parameter = {"parameter": "ref", "place": "**", "state": "learnt", "evidence": "the same"}
    return {
        "patterns": [pattern | {"host": host, "set_aside": number} for host, number in hosts.items()],
        "total": len(hosts),
        "parameters": [parameter | {"host": host} for host in hosts],
    }  # fmt: skip


class Nodes:
    """Nodes that answer from a table; an error is raised."""

    def __init__(self) -> None:
        self.hosts: dict[str, dict[str, int]] = {}
        self.asked: list[tuple[str, str]] = []
        self.error: GossamerError | None = None

    async def ask(self, node: str, name: str, body: Any = None, seconds: float = 1.0) -> Any:
        self.asked.append((node, name))
        if self.error is not None:
            raise self.error
        known = self.hosts.get(node, {})
        if name == "host":
            host = body["host"]
            return state(host, known[host]) if host in known else None
        if name == "patterns":
            return found({body["host"]: known[body["host"]]})
        if name == "steer_host":
            return body["host"] in known
        return [{"outcome": "fetched", "status": 200, "time": 1.0} for _ in body["urls"]]

    async def ask_all(self, name: str, body: Any = None, seconds: float = 1.0) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for node, known in self.hosts.items():
            if self.error is not None and node == "b":
                answers[node] = {"error": str(self.error)}
                continue
            if name == "patterns":
                answers[node] = found(known)
                continue
            order = -1 if json.loads(body["question"])["reversed"] else 1
            rows = sorted(known.items(), key=lambda row: -row[1] * order)
            answers[node] = {
                "places": [(2**64 - 1 - queued, host, 7) for host, queued in rows],
                "rows": [state(host, queued) for host, queued in rows],
                "more": False, "matched": len(rows), "total": len(rows),
            }  # fmt: skip
        return answers


def queries(nodes: Nodes, owner: str = "a", held: int = PARTITIONS) -> HostQueries:
    """`held`: so many partitions are already with their owner."""
    rows = tuple(Row(owner, 1) for _ in range(PARTITIONS))
    known = SimpleNamespace(fresh=SimpleNamespace(partitions=[(p, 1) for p in range(held)]))
    node = SimpleNamespace(
        requests=nodes,
        state=SimpleNamespace(map=Assignment(1, rows)),
        settings=SimpleNamespace(current=CrawlSettings()),
        membership=SimpleNamespace(nodes={owner: known}),
    )
    return HostQueries(cast("ControlNode", node))


async def test_pages_of_all_nodes_are_one_list() -> None:
    nodes = Nodes()
    nodes.hosts = {"a": {"a1": 9, "a2": 3}, "b": {"b1": 7, "b2": 1}, "c": {}}
    page = await queries(nodes).page(HostQuery(limit=3))
    assert [(row.name, row.node) for row in page.hosts] == [("a1", "a"), ("b1", "b"), ("a2", "a")]
    assert (page.matched, page.total, page.next is not None) == (4, 4, True)
    whole = await queries(nodes).page(HostQuery(limit=4))
    assert [row.name for row in whole.hosts] == ["a1", "b1", "a2", "b2"]
    assert whole.next is None
    turned = await queries(nodes).page(HostQuery(limit=4, reverse=True))
    assert [row.name for row in turned.hosts] == ["b2", "a2", "b1", "a1"]


async def test_a_list_without_some_node_is_no_list() -> None:
    nodes = Nodes()
    nodes.hosts = {"a": {"a1": 9}, "b": {"b1": 7}}
    nodes.error = EngineAwayError("node b does not answer: no answer in time")
    with pytest.raises(UnreachableError, match="b does not answer") as found:
        await queries(nodes).page(HostQuery())
    assert found.value.again is not None


async def test_a_host_is_asked_of_its_owner_only() -> None:
    nodes = Nodes()
    nodes.hosts = {"a": {"x.example": 5}}
    row = await queries(nodes).row("x.example")
    assert (row.name, row.node, row.queued) == ("x.example", "a", 5)
    assert nodes.asked == [("a", "host")]
    with pytest.raises(NotKnownError):
        await queries(nodes).row("y.example")
    with pytest.raises(NotKnownError, match="is no address"):
        await queries(nodes).row("a b")
    with pytest.raises(NotKnownError):
        await queries(nodes).steer("y.example", HostAction.BLOCK, 0.0)


async def test_a_host_whose_partition_is_on_its_way_is_not_unknown() -> None:
    """Its next owner knows nothing of it before it holds the partition."""
    asking = queries(Nodes(), held=0)
    for question in (asking.row("x.example"), asking.steer("x.example", HostAction.BLOCK, 0.0)):
        with pytest.raises(UnreachableError, match="does not hold the partition") as found:
            await question
        assert found.value.again is not None


@pytest.mark.parametrize(
    ("error", "kind"),
    [(EngineAwayError("x"), UnreachableError), (UsageError("x"), RefusedError)],
)
async def test_what_the_owner_fails_with_keeps_its_kind(
    error: GossamerError, kind: type[Exception]
) -> None:
    nodes = Nodes()
    nodes.error = error
    with pytest.raises(kind):
        await queries(nodes).row("x.example")
    # The last visits are told as far as they are known.
    assert await queries(nodes).last_visits(["http://x.example/", None]) == [None, None]


async def test_a_host_without_an_owner() -> None:
    with pytest.raises(UnreachableError, match="nobody owns"):
        await queries(Nodes(), owner="").row("x.example")


async def test_last_visits_are_asked_once_of_each_owner() -> None:
    nodes = Nodes()
    urls = [f"http://h{number}.example/" for number in range(5)]
    visits = await queries(nodes).last_visits([*urls, None])
    assert [visit is not None for visit in visits] == [True] * 5 + [False]
    assert nodes.asked == [("a", "last_visits")]


async def test_a_url_that_is_none_is_refused_without_asking() -> None:
    nodes = Nodes()
    account = await queries(nodes).why("mailto:x@example", None)
    assert account.refused
    assert nodes.asked == []


async def test_patterns_and_parameters_of_all_nodes_are_one_page() -> None:
    nodes = Nodes()
    nodes.hosts = {"a": {"x.test": 3, "z.test": 1}, "b": {"y.test": 5}}
    page = await queries(nodes).patterns(PatternQuery(limit=2))
    assert [(row.host, row.node) for row in page.patterns] == [("y.test", "b"), ("x.test", "a")]
    assert [(row.host, row.node) for row in page.parameters] == [("x.test", "a"), ("y.test", "b")]
    assert page.total == 3
    page = await queries(nodes).patterns(PatternQuery(host="z.test"))
    assert (
        [row.host for row in page.patterns] == [row.host for row in page.parameters] == ["z.test"]
    )
    nodes.error = GossamerError("gone")
    with pytest.raises(UnreachableError, match="b does not answer"):
        await queries(nodes).patterns(PatternQuery())
