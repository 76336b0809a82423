"""Two sites that share pages are two sites; a wrong finding is noticed and undone, and nothing is lost."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.crawl.pages import Answer, crawl, serving

FILL = (
    "the same words on every page of this kind, so that pages are long enough to be compared. " * 5
)
LICENCES = {
    f"/licences/{number}.html": f"<p>licence {number * 7919}</p>{FILL}" for number in range(14)
}


def words(text: str) -> str:
    """A page that is like no other."""
    return " ".join(f"{text}{number * 7919 % 1009}" for number in range(80))


def links(paths: list[str]) -> str:
    return "".join(f'<a href="{path}">x</a> ' for path in paths)


def manual(language: str) -> dict[str, str | Answer]:
    """A translation: chapters of its own, licences that all have."""
    host = f"//{language}.manual.test"
    chapters = {f"/{part}/{number}.html" for part in ("a", "b", "c") for number in range(8)}
    pages: dict[str, str | Answer] = {f"{host}{path}": page for path, page in LICENCES.items()}
    pages |= {f"{host}{path}": words(f"{language}{path}") for path in chapters}
    pages[f"{host}/"] = words(language) + links([*LICENCES, *sorted(chapters)])
    return pages


def aliases(out: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer.cli.main", "aliases", str(out), "--json"],
        check=True,
        capture_output=True,
        text=True,
        timeout=100,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_translations_that_share_licences_are_two_sites(tmp_path: Path) -> None:
    pages = manual("en") | manual("de")
    hosts = ["en.manual.test", "de.manual.test"]
    with serving(pages) as served:
        seeds = [f"http://{host}:{served.port}/" for host in hosts]
        crawl(*seeds, *served.named(*hosts), out=tmp_path / "out")
    assert set(pages) <= set(served.asked)
    assert aliases(tmp_path / "out") == {"aliases": [], "undone": []}


def test_nor_are_they_merged_where_they_are_no_seeds(tmp_path: Path) -> None:
    pages = manual("en") | manual("de")
    hosts = ["en.manual.test", "de.manual.test"]
    pages["//start.test/"] = links([f"http://{host}:PORT/" for host in hosts])
    with serving(pages) as served:
        seed = f"http://start.test:{served.port}/"
        options = ["--scope", "any", *served.named("start.test", *hosts)]
        crawl(seed, *options, out=tmp_path / "out")
    assert set(pages) <= set(served.asked)
    assert aliases(tmp_path / "out")["aliases"] == []


def test_seeds_that_are_copies_are_both_crawled(tmp_path: Path) -> None:
    """Who names two sites wants both."""
    paths = [f"/{part}/{number}.html" for part in ("a", "b", "c") for number in range(10)]
    pages: dict[str, str | Answer] = {}
    for host in ("one.test", "two.test"):
        pages[f"//{host}/"] = words("start") + links(paths)
        pages |= {f"//{host}{path}": words(path) for path in paths}
    with serving(pages) as served:
        seeds = [f"http://{host}:{served.port}/" for host in ("one.test", "two.test")]
        crawl(*seeds, *served.named("one.test", "two.test"), out=tmp_path / "out")
    assert set(pages) <= set(served.asked)
    assert aliases(tmp_path / "out")["aliases"] == []


def test_a_finding_that_does_not_hold_is_undone_without_loss(tmp_path: Path) -> None:
    """The first pages of both are the same, from all over the site; the many others are not."""
    same = [f"/{part}/{number}.html" for part in ("a", "b", "c", "d/e") for number in range(4)]
    other = [f"/other/{number}.html" for number in range(150)]
    pages: dict[str, str | Answer] = {}
    for host in ("one.test", "two.test"):
        pages[f"//{host}/"] = words("start") + links([*same, *other])
        pages |= {f"//{host}{path}": words(path) for path in same}
        pages |= {f"//{host}{path}": words(host[:3] + path) for path in other}
    pages["//start.test/"] = links(["http://one.test:PORT/", "http://two.test:PORT/"])
    with serving(pages) as served:
        seed = f"http://start.test:{served.port}/"
        options = ["--scope", "any", *served.named("start.test", "one.test", "two.test")]
        done = crawl(seed, *options, out=tmp_path / "out")
    found = aliases(tmp_path / "out")
    assert found["aliases"] == []
    assert len(found["undone"]) == 1
    assert found["undone"][0]["agreements"] >= 8
    assert found["undone"][0]["differences"] >= 1
    assert set(pages) <= set(served.asked)
    assert done.summary["aliases"] == 0
