"""Two identical pages in two folders: their relative links lead to different places."""

from pathlib import Path

from tests.crawl.pages import crawled, serving
from warcio.archiveiterator import ArchiveIterator

SAME = '<title>contents</title><a href="x.html">x</a> <a href="/end">end</a>'


def test_links_of_identical_pages_are_followed(tmp_path: Path) -> None:
    pages = {
        "/": '<a href="/a/">a</a> <a href="/b/">b</a>',
        "/a/": SAME,
        "/b/": SAME,
        "/a/x.html": "the first",
        "/b/x.html": "the second",
        "/end": "the end",
    }
    out = tmp_path / "out"
    with serving(pages) as served:
        log = crawled(f"http://127.0.0.1:{served.port}/", out, "--set", "store.outlinks=true")
    assert sorted(served.asked) == sorted(["/robots.txt", *pages])
    outcomes = {line["url"].partition(f":{served.port}")[2]: line["outcome"] for line in log}
    assert outcomes["/b/"] == "duplicate"
    assert outcomes["/b/x.html"] == "fetched"
    records = []
    for file in out.glob("warc/*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                headers = record.rec_headers
                body = record.content_stream().read()
                records.append((record.rec_type, headers.get_header("WARC-Target-URI"), body))
    duplicate = f"http://127.0.0.1:{served.port}/b/"
    of_it = {kind: body for kind, url, body in records if url == duplicate}
    assert set(of_it) == {"revisit", "request", "metadata"}
    assert f"{duplicate}x.html".encode() in of_it["metadata"]
