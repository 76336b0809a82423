"""`--quiet` and `--verbose`: every command that reads long or runs long understands them."""

import json
import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.audit.crawls import Crawl
from tests.cli.offered import GOSSAMER

from gossamer.cli.completion_table import read

LOUD = {"crawl", "cluster", "control", "node", "status", "report", "open", "audit", "export"}
CONFIRMED = {"pause", "resume", "stop", "checkpoint", "rerank"}


def run(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GOSSAMER, *words], capture_output=True, text=True, check=False, timeout=120, cwd=place
    )


def test_who_understands_them() -> None:
    table = read()["commands"]
    both = {name for name, options in table.items() if {"-q", "--verbose"} <= set(options)}
    assert both == LOUD
    quiet = {name for name, options in table.items() if "--quiet" in options}
    assert quiet == LOUD | CONFIRMED | {"simweb truth", "crawls"}
    page = (Path(__file__).parents[2] / "docs/reference/command-line.md").read_text()
    part = page.partition("## How much is said")[2].partition("\n## ")[0]
    assert quiet <= set(re.findall(r"`([a-z ]+)`", part))


@pytest.mark.parametrize("name", sorted(LOUD))
def test_both_at_once_are_wrong_use(name: str, tmp_path: Path) -> None:
    ended = run(tmp_path, name, "-q", "-v", *(["."] if name in {"audit", "export"} else []))
    assert ended.returncode == 2
    assert "--quiet and --verbose say the opposite; give one of them" in ended.stderr


def test_what_was_asked_for_is_said_and_nothing_else(copied: Crawl) -> None:
    place, out = copied.out.parent, str(copied.out)
    for words in (["report", out], ["status", "--out", out], ["export", out]):
        usual, quiet = run(place, *words), run(place, *words, "-q")
        assert (quiet.returncode, quiet.stderr) == (0, "")
        assert len(quiet.stdout.splitlines()) == len(usual.stdout.splitlines()) > 1
    for words in (["report", out, "--html", "r.html"], ["export", out, "--output", "e.jsonl"]):
        usual, quiet = run(place, *words), run(place, *words, "--quiet")
        assert usual.stderr
        assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert (place / "r.html").exists()
    assert (place / "e.jsonl").exists()


def test_a_quiet_audit_says_violations_only(copied: Crawl) -> None:
    place, out = copied.out.parent, str(copied.out)
    clean = run(place, "audit", out, "-q")
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "", "")
    assert json.loads(run(place, "audit", out, "-q", "--json").stdout)["clean"]
    file = copied.log_file()
    file.write_bytes(b"no line\n" + file.read_bytes())
    ended = run(place, "audit", out, "-q")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "log_damaged: 1" in ended.stderr


def test_verbose_says_how_long_each_part_took(copied: Crawl) -> None:
    place, out = copied.out.parent, str(copied.out)
    for words, said in (
        (["report", out], ["reading the log: ", "reading the WARC files: "]),
        (["audit", out], ["reading log and WARC files: "]),
        (["export", out], ["exporting: "]),
    ):
        ended = run(place, *words, "-v")
        assert ended.returncode == 0
        for text in said:
            assert re.search(rf"^{text}\S+ m?s$", ended.stderr, re.MULTILINE)


def test_open_serves_without_a_word(copied: Crawl) -> None:
    process = subprocess.Popen(
        [*GOSSAMER, "open", str(copied.out), "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    end = time.monotonic() + 60
    while not (copied.out / "control" / "url").exists():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == (b"", b"")
    assert process.returncode == 0


def test_a_node_says_what_counts(tmp_path: Path) -> None:
    engine = ["--engine", "nats://127.0.0.1:1", "--out", "node"]
    words = ["node", *engine, "--snapshots", "snapshots"]
    loud, quiet = run(tmp_path, *words, "-v"), run(tmp_path, *words, "-q")
    assert "start: setting  name=cluster.engine" in loud.stderr
    assert quiet.returncode == loud.returncode == 1
    assert len(quiet.stderr.splitlines()) == 1


def test_the_truth_draws_its_progress_on_a_terminal() -> None:
    words = ["simweb", "truth", "--hosts", "1", "--pages", "5", "--port", "8000"]
    for more, said in (([], b"\rtruth: pages 100 %"), (["-q"], b"")):
        terminal, own = pty.openpty()
        subprocess.run(
            [*GOSSAMER, *words, *more], stdout=subprocess.DEVNULL, stderr=own, check=True
        )
        os.close(own)
        try:
            shown = os.read(terminal, 4096)
        except OSError:
            # Nothing was written before the end.
            shown = b""
        os.close(terminal)
        assert shown.startswith(said) if said else shown == b""
