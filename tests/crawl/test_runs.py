"""Runs of a crawl are written down: how each ended, what it brought, and which was killed."""

import fcntl
import signal
from pathlib import Path

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.conftest import Starter
from tests.crawl.crawling import ended, until

from gossamer.errors import GossamerError, StateInUseError
from gossamer.library.runs import MOST, RUNS, is_running, read_runs
from gossamer.node.leftovers import finish_files
from gossamer.node.runs import RunRecord, recorded
from gossamer.settings import CrawlSettings, dump, load_saved
from gossamer.simweb import SimWeb


def test_limit_kill_interrupt_and_end_are_told_apart(crawl: Starter, web: SimWeb) -> None:
    one = crawl("--max-pages", "40", delay="20ms")
    assert one.run() == 0, one.said()
    [first] = read_runs(one.out)
    assert (first.state, first.resumed, first.kind) == ("limit_reached", False, "crawl")
    assert first.pages == first.pages_in_all == one.summary()["pages"]
    assert not is_running(one.out)

    process = one.start("--max-pages", "1000000", resume=True)
    with ended(process):
        until(lambda: len(read_runs(one.out)) == 2, "the second run")
        assert is_running(one.out)
        assert read_runs(one.out)[1].state == "running"
        before = web.requests()
        until(lambda: web.requests() > before + 30, "requests")
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert read_runs(one.out)[1].state == "killed"
    assert read_runs(one.out)[1].pages is None, "nobody wrote it down"

    process = one.start(resume=True)
    with ended(process):
        before = web.requests()
        until(lambda: web.requests() > before + 30, "requests")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130, one.said()
    one.resume("--delay", "0s")
    runs = read_runs(one.out)
    assert [run.state for run in runs] == ["limit_reached", "killed", "stopped", "finished"]
    assert [run.number for run in runs] == [1, 2, 3, 4]
    pages = [run.pages for run in runs if run.pages is not None]
    assert len(pages) == 4, "the start of the third run tells what the second had"
    assert sum(pages) == one.summary()["pages"] == runs[-1].pages_in_all
    ends = [run.ended for run in runs]
    assert ends[1] is None
    assert ends[0] is not None
    assert runs[0].began <= ends[0] <= runs[1].began


