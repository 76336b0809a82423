"""Snapshots and files in S3, by a real server: what a directory does, and what only S3 gets wrong."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import obstore
import pytest
from obstore.store import from_url
from tests.cluster.buckets import ObjectStore
from tests.cluster.clustering import Cluster
from tests.crawl.crawling import expected, until

from gossamer.cluster.snapshots import Archive, Manifest, Snapshots
from gossamer.engine import Engine
from gossamer.engine.server import free_port
from gossamer.errors import EngineError, SettingsError, SnapshotError
from gossamer.simweb import Options, SimWeb, serve

URL = "s3://crawls/some/prefix"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    one = ObjectStore(tmp_path_factory.mktemp("s3") / "buckets")
    yield one
    one.end()


@pytest.fixture
def store(running: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    """The environment says where it is and who we are, and nothing else of the machine's does."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    return running


async def test_snapshots_come_and_go(store: ObjectStore, tmp_path: Path) -> None:
    snapshots = Snapshots(URL, "web")
    assert await snapshots.latest(17) is None
    # The last one is large enough to go up in several parts.
    contents = [b"one", b"", os.urandom(11 << 20)]
    for content in contents:
        (tmp_path / "cut").write_bytes(content)
        await snapshots.put(17, 4, tmp_path / "cut", node="a", about={"position": [7, 9]})
    other = Snapshots(URL, "web")
    newest = await other.latest(17)
    assert newest is not None
    assert (newest.number, newest.size, newest.position) == (3, 11 << 20, (7, 9))
    (file,) = await other.load(newest, tmp_path)
    assert file.read_bytes() == contents[-1]
    with pytest.raises(SnapshotError, match=f"{URL} has a snapshot .* epoch 4, this one"):
        await other.put(17, 3, tmp_path / "cut", node="b", about={})
    assert await other.remove_old(17, 2) == 1
    folder = store.directory / "some/prefix/web/partitions/00017"
    assert sorted(file.name for file in folder.iterdir()) == [
        f"0000000004-0000000{number}.{kind}" for number in (2, 3) for kind in ("json", "snapshot")
    ]

    place = f"web/partitions/00017/{newest.name}"
    by_hand = from_url(URL)
    obstore.put(by_hand, f"{place}.snapshot", contents[-1][:-1] + b"?")
    with pytest.raises(SnapshotError, match=rf"{newest.name}.snapshot in {URL} is broken"):
        await other.load(newest, tmp_path)
    obstore.delete(by_hand, f"{place}.snapshot")
    with pytest.raises(SnapshotError, match=rf"{newest.name}.snapshot in {URL}: .*NoSuchKey$"):
        await other.load(newest, tmp_path)
    obstore.put(by_hand, f"{place}.json", b"{")
    with pytest.raises(SnapshotError, match=rf"{newest.name}.json in {URL} is broken"):
        await other.latest(17)


