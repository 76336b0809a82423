"""The commands `gossamer simweb serve` and `truth`: output, log, errors, memory."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.crawl.crawling import until
from tests.simweb.client import Client

from gossamer.simweb import Options, OptionsError, parse_latency, serve, truth

COMMAND = [sys.executable, "-m", "gossamer.cli.main", "simweb"]


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], check=False, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--pages", "3", "--hosts", "10"], "--pages"),
        (["--hosts", "0"], "--hosts"),
        (["--hosts", "-4"], "--hosts"),
        (["--errors", "1.5"], "--errors"),
        (["--errors", "nan"], "--errors"),
        (["--orphans", "0.9"], "--orphans"),
        (["--latency", "fast"], "--latency"),
        (["--latency", "uniform:9ms,1ms"], "--latency"),
        (["--port", "70000"], "--port"),
        (["--seed", "-1"], "--seed"),
        (["--shared-address", "0.1"], "--shared-address"),
        (["--workers", "0"], "--workers"),
        (["--dns-port", "99999"], "--dns-port"),
        (["--log", "/nowhere/at/all"], "--log"),
    ],
)
def test_bad_options_are_named(arguments: list[str], name: str) -> None:
    done = _run("serve", "--port", "0", *arguments)
    assert done.returncode == 2
    assert name in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [["--pages", "many"], ["--no-such-option"]])
def test_options_that_cannot_be_read(arguments: list[str]) -> None:
    done = _run("serve", *arguments)
    assert done.returncode == 2
    assert arguments[0] in done.stderr


def test_a_port_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = _run("serve", "--port", str(port))
        assert done.returncode == 2
        assert "--port" in done.stderr
        with pytest.raises(OSError, match="--port"):
            serve(Options(port=port))
    with serve(Options(port=0)) as web, pytest.raises(OSError, match="--port"):
        serve(Options(port=web.port))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serve_says_when_it_is_ready_and_ends_cleanly(
    number: signal.Signals, tmp_path: Path
) -> None:
    log = tmp_path / "requests.log"
    with subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--json", "--log", str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        ready = json.loads(process.stdout.readline())
        client = Client()
        assert client.get(ready["url"]).status == 200
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""
        client.close()
    assert len(log.read_text().splitlines()) == 1


def test_the_log_has_a_line_per_request(tmp_path: Path) -> None:
    log = tmp_path / "requests.log"
    client = Client()
    expected = []
    begin = time.time_ns() // 1000
    with serve(Options(hosts=10, pages=300, port=0, errors=0.2, resets=0.1), log=log) as web:
        for row in truth(web.options).rows():
            response = client.get(row.url)
            host, _, path = row.url.removeprefix("http://").partition("/")
            expected.append((host, f"/{path}", response.status))
        with socket.create_connection(("127.1.1.1", web.port), timeout=10) as raw:
            raw.sendall(b"GET /a?b=\xc3\xa9 HTTP/1.0\r\n\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 404")
        expected.append((web.url.split("/")[2], "/a?b=%C3%A9", 404))
        # Written while the server runs, not only at its end.
        until(lambda: log.read_bytes().count(b"\n") == len(expected), "the log to be written")
        assert web.requests() == len(expected)
    end = time.time_ns() // 1000
    lines = [line.split(" ") for line in log.read_text().splitlines()]
    # A reset halfway through the body was a 200 for the server.
    got = [(host, path, int(status)) for _, _, host, path, status in lines]
    assert [line[:2] for line in got] == [line[:2] for line in expected]
    for (_, _, said), (_, _, seen) in zip(got, expected, strict=True):
        assert said == seen or (seen == 0 and said == 200)
    times = [int(line[0]) for line in lines]
    assert begin <= min(times) <= max(times) <= end
    assert times == sorted(times)
    assert len({line[1] for line in lines}) >= 10
    client.close()


def test_truth_command_prints_what_the_library_says() -> None:
    arguments = ["--hosts", "5", "--pages", "60", "--port", "8123", "--redirects", "0.2"]
    done = _run("truth", *arguments)
    assert done.returncode == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    known = truth(Options(hosts=5, pages=60, port=8123, redirects=0.2))
    assert [row["url"] for row in rows] == known.urls
    assert rows[0]["url"] == "http://127.1.1.1:8123/"
    assert rows[0]["depth"] == 0
    assert {"allowed", "links", "duplicate_class", "change_rate", "pagerank"} <= rows[0].keys()


def test_every_behaviour_is_off_by_default() -> None:
    rows = list(truth(Options(hosts=5, pages=300)).rows())
    assert {row.kind for row in rows} == {"ok"}
    assert len(rows) == 300
    assert all(row.allowed and row.depth is not None for row in rows)
    assert len({row.duplicate_class for row in rows}) == 300


def test_latency_is_parsed() -> None:
    assert parse_latency("") is None
    assert parse_latency("1.5s") == {"kind": "constant", "ms": 1500.0}
    assert parse_latency("exp:50us") == {"kind": "exponential", "mean_ms": 0.05}
    for wrong in ("50", "exp:", "uniform:1ms", "lognormal:5ms,x", "pareto:1ms"):
        with pytest.raises(OptionsError, match="--latency"):
            parse_latency(wrong)


def _memory_kb(pages: int) -> int:
    with subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--json", "--pages", str(pages), "--all-behaviours"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        ready = json.loads(process.stdout.readline())
        client = Client()
        for page in range(300):
            client.get(f"{ready['url']}list.php?page={page}")
        client.close()
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.terminate()
        process.wait(60)
    # What is mapped from files comes and goes as the system likes.
    return sum(int(status.split(f"{kind}:")[1].split()[0]) for kind in ("RssAnon", "RssShmem"))


def test_memory_does_not_grow_with_the_pages() -> None:
    assert abs(_memory_kb(10**8) - _memory_kb(10**3)) < 6 * 1024
