"""Snapshots in a store: what counts, what is newest, what is broken, what is removed."""

import asyncio
import gzip
from pathlib import Path

import pytest

from gossamer.cluster.archive import Copies, bring_back, whole_records
from gossamer.cluster.snapshots import Archive, Manifest, Snapshots
from gossamer.engine import Engine
from gossamer.errors import SettingsError, SnapshotError


@pytest.fixture(params=["directory", "file"])
def snapshots(request: pytest.FixtureRequest, tmp_path: Path) -> Snapshots:
    place = tmp_path / "store"
    return Snapshots(str(place) if request.param == "directory" else f"file://{place}", "web")


async def put(
    snapshots: Snapshots, tmp_path: Path, epoch: int, content: bytes, before: tuple[str, ...] = ()
) -> str:
    file = tmp_path / "cut"
    file.write_bytes(content)
    about = {"position": [7, epoch], "outbox": 3, "changes": bool(before)}
    return (await snapshots.put(17, epoch, file, node="a", about=about, before=before)).name


async def load(snapshots: Snapshots, manifest: Manifest, tmp_path: Path) -> list[bytes]:
    place = tmp_path / "back"
    place.mkdir(exist_ok=True)
    return [file.read_bytes() for file in await snapshots.load(manifest, place)]


async def test_newest_by_epoch_then_number(snapshots: Snapshots, tmp_path: Path) -> None:
    assert await snapshots.latest(17) is None
    for epoch, content in ((4, b"one"), (4, b"two"), (9, b"three")):
        await put(snapshots, tmp_path, epoch, content)
    with pytest.raises(SnapshotError, match="epoch 9, this one is of epoch 5"):
        await put(snapshots, tmp_path, 5, b"late")
    newest = await snapshots.latest(17)
    assert newest is not None
    assert (newest.epoch, newest.position, newest.node) == (9, (7, 9), "a")
    assert await load(snapshots, newest, tmp_path) == [b"three"]
    assert await snapshots.latest(16) is None
    # Another process goes on counting.
    other = Snapshots(snapshots.url, "web")
    assert await put(other, tmp_path, 9, b"four") == "0000000009-00000004"


async def test_without_its_manifest_a_snapshot_does_not_count(
    snapshots: Snapshots, tmp_path: Path
) -> None:
    first = await put(snapshots, tmp_path, 1, b"one")
    second = await put(snapshots, tmp_path, 1, b"two")
    folder = tmp_path / "store/web/partitions/00017"
    (folder / f"{second}.json").unlink()
    newest = await snapshots.latest(17)
    assert newest is not None
    assert newest.name == first


async def test_broken_ones_are_told_and_not_taken(snapshots: Snapshots, tmp_path: Path) -> None:
    name = await put(snapshots, tmp_path, 1, b"some content")
    folder = tmp_path / "store/web/partitions/00017"
    newest = await snapshots.latest(17)
    assert newest is not None
    for broken in (b"some c0ntent", b"some", b""):
        (folder / f"{name}.snapshot").write_bytes(broken)
        with pytest.raises(SnapshotError, match=r"0000000001-00000001.*broken"):
            await load(snapshots, newest, tmp_path)
    (folder / f"{name}.snapshot").unlink()
    with pytest.raises(SnapshotError, match="cannot read"):
        await load(snapshots, newest, tmp_path)
    (folder / f"{name}.json").write_bytes(b"{}")
    with pytest.raises(SnapshotError, match="manifest"):
        await snapshots.latest(17)


async def test_old_ones_are_removed(snapshots: Snapshots, tmp_path: Path) -> None:
    for number in range(5):
        await put(snapshots, tmp_path, 1, bytes([number]))
    assert await snapshots.remove_old(17, 2) == 3
    folder = tmp_path / "store/web/partitions/00017"
    assert len(list(folder.iterdir())) == 4
    newest = await snapshots.latest(17)
    assert newest is not None
    assert await load(snapshots, newest, tmp_path) == [b"\x04"]