async def test_files_are_kept_beside_them(store: ObjectStore, tmp_path: Path) -> None:
    archive = Archive(URL, "files")
    (tmp_path / "a").write_bytes(b"a page")
    for node in ("n1", "n2"):
        await archive.put(node, "warc", "a b+c.warc.gz", tmp_path / "a")
    assert await archive.names("n1") == {"n1/warc/a b+c.warc.gz": 6}
    assert len(await archive.names()) == 2
    await archive.fetch("n2/warc/a b+c.warc.gz", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"a page"


async def test_nodes_that_come_first_at_once_agree(store: ObjectStore, engine: Engine) -> None:
    bucket = engine.bucket("web_crawl")
    await bucket.make(1)
    await asyncio.gather(*(Snapshots(URL, "first").check_belongs(bucket) for _ in range(8)))
    await Snapshots(URL, "first").check_belongs(bucket)
    with pytest.raises(SettingsError, match=r"s3://crawls/other are not those of this crawl"):
        await Snapshots("s3://crawls/other", "first").check_belongs(bucket)


@pytest.mark.parametrize(
    "case",
    [
        (URL, {"AWS_SECRET_ACCESS_KEY": "wrong"}, "SignatureDoesNotMatch"),
        (URL, {"AWS_ACCESS_KEY_ID": "nobody"}, "InvalidAccessKeyId"),
        ("s3://nowhere/prefix", {}, "NoSuchBucket"),
    ],
    ids=["secret", "key", "bucket"],
)
async def test_what_is_wrong_is_told_in_a_line(
    store: ObjectStore,
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[str, dict[str, str], str],
) -> None:
    url, environment, told = case
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    bucket = engine.bucket("web_crawl")
    await bucket.make(1)
    (tmp_path / "cut").write_bytes(b"content")
    one = Snapshots(url, "web")
    errors = await asyncio.gather(
        one.check_belongs(bucket),
        one.put(3, 1, tmp_path / "cut", node="a", about={}),
        Archive(url, "web").put("a", "warc", "x", tmp_path / "cut"),
        return_exceptions=True,
    )
    # Found when a node begins, it is wrong use: trying again would not mend it.
    assert [type(error) for error in errors] == [SettingsError, SnapshotError, SnapshotError]
    for error in errors:
        text = str(error)
        assert url in text
        assert told in text
        assert "\n" not in text
        assert len(text) < 500 + len(str(tmp_path))


async def test_a_store_that_is_away(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(SnapshotError, match=f"in {URL}: .*error sending request$"):
        await Snapshots(URL, "web").latest(3)


def test_settings_of_the_environment_that_cannot_work(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ALLOW_HTTP", "perhaps")
    with pytest.raises(SettingsError, match=rf"cluster\.snapshots.*{URL}.*perhaps"):
        Snapshots(URL, "web")
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(SettingsError, match=rf"cluster\.snapshots.*{URL}.*AWS_ALLOW_HTTP=true"):
        Snapshots(URL, "web")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(SettingsError, match=rf"cluster\.snapshots.*{URL}.*SecretAccessKey"):
        Snapshots(URL, "web")


@pytest.fixture
def web(web_log: Path) -> Iterator[SimWeb]:
    options = Options(hosts=20, pages=240, host_skew=0.0, duplicates=0.0, port=0)
    with serve(options, log=web_log) as one:
        yield one


def test_a_lost_disk_is_made_up_for_from_s3(
    store: ObjectStore, cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    """One of two nodes is killed and its disk wiped: the other one goes on from the store."""
    one = cluster(delay="50ms", expect=2, stay=True, snapshots="s3://crawls/lost")
    one.start("n1", "n2")
    place = store.directory / "lost/crawl"

    def saved() -> int:
        """At least so many pages of the first node are known to its snapshots."""
        files = [file.read_bytes() for file in place.glob("partitions/*/*.json")]
        rows = [msgspec.json.decode(data, type=Manifest) for data in files if data]
        # The first ones are whole ones; of a host one page may be under way.
        about = [row.about for row in rows if row.node == "n1" and not row.before]
        return sum(max(0, row["urls_seen"] - row["urls_queued"] - row["hosts"]) for row in about)

    one.until_requests(150)
    for _ in range(2):
        # The second time there are changes, while the crawl goes on. It is done also if not in time.
        with contextlib.suppress(EngineError):
            one.ask("checkpoint")
    until(saved, "snapshots with some pages", 60.0)
    one.nodes.pop("n1").kill()
    one.wipe("n1", tmp_path / "lost")
    one.until_status(
        lambda status: status.epoch > 2 and not status.ownerless and status.state == "finished",
        "the end of the crawl, by the other node alone",
    )
    other = one.nodes["n2"]
    other.signal(signal.SIGTERM)
    assert other.wait(60) == 130, one.said()
    # What the snapshots knew was not fetched again: those pages are in the store's copies alone.
    assert expected(one.web) - set(one.stored("n2"))
    files = one.directory("n1") / "warc"
    files.mkdir(parents=True)
    for file in place.glob("files/n1/warc/*"):
        (files / file.name).write_bytes(file.read_bytes())
    one.check_union()
