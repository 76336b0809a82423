"""The files of a crawl: rotation, full disks, kills, the fetch log."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from gossamer._native import FetchLogWriter, StateError, StateFullError, WarcWriter
from gossamer.library import export_cdxj, log_files, read_log, read_pages, warc_files
from gossamer.library.fetch_log import LogDamagedError

REQUEST = b"GET / HTTP/1.1\r\nHost: e.org\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
NOW = 1_763_233_422_123_456


def visit(writer: WarcWriter, number: int, size: int = 300) -> None:
    body = random.Random(number).randbytes(size)
    writer.append_visit(f"http://e.org/{number}", NOW, REQUEST, HEAD, body)


def stored(folder: Path) -> list[int]:
    """The numbers of all pages, as warcio finds them; every digest is checked."""
    found = []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                uri = record.rec_headers.get_header("WARC-Target-URI")
                record.raw_stream.read()
                if record.rec_type == "response":
                    found.append(int(uri.rsplit("/", 1)[1]))
    return found


def test_a_file_is_finished_only_after_its_records_are_committed(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, max_size=2000)
    for number in range(8):
        visit(writer, number)
    assert {p.suffix for p in tmp_path.iterdir()} == {".open"}
    writer.committed(writer.position() or b"")
    assert sum(p.suffix == ".open" for p in tmp_path.iterdir()) == 1
    writer.close()
    assert {p.suffix for p in tmp_path.iterdir()} == {".gz"}
    assert len(list(tmp_path.iterdir())) > 2
    assert stored(tmp_path) == list(range(8))
    with pytest.raises(StateError, match="closed"):
        visit(writer, 9)


CRASHER = textwrap.dedent("""
    import random, sys
    from pathlib import Path
    from gossamer._native import WarcWriter
    folder, state = Path(sys.argv[1]), Path(sys.argv[2])
    kept = state.read_bytes() if state.exists() else b""
    number, position = (int(kept[:8]), kept[8:]) if kept else (0, None)
    writer = WarcWriter.resume(folder, position, max_size=30_000, fsync_ms=None)
    print("ready", flush=True)
    while True:
        for _ in range(3):
            body = random.Random(number).randbytes(random.randrange(5000))
            writer.append_visit(f"http://e.org/{number}", 1_763_233_422_123_456,
                b"GET / HTTP/1.1\\r\\n\\r\\n", b"HTTP/1.1 200 OK\\r\\n\\r\\n", body)
            number += 1
        new = state.with_suffix(".new")
        new.write_bytes(b"%08d" % number + writer.position())
        new.rename(state)
        writer.committed(writer.position())
""")


def test_killed_again_and_again_each_committed_page_is_there_once(tmp_path: Path) -> None:
    folder, state = tmp_path / "warc", tmp_path / "state"
    rng = random.Random(5)
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", CRASHER, str(folder), str(state)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            try:
                process.wait(rng.random() * 0.15)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
    kept = state.read_bytes()
    writer = WarcWriter.resume(folder, kept[8:], max_size=30_000)
    writer.close()
    assert stored(folder) == list(range(int(kept[:8])))
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", *map(str, folder.iterdir())],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def limited(limit: int, script: str, *args: str) -> None:
    """Runs a script with a limit on the size of files; Python ignores the signal that goes with it."""

    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    subprocess.run([sys.executable, "-c", script, *args], preexec_fn=limit_files, check=True)


def test_no_room_leaves_nothing_half_and_can_be_tried_again(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import sys, random
        from pathlib import Path
        from gossamer._native import StateFullError, WarcWriter
        folder = Path(sys.argv[1])
        writer = WarcWriter(folder)
        def visit(number, size):
            writer.append_visit(f"http://e.org/{number}", 1_763_233_422_123_456,
                b"GET / HTTP/1.1\\r\\n\\r\\n", b"HTTP/1.1 200 OK\\r\\n\\r\\n",
                random.Random(number).randbytes(size))
        def refused(number, size):
            try:
                visit(number, size)
            except StateFullError as error:
                assert ".warc.gz.open" in str(error), error
                return
            raise AssertionError("not refused")
        refused(0, 100_000)
        assert list(folder.iterdir()) == [], "not even an empty file is left"
        visit(0, 20_000)
        (path,) = folder.iterdir()
        size = path.stat().st_size
        refused(1, 100_000)
        assert path.stat().st_size == size
        visit(1, 20_000)
        refused(2, 50_000)
        writer.close()
    """)
    limited(60_000, script, str(tmp_path))
    assert stored(tmp_path) == [0, 1]


