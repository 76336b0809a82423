"""`gossamer cluster`: one command, until done; Ctrl-C and --resume; killed children."""

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.cluster.clustering import DELAY, GOSSAMER, LEASE, LONG_LEASE, SLOW, USUAL, stored
from tests.crawl.crawling import ended, expected, until

from gossamer.engine import Access, connect
from gossamer.errors import EngineRefusedError
from gossamer.simweb import SimWeb


class Command:
    def __init__(self, web: SimWeb, out: Path) -> None:
        self.web, self.out = web, out
        self.errors = out.with_name("stderr")
        self.answer = out.with_name("stdout")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self.errors.open("ab") as errors, self.answer.open("wb") as answer:
            return subprocess.Popen(
                [
                    *GOSSAMER,
                    "cluster",
                    "--nodes",
                    "2",
                    "--out",
                    str(self.out),
                    "--json",
                    *arguments,
                ],
                stdin=subprocess.DEVNULL,
                stdout=answer,
                stderr=errors,
            )

    def begin(self, *more: str) -> subprocess.Popen[bytes]:
        return self.start(
            self.web.url, "--scope", "any", "--allow-private", "--delay", SLOW,
            *USUAL, *LONG_LEASE, *more,
        )  # fmt: skip

    def resume(self, *more: str) -> subprocess.Popen[bytes]:
        """Faster: nothing is to be done meanwhile."""
        return self.start("--resume", "--delay", f"{DELAY}s", *more)

    def hurry(self) -> None:
        """What was to be done while the crawl is slow is done; a control node may be about to begin."""
        faster = [*GOSSAMER, "set", f"politeness.delay={DELAY}s", "--out", str(self.out)]

        def taken() -> bool:
            return subprocess.run(faster, capture_output=True, check=False).returncode == 0

        until(taken, "a control node to take the setting", 60)

    def check_done(self, process: subprocess.Popen[bytes]) -> dict[str, object]:
        with ended(process):
            assert process.wait(200) == 0, self.errors.read_text()
        pages: Counter[str] = Counter()
        for directory in (self.out / "nodes").iterdir():
            assert not list((directory / "warc").glob("*.open"))
            pages += stored(directory)
        assert set(pages) == expected(self.web)
        value = json.loads(self.answer.read_text().splitlines()[-1])
        assert isinstance(value, dict)
        value["twice"] = sum(times > 1 for times in pages.values())
        return value


@pytest.fixture
def command(web: SimWeb, tmp_path: Path) -> Command:
    return Command(web, tmp_path / "out")


def pid(file: Path) -> int:
    return int(file.read_text())


def test_until_done(command: Command) -> None:
    process = command.begin()
    with ended(process):
        until(lambda: command.web.requests() > 300, "requests", 120)
        add = [*GOSSAMER, "nodes", "add", "--out", str(command.out)]
        added = subprocess.run(add, capture_output=True, text=True, check=False)
        assert added.stdout.startswith("n3: "), added.stderr
        command.hurry()
        answer = command.check_done(process)
    assert (command.out / "nodes/n3/messages").exists()
    assert answer["pages"] == len(expected(command.web))
    assert (answer["twice"], answer["urls_queued"], answer["nodes"]) == (0, 0, 2)
    assert (command.out / "crawl.toml").exists()


def test_interrupted_and_resumed(command: Command) -> None:
    process = command.begin()
    with ended(process):
        until(lambda: command.web.requests() > 400, "requests", 120)
        children = [pid(file) for file in command.out.glob("*/*/pid")]
        engine = re.search(r"127\.0\.0\.1:\d+", (command.out / "engine/nats.conf").read_text())
        assert engine is not None
        with pytest.raises(EngineRefusedError):
            asyncio.run(connect(Access([f"nats://{engine[0]}"]), "crawl", "a stranger"))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130, command.errors.read_text()
    assert "gossamer cluster --nodes 2 --resume" in command.errors.read_text()
    for child in children:
        assert not Path(f"/proc/{child}").exists()
    kept = (command.out / "crawl.toml").read_text()
    for setting, words in (
        ('scope.exclude=["("]', "scope.exclude"),
        ("partitions=8", "partitions is fixed when the crawl is started"),
        ("politeness.dellay=1s", "did you mean politeness.delay?"),
        ("policy.duplicates.follow_links=false", "policy is fixed when the crawl is started"),
        ('credentials.c.headers={"X-Key":"k"}', "credentials is fixed when the crawl is started"),
        ('doors={"batch_rows":7}', "doors.batch_rows is fixed when the crawl is started"),
        ("politeness.overrides.localhost=1s", "give politeness.overrides as a whole"),
    ):
        # What nodes cannot use, or could not go on with, leaves the crawl as it was.
        assert command.resume("--set", setting).wait(60) == 2
        assert words in command.errors.read_text()
        assert (command.out / "crawl.toml").read_text() == kept
    answer = command.check_done(command.resume())
    assert answer["twice"] == 0


def test_stopped_at_a_limit_and_gone_on_with_a_higher_one(command: Command) -> None:
    process = command.begin("--max-pages", "300")
    with ended(process):
        assert process.wait(200) == 0, command.errors.read_text()
    answer = json.loads(command.answer.read_text().splitlines()[-1])
    # Nodes count for themselves; the sum is looked at twice a second.
    assert 300 <= answer["pages"] < 1100
    assert answer["urls_queued"] > 0
    more = command.resume("--max-pages", "1000000")
    assert command.check_done(more)["twice"] == 0


def test_killed_itself_it_takes_everything_along(command: Command) -> None:
    process = command.begin()
    with ended(process):
        until(lambda: command.web.requests() > 400, "requests", 120)
        files = [*command.out.glob("nodes/*/pid"), command.out / "control/pid"]
        children = [pid(file) for file in [*files, command.out / "engine/pid"]]
        process.kill()
        process.wait(30)
    until(lambda: not any(alive(child) for child in children), "the children to end", 60)
    answer = command.check_done(command.resume())
    assert answer["twice"] == 0


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_node_killed_with_its_disk_and_the_control_node(command: Command) -> None:
    lease = f"cluster.lease={LEASE}s"
    process = command.begin("--set", "cluster.snapshot_every=1s", "--set", lease)
    with ended(process):
        until(lambda: command.web.requests() > 500, "requests", 120)
        n1 = pid(command.out / "nodes/n1/pid")
        os.kill(n1, signal.SIGKILL)
        until(lambda: not alive(n1), "the end of n1")
        shutil.rmtree(command.out / "nodes/n1")
        os.kill(pid(command.out / "control/pid"), signal.SIGKILL)
        command.hurry()
        command.check_done(process)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["doors.order=nosuch"], "doors.order: no policy nosuch is installed"),
        (["policy.nosuch.a=1"], "policy.nosuch: no door names this policy"),
        (
            ['credentials.c.headers={"X-Key":"env:NOT_THERE"}'],
            "credentials: the environment has no NOT_THERE for X-Key",
        ),
        (['credentials.c.headers={"X-Key":"file:/not/there"}'], "cannot read /not/there for X-Key"),
        (['rule=[{"name":"bad","match":{"regex":"("},"drop":"x"}]'], "rule 'bad': match.regex"),
    ],
)
def test_what_nodes_could_not_start_with_is_refused_before_anything_is_written(
    command: Command, settings: list[str], words: str
) -> None:
    process = command.begin(*(word for one in settings for word in ("--set", one)))
    with ended(process):
        assert process.wait(60) == 2, command.errors.read_text()
    assert words in command.errors.read_text()
    assert not command.out.exists()
    assert command.web.requests() == 0
