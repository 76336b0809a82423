"""Native nodes that share a crawl, with a list in memory for a stream: exchange and hand-over."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crawl.crawling import expected
from warcio.archiveiterator import ArchiveIterator

from gossamer._native import Node, VersionError, pack_seeds
from gossamer.node.native_settings import to_native
from gossamer.settings import CrawlSettings
from gossamer.simweb import Options, SimWeb, serve

PARTITIONS = 16
STREAM = 7


def settings(name: str, *, known: bool = False, **changes: object) -> str:
    crawl = CrawlSettings.model_validate(
        {
            "partitions": PARTITIONS,
            "threads": 1,
            "scope": {"kind": "any"},
            "politeness": {"delay": "0s", "response_factor": 0},
            "fetch": {"allow_private": True},
            "store": {"fsync": "never"},
            "alias": {"enabled": False},
        }
    )
    values = json.loads(to_native(crawl))
    cluster = {
        "mode": "exchange",
        "batch_links": 50,
        "batch_wait": 10_000,
        "cache": 1_000,
        "keep": 3_600_000_000,
        "backlog": 1 << 30,
    }
    values |= {"node_name": name, "cluster": cluster | changes}
    # As if a policy asked for what is known of links.
    values["parse"]["anchors"] = values["frontier"]["known"] = known
    return json.dumps(values)


class Member:
    """A node and the carrier's side of it."""

    def __init__(
        self, directory: Path, name: str, *, known: bool = False, **changes: object
    ) -> None:
        self.name = name
        self.directory = directory / name
        self.directory.mkdir(exist_ok=True)
        self.node = Node(self.directory, settings(name, known=known, **changes))
        self.generation = -1
        self.read = 0
        self.pages = 0
        """Stored and committed."""

    def partitions(self) -> list[int]:
        return [number for number, _ in self.node.partitions()]


class Cluster:
    """Members and a stream: (partition, payload) by sequence from 1 on."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.stream: list[tuple[int, bytes]] = []
        self.members: list[Member] = []

    def join(self, name: str, *, known: bool = False) -> Member:
        member = Member(self.directory, name, known=known)
        self.members.append(member)
        return member

    def seed(self, url: str) -> None:
        messages, reasons = pack_seeds(settings("seed"), [url])
        assert reasons == [None]
        self.stream.extend(messages)

    def deliver(self, member: Member) -> None:
        node = member.node
        generation = node.generation()
        if generation != member.generation:
            positions = node.positions()
            own = set(member.partitions()) - set(node.frozen())
            member.read = min((positions.get(number, (0, 0))[1] for number in own), default=0)
            member.generation = generation
        own = set(member.partitions())
        batch = [
            (partition, STREAM, at + 1, payload)
            for at, (partition, payload) in enumerate(self.stream)
            if at >= member.read and partition in own
        ][:100]
        taken = node.receive(generation, batch)
        if taken:
            member.read = batch[taken - 1][2]

    def lend(self, member: Member) -> None:
        """Addresses whose home is another's are asked for there."""
        for home, request in member.node.grants_wanted():
            for other in self.members:
                if home in other.partitions():
                    member.node.grants_take(other.node.grants_answer(member.name, request))

    def turn(self) -> bool:
        """One round of everybody; gives whether all are idle."""
        idle = True
        for member in self.members:
            progress = json.loads(member.node.step(0.02))
            member.pages = progress["pages"]
            for token, partition, _, payload in member.node.outgoing(1_000):
                self.stream.append((partition, payload))
                member.node.acknowledge([token])
            before = len(self.stream), member.read
            self.deliver(member)
            self.lend(member)
            idle = idle and progress["idle"] and before == (len(self.stream), member.read)
        return idle

    def run(self, seconds: float = 200.0) -> None:
        end = time.monotonic() + seconds
        quiet = 0
        while quiet < 5:
            assert time.monotonic() < end, "the crawl did not end"
            quiet = quiet + 1 if self.turn() else 0

    def until_pages(self, pages: int) -> None:
        end = time.monotonic() + 200
        while sum(member.pages for member in self.members) < pages:
            assert time.monotonic() < end
            self.turn()

    def hand_over(self, number: int, old: Member, new: Member, epoch: int) -> None:
        old.node.freeze([number])
        while old.node.under_way(number):
            self.turn()
        file = self.directory / f"{number}.snap"
        summary = json.loads(old.node.snapshot(number, file))
        while old.node.outbox()[2] < summary["outbox"]:
            self.turn()
        new.node.gain(number, epoch, [file])
        old.node.lose(number)


