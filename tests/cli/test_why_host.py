"""What `why` says of a URL's host: whose gap it is, and when its next visit is."""

from pathlib import Path

from tests.audit.crawls import gossamer
from tests.crawl.pages import Answer, serving


def host_line(out: Path, url: str, name: str) -> str:
    done = gossamer("why", url, "--out", out)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(f"{name}:")]
    assert len(lines) == 1, done.stdout
    return lines[0].partition(":")[2].strip()


def test_a_gap_of_its_own_is_named_also_where_the_site_asks_for_more(tmp_path: Path) -> None:
    site: dict[str, str | Answer] = {"/": "page"}
    patient: dict[str, str | Answer] = {
        "/": "page",
        "/robots.txt": Answer("User-agent: *\nCrawl-delay: 2\n", kind="text/plain"),
    }
    for number, (pages, words) in enumerate(
        [
            (site, "0.250 s, from politeness.overrides"),
            (patient, "2.000 s, from the site's Crawl-delay; politeness.overrides says 0.250 s"),
        ]
    ):
        with serving(pages) as server:
            host, out = f"127.0.0.1:{server.port}", tmp_path / str(number)
            own = f'politeness.overrides={{"{host}": "250ms"}}'
            done = gossamer(
                "crawl", f"http://{host}/", "--allow-private", "--out", out, "--set", own
            )
        assert done.returncode == 0, done.stderr
        assert host_line(out, f"http://{host}/", "gap") == words


def test_the_next_visit_of_a_host_all_of_whose_urls_wait_is_the_first_of_theirs(
    tmp_path: Path,
) -> None:
    with serving({"/": '<a href="/b">b</a>', "/b": Answer("broken", status=500)}) as server:
        url = f"http://127.0.0.1:{server.port}/"
        done = gossamer(
            "crawl", url, "--allow-private", "--delay", "1ms", "--out", tmp_path / "out",
            "--set", "politeness.retry_wait=3h", "--set", "limits.time=2s",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 wait for a time" in host_line(tmp_path / "out", url, "standing")
    told = host_line(tmp_path / "out", url, "next visit")
    assert "(in 2 h 5" in told, told