async def test_changes_come_with_all_that_they_need(snapshots: Snapshots, tmp_path: Path) -> None:
    await put(snapshots, tmp_path, 1, b"old")
    chain: tuple[str, ...] = ()
    for content in (b"whole", b"more", b"and more"):
        chain = (*chain, await put(snapshots, tmp_path, 1, content, chain))
    # Only the newest is to be kept, and so all that it needs.
    assert await snapshots.remove_old(17, 1) == 1
    newest = await snapshots.latest(17)
    assert newest is not None
    assert await load(snapshots, newest, tmp_path) == [b"whole", b"more", b"and more"]
    # Changes since another than the newest would leave out what is between them.
    with pytest.raises(SnapshotError, match=r"00000003, but .*00000004 is the newest"):
        await put(snapshots, tmp_path, 1, b"a gap", chain[:2])
    with pytest.raises(SnapshotError, match="since which"):
        await snapshots.put(17, 1, tmp_path / "cut", node="a", about={"changes": True})
    folder = tmp_path / "store/web/partitions/00017"
    (folder / f"{chain[1]}.snapshot").write_bytes(b"m0re")
    with pytest.raises(SnapshotError, match=r"0000000001-00000003.*broken"):
        await load(snapshots, newest, tmp_path)
    (folder / f"{chain[0]}.json").unlink()
    with pytest.raises(SnapshotError, match=r"cannot read.*0000000001-00000002"):
        await load(snapshots, newest, tmp_path)
    # The next whole one needs none of them.
    await put(snapshots, tmp_path, 1, b"whole again")
    assert await snapshots.remove_old(17, 1) == 2
    assert len(list(folder.glob("*.json"))) == 1


async def test_a_store_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"cluster\.snapshots"):
        Snapshots(str(tmp_path / "file" / "store"), "web")
    with pytest.raises(SettingsError, match=r"cluster\.snapshots.*gopher"):
        Snapshots("gopher://x/y", "web")


async def test_all_nodes_must_mean_the_same_store(engine: Engine, tmp_path: Path) -> None:
    bucket = engine.bucket("web_crawl")
    await bucket.make(1)
    await Snapshots(str(tmp_path / "one"), "web").check_belongs(bucket)
    await Snapshots(str(tmp_path / "one"), "web").check_belongs(bucket)
    with pytest.raises(SettingsError, match="same --snapshots"):
        await Snapshots(str(tmp_path / "other"), "web").check_belongs(bucket)


async def test_files_are_copied_and_brought_back_whole(tmp_path: Path) -> None:
    archive = Archive(str(tmp_path / "store"), "web")
    disk = tmp_path / "disk"
    (disk / "warc").mkdir(parents=True)
    (disk / "log").mkdir()
    members = [gzip.compress(bytes([n]) * 5000) for n in range(9)]
    (disk / "warc/a.warc.gz").write_bytes(members[0])
    (disk / "warc/b.warc.gz.open").write_bytes(b"".join(members[:4]))
    (disk / "log/a.jsonl").write_bytes(b"{}\n")
    copies = Copies(disk, "n1", archive, keep=2)
    await copies.bring_up_to_date()
    # Longer, and torn; a new copy takes the place of the old one.
    (disk / "warc/b.warc.gz.open").write_bytes(b"".join(members)[:-7])
    (disk / "log/a.jsonl").write_bytes(b'{}\n{}\n{"ur')
    await copies.bring_up_to_date()
    names = await archive.names()
    assert sorted(names) == ["n1/log/a.jsonl", "n1/warc/a.warc.gz", "n1/warc/b.warc.gz"]
    back = tmp_path / "back"
    for name in names:
        await bring_back(archive, name, back)
    assert (back / "warc/b.warc.gz").read_bytes() == b"".join(members[:8])
    assert (back / "warc/a.warc.gz").read_bytes() == members[0]
    assert (back / "log/a.jsonl").read_bytes() == b"{}\n{}\n"
    whole = await asyncio.to_thread(whole_records, back / "warc/b.warc.gz")
    assert whole == len(b"".join(members[:8]))
    # What is there already is left alone.
    assert await bring_back(archive, "n1/warc/a.warc.gz", back) is None
