"""The target of a seed's redirect is a seed of the whole cluster: every node knows the scope that it brings."""

import json
import subprocess
from pathlib import Path

from tests.cluster.clustering import GOSSAMER, LONG_LEASE, USUAL
from tests.crawl.pages import Answer, moved, serving

HOSTS = [f"s{number}.target.test" for number in range(8)]
"""Enough that each of two nodes owns some."""


def test_a_seed_that_moved_to_another_domain(tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "//start.test/": moved("http://www.target.test:PORT/"),
        "//www.target.test/": "".join(f'<a href="http://{host}:PORT/">x</a>' for host in HOSTS),
    }
    for host in HOSTS:
        pages[f"//{host}/"] = f'this is {host} <a href="/deep">deep</a>'
        pages[f"//{host}/deep"] = f'deep in {host} <a href="/deeper">deeper</a>'
        pages[f"//{host}/deeper"] = f'deeper in {host} <a href="http://away.test:PORT/">away</a>'
    out = tmp_path / "out"
    with serving(pages) as served:
        done = subprocess.run(
            [
                *GOSSAMER, "cluster", "--nodes", "2", "--out", str(out), "--json",
                f"http://start.test:{served.port}/", "--scope", "domain", "--allow-private",
                "--delay", "0s", *USUAL, *LONG_LEASE,
                *served.named("start.test", "www.target.test", "away.test", *HOSTS),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=200,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked = {place for place in served.asked if not place.endswith("/robots.txt")}
    assert asked == set(pages)
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["pages"] == len(pages) - 1
    assert summary["links_left_out"] == {"other_site": len(HOSTS)}
