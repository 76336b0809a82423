"""States and directories that a crawl must not touch are refused, with a message and an exit code."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.conftest import Starter
from tests.crawl.crawling import Crawl, ended, until


@pytest.fixture
def stopped(crawl: Starter) -> Crawl:
    """A crawl killed halfway."""
    one = crawl(delay="50ms")
    assert one.kill(one.start(), 100)
    return one


def newer(store: Path) -> None:
    (store / "FORMAT").write_text("gossamer-state 7\n")


def older(store: Path) -> None:
    (store / "FORMAT").write_text("gossamer-state 4\n")


def unmarked(store: Path) -> None:
    (store / "FORMAT").unlink()


def strange(store: Path) -> None:
    (store / "FORMAT").write_bytes(b"\xff\xfe\x00")


def without_version(store: Path) -> None:
    (store / "version").unlink()


def without_spaces(store: Path) -> None:
    for file in (store / "keyspaces").rglob("*"):
        if file.is_file():
            file.write_bytes(b"not what was written")


EXPECTED: dict[Callable[[Path], None], str] = {
    newer: "is of format 7, this version of Gossamer knows format 6; use the newer version",
    older: "is of format 4, this version of Gossamer knows format 6; go on with the older version "
    "of Gossamer that wrote it, or begin a new crawl in another directory",
}


@pytest.mark.parametrize(
    "damage", [newer, older, unmarked, strange, without_version, without_spaces]
)
def test_refused_and_left_alone(stopped: Crawl, damage: Callable[[Path], None]) -> None:
    damage(stopped.out / "state" / "store")
    before = stopped.hashes()
    # A changed setting would be saved if the crawl went on.
    assert stopped.run("--set", "limits.pages=3", resume=True) in {1, 2}
    assert str(stopped.out) in stopped.said()
    assert EXPECTED.get(damage, "damaged") in stopped.said()
    assert "Traceback" not in stopped.said()
    assert stopped.hashes() == before


def test_a_directory_of_an_earlier_version(stopped: Crawl) -> None:
    """Its settings have names that are no more: its pages can be read, and it says why it cannot go on."""
    older(stopped.out / "state" / "store")
    settings = stopped.out / "crawl.toml"
    text = settings.read_text()
    for table, old in {"parse": "max_links = 2000", "limits": "trap_budget = 100"}.items():
        text = text.replace(f"[{table}]\n", f"[{table}]\n{old}\n")
    settings.write_text(f"{text}\n[policy.traps]\nsegments = 8\n")
    before = stopped.hashes()
    assert stopped.run(resume=True) == 1
    assert EXPECTED[older] in stopped.said()
    why = gossamer("why", stopped.web.url, "--out", stopped.out)
    assert EXPECTED[older] in why.stderr
    exported = gossamer("export", stopped.out, "--format", "jsonl")
    assert (exported.returncode, exported.stderr) == (0, "")
    assert "settings:" not in gossamer("audit", stopped.out).stderr
    assert stopped.hashes() == before


def test_second_process_is_refused(crawl: Starter) -> None:
    one = crawl(delay="2s")
    process = one.start()
    with ended(process):
        until(lambda: one.web.requests() > 60, "the first process to be at work", 60)
        second = crawl()
        second.messages = one.out.with_name("second.stderr")
        second.answer = one.out.with_name("second.stdout")
        settings = (one.out / "crawl.toml").read_bytes()
        assert second.run("--delay", "0s", resume=True) == 2
        assert f"{one.out}" in second.said()
        assert "another process" in second.said()
        assert second.run() == 2
        assert "--resume" in second.said()
        assert (one.out / "crawl.toml").read_bytes() == settings
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert "--resume" in one.said()
    one.resume("--delay", "0s")
    one.check_complete()


def test_wrong_directories(crawl: Starter, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    full = crawl(out=tmp_path / "full")
    assert full.run() == 2
    assert "not empty" in full.said()
    assert full.run(resume=True) == 2
    assert "no crawl" in full.said()
    assert [path.name for path in full.out.iterdir()] == ["thesis.txt"]
    (tmp_path / "file").write_text("mine")
    plain = crawl(out=tmp_path / "file")
    assert plain.run() == 2
    assert (tmp_path / "file").read_text() == "mine"
    absent = crawl(out=tmp_path / "absent")
    assert absent.run(resume=True) == 2
    assert "no crawl" in absent.said()
    assert not absent.out.exists()


def test_lost_settings_are_not_replaced_by_defaults(stopped: Crawl) -> None:
    settings = stopped.out / "crawl.toml"
    kept = settings.read_text()
    settings.unlink()
    assert stopped.run(resume=True) == 2
    assert str(settings) in stopped.said()
    settings.write_text(kept)
    stopped.resume()
    stopped.check_complete()