def stored(directory: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for file in (directory / "warc").glob("*"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return found


@pytest.fixture
def web() -> Iterator[SimWeb]:
    with serve(Options(port=0, hosts=40, pages=1_500)) as running:
        yield running


def union(cluster: Cluster) -> Counter[str]:
    total: Counter[str] = Counter()
    for member in cluster.members:
        member.node.close()
        total += stored(member.directory)
    return Counter({url: n for url, n in total.items() if not url.endswith("/robots.txt")})


def test_three_nodes_find_the_truth_together(tmp_path: Path, web: SimWeb) -> None:
    cluster = Cluster(tmp_path)
    for at in range(3):
        member = cluster.join(f"n{at}")
        for number in range(at, PARTITIONS, 3):
            member.node.gain(number, 1)
    cluster.seed(web.url)
    cluster.run()
    shares = [len(stored(member.directory)) for member in cluster.members]
    assert min(shares) > 0
    pages = union(cluster)
    assert set(pages) == expected(web)
    assert set(pages.values()) == {1}


def test_partitions_move_while_crawling(tmp_path: Path, web: SimWeb) -> None:
    cluster = Cluster(tmp_path)
    first = cluster.join("a")
    for number in range(PARTITIONS):
        first.node.gain(number, 1)
    cluster.seed(web.url)
    cluster.until_pages(200)
    second = cluster.join("b")
    for number in range(0, PARTITIONS, 2):
        cluster.hand_over(number, first, second, 2)
    cluster.until_pages(700)
    for number in range(0, PARTITIONS, 4):
        cluster.hand_over(number, second, first, 3)
    cluster.run()
    assert sorted(first.partitions() + second.partitions()) == list(range(PARTITIONS))
    assert len(stored(second.directory)) > 10
    pages = union(cluster)
    assert set(pages) == expected(web)
    assert set(pages.values()) == {1}


def test_a_lost_node_is_replaced_from_its_snapshots_and_the_stream(
    tmp_path: Path, web: SimWeb
) -> None:
    cluster = Cluster(tmp_path)
    keeper, lost = cluster.join("keeper"), cluster.join("lost")
    for number in range(PARTITIONS):
        (keeper, lost)[number % 2].node.gain(number, 1)
    cluster.seed(web.url)
    cluster.until_pages(300)
    # A whole snapshot of each, and what changed since, twice.
    chains: dict[int, list[Path]] = {number: [] for number in lost.partitions()}
    of_changes = at_snapshot = 0
    for cut, goal in enumerate((400, 500, 800)):
        at_snapshot = lost.pages
        marks = []
        for number, chain in chains.items():
            file = tmp_path / f"{number}-{cut}.snap"
            summary = json.loads(lost.node.snapshot(number, file, whole=cut == 0))
            of_changes += summary["changes"]
            chains[number] = [*chain, file] if summary["changes"] else [file]
            marks.append(summary["outbox"])
        while lost.node.outbox()[2] < max(marks):
            cluster.turn()
        cluster.until_pages(goal)
    assert of_changes, "no snapshot was one of changes"
    # Gone with its disk; the WARC files are kept only to count what is fetched again.
    cluster.members.remove(lost)
    lost.node.close()
    for number, files in chains.items():
        keeper.node.gain(number, 2, files)
    cluster.run()
    before = stored(lost.directory)
    cluster.members.append(lost)
    pages = union(cluster)
    assert set(pages) == expected(web)
    twice = {url for url, times in pages.items() if times > 1}
    assert len(twice) <= len(before) - at_snapshot
    assert set(pages.values()) <= {1, 2}


def test_a_broken_snapshot_is_refused_and_changes_nothing(tmp_path: Path, web: SimWeb) -> None:
    cluster = Cluster(tmp_path)
    one, other = cluster.join("one"), cluster.join("other")
    for number in range(PARTITIONS):
        one.node.gain(number, 1)
    cluster.seed(web.url)
    cluster.until_pages(100)
    number = max(
        range(PARTITIONS),
        key=lambda n: json.loads(one.node.snapshot(n, tmp_path / f"{n}.snap"))["urls_queued"],
    )
    good = (tmp_path / f"{number}.snap").read_bytes()
    bad = tmp_path / "bad.snap"
    for broken in (good[:-9], good[: len(good) // 2], b"", b"x" * 100, good + b"x"):
        bad.write_bytes(broken)
        with pytest.raises(ValueError, match=r"bad\.snap cannot be used"):
            other.node.gain(number, 2, [bad])
    for version in (b"2", b"9"):
        bad.write_bytes(good[:7] + version + good[8:])
        with pytest.raises(ValueError, match=r"bad\.snap .* another version of Gossamer; use that"):
            other.node.gain(number, 2, [bad])
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    bad.write_bytes(flipped)
    with pytest.raises(ValueError, match="cut or was changed"):
        other.node.gain(number, 2, [bad])
    with pytest.raises(ValueError, match="holds partition"):
        other.node.gain((number + 1) % PARTITIONS, 2, [tmp_path / f"{number}.snap"])
    with pytest.raises(ValueError, match="mixed up"):
        other.node.gain(number, 2, [tmp_path / f"{number}.snap"] * 2)
    assert other.node.partitions() == []
    for member in cluster.members:
        member.node.close()


def test_partitions_survive_a_restart(tmp_path: Path, web: SimWeb) -> None:
    cluster = Cluster(tmp_path)
    one = cluster.join("one")
    for number in range(PARTITIONS):
        one.node.gain(number, number + 1)
    cluster.seed(web.url)
    cluster.until_pages(100)
    one.node.freeze([3])
    one.node.close()
    one.node = Node(one.directory, settings("one"))
    assert one.node.partitions() == [(number, number + 1) for number in range(PARTITIONS)]
    assert one.node.frozen() == [3]
    one.node.gain(3, 9)
    one.generation = -1
    assert one.node.frozen() == []
    cluster.run()
    assert set(union(cluster)) == expected(web)


def test_a_kind_that_cannot_be_handed_over_is_refused(tmp_path: Path) -> None:
    values = json.loads(settings("x"))
    values["seen"]["kind"] = "bloom"
    with pytest.raises(ValueError, match=r"seen\.kind: 'bloom' cannot be used in a cluster"):
        Node(tmp_path, json.dumps(values))


def test_no_visit_begins_past_the_fence(tmp_path: Path, web: SimWeb) -> None:
    cluster = Cluster(tmp_path)
    one = cluster.join("one")
    for number in range(PARTITIONS):
        one.node.gain(number, 1)
    cluster.seed(web.url)
    cluster.until_pages(50)
    one.node.set_fence(time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000)
    while json.loads(one.node.step(0.05))["in_flight"]:
        pass
    asked = web.requests()
    for _ in range(10):
        cluster.turn()
    assert web.requests() == asked
    one.node.set_fence(None)
    cluster.run()
    pages = union(cluster)
    assert set(pages) == expected(web)


def crawl_alone(cluster: Cluster, seconds: float = 200.0) -> None:
    """Until everybody is idle, whatever is in the stream."""
    end = time.monotonic() + seconds
    quiet = 0
    while quiet < 5:
        assert time.monotonic() < end, "the crawl did not end"
        quiet = quiet + 1 if cluster.turn() else 0


def test_foreign_links_are_discarded_by_setting(tmp_path: Path, web: SimWeb) -> None:
    cluster = Cluster(tmp_path)
    for at in range(2):
        member = Member(tmp_path, f"n{at}", mode="discard")
        cluster.members.append(member)
        for number in range(at, PARTITIONS, 2):
            member.node.gain(number, 1)
    cluster.seed(web.url)
    seeds = len(cluster.stream)
    crawl_alone(cluster)
    discarded = sum(json.loads(m.node.step(0.0))["links_discarded"] for m in cluster.members)
    assert len(cluster.stream) == seeds, "nothing was sent"
    assert discarded > 0
    pages = union(cluster)
    assert 0 < len(pages) < len(expected(web))
    assert set(pages) < expected(web)


def test_foreign_links_are_followed_here_by_setting(tmp_path: Path, web: SimWeb) -> None:
    cluster = Cluster(tmp_path)
    for at in range(2):
        member = Member(tmp_path, f"n{at}", mode="local")
        cluster.members.append(member)
        for number in range(at, PARTITIONS, 2):
            member.node.gain(number, 1)
    cluster.seed(web.url)
    seeds = len(cluster.stream)
    crawl_alone(cluster)
    assert len(cluster.stream) == seeds, "nothing was sent"
    # Who got the seed crawls it all by itself.
    pages = union(cluster)
    assert set(pages) == expected(web)
    assert set(pages.values()) == {1}


def test_a_message_of_another_version_stays_in_the_stream(tmp_path: Path) -> None:
    member = Member(tmp_path, "alone")
    for number in range(PARTITIONS):
        member.node.gain(number, 1)
    ((partition, good),), _ = pack_seeds(settings("seed"), ["http://127.0.0.1:9/"])
    generation = member.node.generation()
    # A damaged one is passed over: it would be as damaged the next time.
    member.node.receive(generation, [(partition, STREAM, 1, good[:-3])])
    member.node.step(0.05)
    other = bytes([good[0] + 1]) + good[1:]
    member.node.receive(generation, [(partition, STREAM, 2, other)])
    with pytest.raises(VersionError, match="run the same Gossamer everywhere"):
        member.node.step(0.05)
    member.node.checkpoint()
    assert member.node.positions() == {partition: (STREAM, 1)}
    member.node.close()
