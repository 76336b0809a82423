"""The target of a seed's redirect is a seed: it brings its own scope, also after a restart."""

import subprocess
import sys
from pathlib import Path

from tests.crawl.pages import Answer, crawl, moved, serving

SITE: dict[str, str | Answer] = {
    "//www.apex.test/": '<a href="/one">one</a> <a href="http://elsewhere.test:PORT/">away</a>',
    "//www.apex.test/one": '<a href="/two">two</a> <a href="/out">out</a>',
    "//www.apex.test/two": "two",
    "//www.apex.test/out": moved("http://elsewhere.test:PORT/"),
    "//elsewhere.test/": "not asked for",
}
HOSTS = ["apex.test", "a.test", "b.test", "c.test", "www.apex.test", "elsewhere.test"]
PAGES = {"www.apex.test/", "www.apex.test/one", "www.apex.test/two"}


def fetched(outcomes: dict[str, str]) -> set[str]:
    return {place for place, outcome in outcomes.items() if outcome == "fetched"}


def audited(out: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer.cli.main", "audit", str(out)],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_seed_that_moved_to_another_host(tmp_path: Path) -> None:
    out = tmp_path / "out"
    pages = {"//apex.test/": moved("http://www.apex.test:PORT/"), **SITE}
    with serving(pages) as served:
        done = crawl(f"http://apex.test:{served.port}/", *served.named(*HOSTS), out=out)
    assert fetched(done.outcomes()) == PAGES
    # The redirect of an ordinary page is none of a seed.
    assert done.summary["links_left_out"] == {"other_site": 2}
    assert not any("elsewhere" in place for place in served.asked)
    audited(out)


def test_a_chain_of_redirects_also_where_the_crawl_is_stopped_in_between(tmp_path: Path) -> None:
    out = tmp_path / "out"
    pages = {
        "//a.test/": moved("http://b.test:PORT/start"),
        "//b.test/start": moved("http://c.test:PORT/"),
        "//c.test/": moved("http://www.apex.test:PORT/"),
        **SITE,
    }
    with serving(pages) as served:
        options = served.named(*HOSTS)
        first = crawl(f"http://a.test:{served.port}/", *options, "--max-pages", "1", out=out)
        assert fetched(first.outcomes()) == {"www.apex.test/"}
        done = crawl("--resume", "--set", "limits.pages=100", out=out)
    assert fetched(done.outcomes()) == PAGES
    audited(out)


def test_by_prefix_and_by_domain(tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "//apex.test/": moved("http://www.apex.test:PORT/docs/start"),
        "//www.apex.test/docs/start": '<a href="more">more</a> <a href="/other">other</a>',
        "//www.apex.test/docs/more": "more",
        "//www.apex.test/other": "other",
    }
    with serving(pages) as served:
        url, options = f"http://apex.test:{served.port}/", served.named(*HOSTS)
        narrow = crawl(url, "--scope", "prefix", *options, out=tmp_path / "prefix")
        wide = crawl(url, "--scope", "domain", *options, out=tmp_path / "domain")
    assert fetched(narrow.outcomes()) == {"www.apex.test/docs/start", "www.apex.test/docs/more"}
    assert len(fetched(wide.outcomes())) == 3


def test_a_chain_without_an_end_is_bounded_and_told(tmp_path: Path) -> None:
    hosts = [f"h{number}.test" for number in range(8)]
    pages = {
        f"//{host}/": moved(f"http://h{number + 1}.test:PORT/") for number, host in enumerate(hosts)
    }
    with serving(pages) as served:
        url, options = f"http://h0.test:{served.port}/", served.named(*hosts)
        limit = ["--set", "scope.seed_redirects=3"]
        # No page could be had, and that is said.
        done = crawl(url, *options, *limit, out=tmp_path / "out", code=1)
    assert done.summary["outcomes"]["redirected"] == 4
    assert done.summary["links_left_out"] == {"redirects": 1}
    assert "scope.seed_redirects" in done.said
