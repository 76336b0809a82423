"""A command that is refused leaves nothing behind, says why, and the corrected one can be given."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.simweb import Options, serve

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
SEED = "http://127.0.0.1:9/"


def run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GOSSAMER, *words], capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path
    )


WRONG = {
    "notaurl": (["notaurl"], "seed refused: notaurl: it names no site; a seed is written as"),
    "a blank": (["http://a.example/a b"], "there is a blank in it"),
    "a scheme": (["ftp://a.example/"], "seed refused: ftp://a.example/: "),
    "a header": (
        [SEED, "--set", 'fetch.headers={"a b":"x"}'],
        'fetch.headers: "a b" is no field name',
    ),
    "our header": ([SEED, "--set", 'fetch.headers={"Host":"x"}'], "fetch.headers: Host is set by"),
    "a proxy": ([SEED, "--set", "fetch.proxy=bad"], "fetch.proxy: not a URL"),
    "a name server": ([SEED, "--set", "dns.servers=x"], "dns.servers: cannot use x"),
    "a setting": ([SEED, "--set", "contact=me"], "did you mean fetch.contact?"),
    "a value": ([SEED, "--set", "fetch.concurrency=x"], "fetch.concurrency: a whole number"),
    "a rule": ([SEED, "--set", 'scope.include=["("]'], "unclosed group"),
    "a file": ([SEED, "--config", "none.toml"], "cannot read none.toml"),
    "seeds": (["--seeds", "none.txt"], "cannot read the seeds in none.txt"),
    "opposites": ([SEED, "--quiet", "--verbose"], "--quiet and --verbose say the opposite"),
}


@pytest.mark.parametrize("command", ["crawl", "cluster"])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_use_leaves_nothing_behind(tmp_path: Path, command: str, name: str) -> None:
    words, said = WRONG[name]
    ended = run(tmp_path, command, *words, "--out", "out")
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--engine", "nats://127.0.0.1:1"], 1, "no engine answers"),
        (["--set", "cluster.snapshots=bad://x"], 2, "cluster.snapshots: cannot use bad://x"),
        (["--set", "control.certificate=/none"], 2, "control.certificate and control.key"),
    ],
)
def test_a_cluster_that_cannot_start_leaves_nothing_behind(
    tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    ended = run(tmp_path, "cluster", SEED, *words, "--out", "out")
    assert ended.returncode == code
    assert said in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_port_that_is_taken_leaves_nothing_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = run(tmp_path, "crawl", SEED, "--serve-port", port, "--out", "out")
    assert ended.returncode == 1
    assert "choose another port with --serve-port" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_after_it_the_corrected_command_crawls(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_bytes(b"\xef\xbb\xbf# mine\r\nnotaurl\r\n")
    usual = ["--seeds", "seeds.txt", "--out", "out", "--allow-private", "--max-pages", "1"]
    refused = run(tmp_path, "crawl", *usual)
    assert refused.returncode == 2
    assert "seed refused: seeds.txt:2: notaurl: " in refused.stderr
    with serve(Options(port=0, hosts=1, pages=3, robots=0.0)) as web:
        place = web.url.removeprefix("http://")
        (tmp_path / "seeds.txt").write_bytes(
            b"\xef\xbb\xbf" + f"{place}   # the start\r\nnotaurl\r\n".encode()
        )
        ended = run(tmp_path, "crawl", *usual, "--json")
        assert ended.returncode == 0, ended.stderr
        assert f"{place} has no scheme: taken as {web.url}. " in ended.stderr
        assert "seed refused: seeds.txt:2: notaurl: " in ended.stderr
        assert json.loads(ended.stdout)["pages"] == 1
        again = run(tmp_path, "crawl", *usual)
    assert again.returncode == 2
    assert "out holds a crawl already; go on with --resume" in again.stderr


def test_quiet_says_nothing_and_verbose_says_what_counts(tmp_path: Path) -> None:
    with serve(Options(port=0, hosts=1, pages=3, robots=0.0)) as web:
        usual = [web.url.removeprefix("http://"), "--allow-private", "--max-pages", "1"]
        quiet = run(tmp_path, "crawl", *usual, "--out", "quiet", "--quiet", "--json")
        short = run(tmp_path, "crawl", *usual, "--out", "short", "-q", "--serve-port", "0")
        loud = run(tmp_path, "crawl", *usual, "--out", "loud", "-v", "--set", "fetch.headers.X=1")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert json.loads(quiet.stdout)["pages"] == 1
    assert (short.returncode, short.stdout, short.stderr) == (0, "", "")
    assert loud.returncode == 0
    assert "start: setting  name=limits.pages value=1 default=None" in loud.stderr
    assert "start: setting  name=fetch.headers" in loud.stderr
    assert f"start: seed  url={web.url}" in loud.stderr


def test_quiet_still_tells_errors(tmp_path: Path) -> None:
    ended = run(tmp_path, "crawl", "notaurl", "--quiet")
    assert ended.returncode == 2
    assert "seed refused: notaurl: " in ended.stderr


def test_a_crawl_of_the_other_kind_is_gone_on_with_by_its_own_command(tmp_path: Path) -> None:
    one, many = tmp_path / "one", tmp_path / "many"
    (one / "state").mkdir(parents=True)
    (many / "nodes" / "n1" / "state").mkdir(parents=True)
    for place in (one, many):
        (place / "crawl.toml").write_text("")
    before = sorted(many.iterdir())
    ended = run(tmp_path, "crawl", "--resume", "--out", "many")
    assert ended.returncode == 2
    assert "go on with: gossamer cluster --nodes 1 --resume --out many" in ended.stderr
    assert sorted(many.iterdir()) == before
    ended = run(tmp_path, "cluster", "--resume", "--out", "one")
    assert ended.returncode == 2
    assert "go on with: gossamer crawl --resume --out " in ended.stderr