def test_full_file_system(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"mounting a small file system is not permitted: {mounted.stderr.decode()}")
    try:
        writer = WarcWriter(tmp_path)
        number = 0
        while number < 100:
            try:
                visit(writer, number, 20_000)
            except StateFullError:
                break
            number += 1
        assert 5 < number < 13
        assert stored(tmp_path) == list(range(number))
        room = ["mount", "-o", "remount,size=1m", str(tmp_path)]
        subprocess.run(room, check=True)
        visit(writer, number, 20_000)
        writer.close()
        assert stored(tmp_path) == list(range(number + 1))
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path)
    visit(writer, 1)
    position = writer.position()
    assert position is not None
    with pytest.raises(StateError, match="damaged"):
        WarcWriter.resume(tmp_path, b"x")
    (path,) = tmp_path.iterdir()
    os.truncate(path, path.stat().st_size - 1)
    with pytest.raises(StateError, match=rf"{path.name}: \d+ bytes long, but \d+ bytes"):
        WarcWriter.resume(tmp_path, position)
    path.unlink()
    with pytest.raises(StateError, match=f"{path.name}: the committed file is missing"):
        WarcWriter.resume(tmp_path, position)


def test_pages_and_index_of_a_cluster_directory(tmp_path: Path) -> None:
    for node, first in [("a", 0), ("b", 10)]:
        writer = WarcWriter(tmp_path / "nodes" / node / "warc", node=node)
        for number in range(first, first + 5):
            visit(writer, number)
        if node == "a":
            writer.close()
    # Node b still writes: its last record is half there.
    unfinished = warc_files(tmp_path)[1]
    assert unfinished.suffix == ".open"
    os.truncate(unfinished, unfinished.stat().st_size - 5)
    pages = list(read_pages(tmp_path, bodies=True))
    assert [p.record.uri for p in pages] == [
        f"http://e.org/{n}" for n in [*range(5), *range(10, 15)]
    ]
    assert all(p.record.body for p in pages)
    assert export_cdxj(tmp_path, tmp_path / "out.cdxj") == 10
    rows = [line.split(" ", 2) for line in (tmp_path / "out.cdxj").read_text().splitlines()]
    assert all(".open" not in json.loads(row[2])["filename"] for row in rows)
    # A finished file that is damaged is an error, not less pages.
    finished = warc_files(tmp_path)[0]
    os.truncate(finished, finished.stat().st_size - 5)
    with pytest.raises(StateError, match=finished.name):
        export_cdxj(tmp_path, tmp_path / "out2.cdxj")
    assert not (tmp_path / "out2.cdxj").exists()
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(StateError):
        list(read_pages(tmp_path))


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text(), st.one_of(st.none(), st.text()))
def test_any_text_is_one_line_of_the_log(
    tmp_path_factory: pytest.TempPathFactory, url: str, host: str, from_url: str | None
) -> None:
    out = tmp_path_factory.mktemp("crawl")
    log = FetchLogWriter(out / "log", fsync_ms=None)
    log.append(NOW, url, host, "fetched", from_url=from_url, ms=float("inf"))
    log.append(
        NOW, "u", "h", "gone", ip="::1", status=404, bytes=7, ms=1.5, depth=2, digest=bytes(20)
    )
    log.close()
    (file,) = log_files(out)
    assert len(file.read_text(encoding="utf-8").splitlines()) == 2
    first, second = read_log(out)
    assert (first.url, first.host, first.from_url, first.ms) == (url, host, from_url, None)
    assert (second.ip, second.status, second.bytes, second.depth) == ("::1", 404, 7, 2)
    assert (second.time, second.ms) == ("2025-11-15T19:03:42.123456Z", 1.5)
    assert second.digest == "sha1:" + "A" * 32


def test_log_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    log = FetchLogWriter(tmp_path / "log")
    log.append(NOW, "http://e.org/", "e.org", "fetched")
    position = log.position()
    log.append(NOW, "http://e.org/2", "e.org", "fetched")
    log = FetchLogWriter.resume(tmp_path / "log", position)
    log.append(NOW, "http://e.org/3", "e.org", "fetched")
    log.close()
    (file,) = log_files(tmp_path)
    fields = "time url host ip outcome status bytes ms depth from digest"
    assert " ".join(json.loads(file.read_text().splitlines()[0])) == fields
    assert [line.url for line in read_log(tmp_path)] == ["http://e.org/", "http://e.org/3"]
    # A last line cut short does not count; a damaged one is named.
    with file.open("ab") as tail:
        tail.write(b'{"time":')
    assert len(list(read_log(tmp_path))) == 2
    with file.open("ab") as tail:
        tail.write(b"}\n")
    with pytest.raises(LogDamagedError, match="line 3"):
        list(read_log(tmp_path))
