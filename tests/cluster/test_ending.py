"""How a cluster ends: what is waited for is said, the words are true, and the last count is what the files hold."""

import json
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from tests.cluster.clustering import GOSSAMER, stored
from tests.cluster.test_command import Command
from tests.crawl.crawling import ended, until

from gossamer.simweb import SimWeb


@pytest.fixture
def command(web: SimWeb, tmp_path: Path) -> Command:
    return Command(web, tmp_path / "out")


def on_disk(out: Path) -> int:
    return sum(sum(stored(directory).values()) for directory in (out / "nodes").iterdir())


def answer(command: Command) -> dict[str, object]:
    value = json.loads(command.answer.read_text().splitlines()[-1])
    assert isinstance(value, dict)
    return value


def test_a_limit_counts_what_the_files_hold(command: Command) -> None:
    process = command.begin("--max-pages", "50")
    with ended(process):
        assert process.wait(120) == 0, command.errors.read_text()
    assert answer(command)["pages"] == on_disk(command.out)
    assert answer(command)["activity"] == "limit_reached"
    assert "Stopped at a limit." in command.errors.read_text()


def test_stop_is_confirmed_by_the_nodes_and_is_no_limit(command: Command) -> None:
    process = command.begin()
    with ended(process):
        until(lambda: command.web.requests() > 100, "requests", 120)
        stop = [*GOSSAMER, "stop", "--out", str(command.out)]
        told = subprocess.run(stop, capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stderr
        assert sorted(told.stdout.splitlines()) == [
            "stop: confirmed by n1",
            "stop: confirmed by n2",
        ]
        assert process.wait(60) == 0, command.errors.read_text()
    said = command.errors.read_text()
    assert "Stopped; everything is saved. Go on with: gossamer cluster" in said
    assert "limit" not in said
    assert answer(command)["pages"] == on_disk(command.out)


def test_an_interrupt_says_what_is_waited_for_and_counts_what_was_done(command: Command) -> None:
    process = command.begin()
    with ended(process):
        until(lambda: command.web.requests() > 100, "requests", 120)
        process.send_signal(signal.SIGINT)
        until(lambda: "stopping: " in command.errors.read_text(), "what is waited for", 3)
        assert process.wait(60) == 130, command.errors.read_text()
    assert answer(command)["pages"] == on_disk(command.out)


def test_a_second_interrupt_does_not_wait_for_a_slow_page(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        errors = tmp_path / "stderr"
        with errors.open("wb") as file:
            process = subprocess.Popen(
                [*GOSSAMER, "cluster", "--nodes", "1", "--out", str(tmp_path / "out"), url,
                 "--allow-private", "--set", "control.port=0"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file,
            )  # fmt: skip
        with ended(process):
            # It is connected, and nobody answers.
            connection, _ = server.accept()
            with connection:
                until(lambda: "1 under way" in errors.read_text(), "the slow page", 30)
                process.send_signal(signal.SIGINT)
                waits = r"stopping: waiting for 1 visits? under way on 1 node"
                until(lambda: re.search(waits, errors.read_text()), "what is waited for", 5)
                process.send_signal(signal.SIGINT)
                assert process.wait(9) == 130, errors.read_text()


def test_a_seed_that_fails_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{holder.getsockname()[1]}/"
        errors = tmp_path / "stderr"
        with errors.open("wb") as file:
            process = subprocess.Popen(
                [*GOSSAMER, "cluster", "--nodes", "2", "--out", str(tmp_path / "out"), url,
                 "--allow-private", "--set", "control.port=0", "--set", "politeness.retry_wait=500ms"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file,
            )  # fmt: skip
        with ended(process):
            until(lambda: f"seed {url}: connect_failed" in errors.read_text(), "the failure", 30)
            assert process.wait(60) == 1, errors.read_text()