def test_a_cluster_writes_its_runs_too(web: SimWeb, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["--out", out, "--nodes", "2", "--set", "control.port=0", "--json"]
    usual = ["--scope", "any", "--allow-private", "--delay", "0s", "--max-pages", "50"]
    done = gossamer("cluster", web.url, *words, *usual)
    assert done.returncode == 0, done.stderr
    done = gossamer("cluster", "--resume", *words, "--max-pages", "100")
    assert done.returncode == 0, done.stderr
    first, second = read_runs(out)
    assert (first.kind, first.state, second.resumed) == ("cluster", "limit_reached", True)
    assert first.pages is not None
    assert second.pages is not None
    assert second.pages_in_all == first.pages + second.pages


def test_a_crawl_begun_anew_has_new_runs(tmp_path: Path) -> None:
    """The directory of a crawl without an answer is cleared, its runs too."""
    words = ["crawl", "http://127.0.0.1:1/", "--out", tmp_path / "out"]
    assert gossamer(*words).returncode == 1
    assert gossamer(*words).returncode == 1
    [run] = read_runs(tmp_path / "out")
    assert run.state == "finished"


def test_a_command_that_is_refused_is_no_run(tmp_path: Path) -> None:
    assert gossamer("crawl", "notaurl:", "--out", tmp_path / "out").returncode == 2
    assert not (tmp_path / "out").exists()
    assert read_runs(tmp_path / "out") == []


def test_a_failure_ends_a_run_with_its_words(tmp_path: Path) -> None:
    def fail() -> None:
        with recorded(tmp_path, "crawl", resumed=False) as record:
            record.begin(pages=3)
            raise GossamerError("the roof is on fire", do="leave")

    with pytest.raises(GossamerError):
        fail()
    [run] = read_runs(tmp_path)
    assert run.state == "failed"
    assert "the roof is on fire" in run.error
    assert run.pages is None


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    one = RunRecord(tmp_path, "cluster", resumed=False)
    one.begin(pages=0)
    with pytest.raises(StateInUseError, match="is running"):
        RunRecord(tmp_path, "cluster", resumed=True).begin(pages=0)
    one.end("finished", pages=1)
    other = RunRecord(tmp_path, "cluster", resumed=True)
    other.begin(pages=1)
    assert [run.state for run in read_runs(tmp_path)] == ["finished", "running"]
    other.end("finished", pages=1)


def test_a_line_that_was_cut_costs_only_itself(tmp_path: Path) -> None:
    record = RunRecord(tmp_path, "crawl", resumed=False)
    record.begin(pages=0)
    record.end("stopped", pages=7)
    with (tmp_path / RUNS).open("ab") as file:
        file.write(b'{"what":"begin","time":17')
    record.begin(pages=7)
    record.end("finished", pages=9)
    runs = read_runs(tmp_path)
    assert [(run.state, run.pages) for run in runs] == [("stopped", 7), ("finished", 2)]


@pytest.mark.parametrize(
    "line",
    [
        b'{"what":"begin","time":1e300,"kind":"crawl","resumed":false,"pages":0,"version":"1"}',
        b'{"what":"begin","time":1,"kind":"crawl","resumed":false,"pages":-1,"version":"1"}',
        b'{"what":"begin","time":1,"kind":"crawl","resumed":false,"pages":0,"version":"\xff"}',
        b'{"what":"begin","time":1,"kind":"spider","resumed":false,"pages":0,"version":"1"}',
        b"[1, 2]",
        b"",
    ],
)
def test_a_line_that_nobody_can_use_is_left_out(tmp_path: Path, line: bytes) -> None:
    record = RunRecord(tmp_path, "crawl", resumed=False)
    record.begin(pages=0)
    record.end("stopped", pages=7)
    whole = (tmp_path / RUNS).read_bytes()
    (tmp_path / RUNS).write_bytes(line + b"\n" + whole + line + b"\n")
    assert [(run.state, run.pages) for run in read_runs(tmp_path)] == [("stopped", 7)]


def test_a_run_is_known_by_its_number_after_the_file_was_shortened(tmp_path: Path) -> None:
    record = RunRecord(tmp_path, "crawl", resumed=True)
    record.begin(pages=0)
    record.end("stopped", pages=7)
    line = (tmp_path / RUNS).read_bytes()
    lines = line * (MOST // len(line) + 1)
    (tmp_path / RUNS).write_bytes(lines)
    known = read_runs(tmp_path)[-1].number
    record.begin(pages=7)
    record.end("finished", pages=9)
    runs = read_runs(tmp_path)
    assert (tmp_path / RUNS).stat().st_size < MOST // 2
    assert (runs[-1].number, runs[-1].state, runs[-1].pages) == (known + 1, "finished", 2)


def test_a_crawl_goes_on_where_its_history_cannot_be_written(crawl: Starter) -> None:
    one = crawl("--max-pages", "20")
    one.out.mkdir()
    assert one.run() == 0, one.said()
    (one.out / RUNS).unlink()
    (one.out / RUNS).mkdir()
    one.resume("--max-pages", "40")
    assert "this run is not written down" in one.said()
    assert read_runs(one.out) == []


def test_an_end_without_its_begin_is_not_written(tmp_path: Path) -> None:
    """It would be taken for that of the run before, which was killed."""
    killed = RunRecord(tmp_path, "crawl", resumed=False)
    killed.begin(pages=0)
    before = (tmp_path / RUNS).read_bytes()
    killed.end("finished", pages=1)
    (tmp_path / RUNS).write_bytes(before)
    other = RunRecord(tmp_path, "crawl", resumed=True)
    other.hold()
    other.end("finished", pages=3)
    assert (tmp_path / RUNS).read_bytes() == before


def test_a_cluster_that_runs_is_not_changed_by_a_second_command(tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "nodes").mkdir(parents=True)
    (out / "crawl.toml").write_text(dump(CrawlSettings()))
    before = (out / "crawl.toml").read_bytes()
    running = RunRecord(out, "cluster", resumed=False)
    running.begin(pages=0)
    done = gossamer("cluster", "--resume", "--out", out, "--max-pages", "7")
    assert (done.returncode, "holds a crawl that is running" in done.stderr) == (2, True), done
    assert (out / "crawl.toml").read_bytes() == before
    running.end("finished", pages=0)


def test_files_of_a_node_that_runs_are_not_finished(crawl: Starter) -> None:
    """They would be cut under it."""
    one = crawl("--max-pages", "20")
    assert one.run() == 0, one.said()
    node = one.out.parent / "cluster" / "nodes" / "n1"
    node.parent.mkdir(parents=True)
    one.out.rename(node)
    (node / "identity.json").write_text('{"incarnation": "n1"}')
    [warc] = (node / "warc").glob("*.warc.gz")
    still_open = warc.rename(warc.with_name(f"{warc.name}.open"))
    content = still_open.read_bytes()
    settings = load_saved(node / "crawl.toml")
    with (node / "state" / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        finish_files(node.parent.parent, settings)
        assert still_open.read_bytes() == content
