"""Soft 404s: a host is asked once for a name that cannot exist, and pages with its answer are worth nothing."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.crawl.crawling import COMMAND, ended, until
from tests.crawl.pages import Answer, Done, Pages, crawl, moved, serving

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
REAL = 24
MISSING = 40
NAME = re.compile(r"/[a-z]{20}$")


def prose(seed: int, words: int = 120) -> str:
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(draw.choices(letters, k=draw.randint(3, 9))) for _ in range(words))


def site() -> dict[str, str | Answer]:
    """A start page, real pages with text of their own, and links to pages that are not there."""
    links = [f"/real/{number}" for number in range(REAL)]
    links += [f"/gone/{number}" for number in range(MISSING)]
    start = "".join(f'<a href="{link}">{link}</a>\n' for link in links)
    pages: dict[str, str | Answer] = {"/": f"<title>Start</title><p>{prose(0)}</p>{start}"}
    for number in range(REAL):
        pages[f"/real/{number}"] = f"<title>Page {number}</title><p>{prose(number + 1)}</p>"
    return pages


def not_found(path: str) -> str:
    return (
        f"<title>Sorry</title><h1>Sorry</h1><p>There is no page {path} here.</p><p>{prose(999)}</p>"
    )


def probes(served: Pages) -> list[str]:
    return [path for path in served.asked if NAME.search(path)]


def marks(done: Done) -> Counter[str]:
    return Counter(line["soft_404"] for line in done.log if "soft_404" in line)


def gossamer(*arguments: str | Path) -> str:
    done = subprocess.run(
        [*GOSSAMER, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def exported(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gossamer("export", out, "--format", "jsonl").splitlines()]


def test_a_host_with_200_for_everything_is_found_out(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(site(), not_found) as served:
        start = f"http://127.0.0.1:{served.port}/"
        done = crawl(start, out=out)
    assert len(probes(served)) == 1
    found = marks(done)
    assert found["probe"] == 1
    assert found["yes"] > 0
    assert done.summary["soft_404s"] == found["yes"]
    assert "soft 404" in done.said
    soft = [line for line in done.log if line.get("soft_404") == "yes"]
    assert all("/gone/" in line["url"] for line in soft)
    # All real pages are there, and the rest of the others is set aside.
    real = {line["url"] for line in done.log if "/real/" in line["url"] and line["status"] == 200}
    assert len(real) == REAL
    gone = [line for line in done.log if "/gone/" in line["url"] and line["status"] == 200]
    assert len(gone) < MISSING
    assert "soft 404" in gossamer("why", soft[0]["url"], "--out", out)
    account = json.loads(gossamer("why", soft[0]["url"], "--out", out, "--json"))
    assert "has a page for a missing name" in account["soft_404"]
    assert "soft 404s" in account["pattern"]["evidence"]
    gossamer("audit", out)
    rows = {row["url"]: row["soft_404"] for row in exported(out)}
    assert sum(rows.values()) == found["yes"]
    assert not any(NAME.search(url) for url in rows)


def test_a_host_that_redirects_what_is_missing_is_found_out(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(site(), lambda _path: moved("/")) as served:
        done = crawl(f"http://127.0.0.1:{served.port}/", out=out)
    assert len(probes(served)) == 1
    found = marks(done)
    assert found["probe"] == 1
    assert found["yes"] > 0
    soft = [line for line in done.log if line.get("soft_404") == "yes"]
    assert {line["outcome"] for line in soft} == {"redirected"}
    gossamer("audit", out)


def test_an_honest_host_is_believed(tmp_path: Path) -> None:
    """It is asked, as its printed pages repeat what is known; and nothing follows."""
    out = tmp_path / "out"
    pages = site()
    for number in range(REAL):
        text = pages[f"/real/{number}"]
        assert isinstance(text, str)
        pages[f"/real/{number}"] = text + f'<a href="/print/{number}">print</a>'
        pages[f"/print/{number}"] = text
    with serving(pages) as served:
        url = f"http://127.0.0.1:{served.port}/"
        done = crawl(url, out=out)
    assert len(probes(served)) == 1
    assert marks(done) == {"probe": 1}
    assert done.summary["soft_404s"] == 0
    assert json.loads(gossamer("why", url, "--out", out, "--json"))["soft_404"].startswith("says")
    gossamer("audit", out)


def test_pages_that_are_all_new_are_no_reason_to_ask(tmp_path: Path) -> None:
    pages = {path: page for path, page in site().items() if path != "/"}
    pages["/"] = "".join(f'<a href="{path}">{path}</a>' for path in pages)
    with serving(pages) as served:
        crawl(f"http://127.0.0.1:{served.port}/", out=tmp_path / "out")
    assert probes(served) == []


def test_an_application_shell_keeps_its_start_page_and_pages_with_text(tmp_path: Path) -> None:
    """The start page answers to everything; some paths have pages of their own."""
    pages = site()
    shell = pages["/"]
    with serving(pages, lambda _path: shell) as served:
        url = f"http://127.0.0.1:{served.port}/"
        done = crawl(url, out=tmp_path / "out")
    assert len(probes(served)) == 1
    soft = {line["url"] for line in done.log if line.get("soft_404") == "yes"}
    assert soft
    assert all("/gone/" in line for line in soft)
    real = {line["url"] for line in done.log if "/real/" in line["url"] and line["status"] == 200}
    assert len(real) == REAL


def test_robots_rules_hold_for_the_name_too(tmp_path: Path) -> None:
    pages = site()
    rules = "User-agent: *\nAllow: /real/\nAllow: /gone/\nAllow: /$\nDisallow: /\n"
    pages["/robots.txt"] = Answer(rules, kind="text/plain")
    out = tmp_path / "out"
    with serving(pages, not_found) as served:
        url = f"http://127.0.0.1:{served.port}/"
        crawl(url, out=out)
    assert probes(served) == []
    account = json.loads(gossamer("why", url, "--out", out, "--json"))
    assert account["soft_404"] == "not known: robots_refused"


def test_asking_can_be_turned_off(tmp_path: Path) -> None:
    with serving(site(), not_found) as served:
        url = f"http://127.0.0.1:{served.port}/"
        crawl(url, "--set", "fetch.soft_404_probe=false", out=tmp_path / "out")
    assert probes(served) == []


def test_a_folder_that_a_crawl_may_not_leave_is_asked_in_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    links = [f"/docs/{number}" for number in range(REAL)]
    links += [f"/docs/gone/{number}" for number in range(MISSING)]
    pages: dict[str, str | Answer] = {
        f"/docs/{number}": f"<p>{prose(number + 1)}</p>" for number in range(REAL)
    }
    pages["/docs/"] = prose(0) + "".join(f'<a href="{link}">{link}</a>' for link in links)
    with serving(pages, not_found) as served:
        crawl(f"http://127.0.0.1:{served.port}/docs/", "--scope", "prefix", out=out)
    [path] = probes(served)
    assert path.startswith("/docs/")
    gossamer("audit", out)


def test_a_host_is_asked_once_whatever_kills_the_crawl(tmp_path: Path) -> None:
    """Killed after the answer is stored: the mark needs no second question."""
    out = tmp_path / "out"
    options = ["--allow-private", "--delay", "10ms", "--json", "--out", str(out)]
    # A batch for each visit, so that the answer is stored soon.
    options += ["--set", "store.batch_pages=1", "--set", "store.batch_wait=1ms"]
    logs = out / "log"
    with serving(site(), not_found) as served:
        url = f"http://127.0.0.1:{served.port}/"
        first = subprocess.Popen(
            [*COMMAND, url, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ,
        )
        with ended(first):
            until(
                lambda: any('"soft_404":"yes"' in log.read_text() for log in logs.glob("*.jsonl")),
                "a page is marked",
            )
            first.send_signal(signal.SIGKILL)
            first.wait(30)
        again = crawl("--resume", out=out)
    assert len(probes(served)) == 1
    assert marks(again)["probe"] == 1
    assert again.summary["soft_404s"] == marks(again)["yes"] > 0
    gossamer("audit", out)
