"""What is kept, what is read for its links, and what a suffix says of it."""

from pathlib import Path

from tests.crawl.pages import Answer, crawl, serving
from warcio.archiveiterator import ArchiveIterator

PDF = Answer(b"%PDF-1.4 ...", kind="application/pdf")
PNG = Answer(b"\x89PNG\r\n\x1a\n" + bytes(100), kind="image/png")


def stored(out: Path) -> set[str]:
    """Paths of the pages in the WARC files."""
    found = set()
    for file in out.glob("warc/*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    uri = record.rec_headers.get_header("WARC-Target-URI")
                    found.add("/" + uri.split("/", 3)[3])
    return found - {"/robots.txt"}


def test_one_type_is_kept_and_pages_are_read_for_their_links(tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "/": '<a href="/papers/">papers</a> <a href="/one.pdf">one</a>',
        "/papers/": '<a href="two.pdf">two</a> <a href="/notes.txt">notes</a> <a href="/a.zip">a</a>',
        "/one.pdf": PDF,
        "/papers/two.pdf": PDF._replace(body=b"%PDF-1.5 another"),
        "/notes.txt": Answer("notes", kind="text/plain"),
    }
    out = tmp_path / "out"
    with serving(pages) as served:
        url = f"http://127.0.0.1:{served.port}/"
        done = crawl(url, "--set", 'fetch.types=["application/pdf"]', out=out)
    # Of what is not wanted there is the head, as of every answer.
    assert stored(out) == {"/one.pdf", "/papers/two.pdf", "/notes.txt"}
    assert done.summary["pages"] == 2
    assert done.summary["pages_dropped"] == 2
    assert done.summary["links_left_out"] == {"suffix": 1}
    outcomes = done.outcomes()
    assert outcomes["127.0.0.1/papers/"] == "dropped"
    assert outcomes["127.0.0.1/notes.txt"] == "unwanted_type"
    line = next(line for line in done.log if line["url"] == url)
    assert (line["outcome"], line["stored"]) == ("dropped", "no")
    assert "fetch.types does not name text/html" in line["reason"]


def test_nothing_is_read_for_links_where_that_is_said(tmp_path: Path) -> None:
    with serving({"/": '<a href="/next">next</a>', "/next": "next"}) as served:
        url = f"http://127.0.0.1:{served.port}/"
        done = crawl(url, "--set", "fetch.follow_types=[]", out=tmp_path / "out")
    assert set(served.asked) == {"/robots.txt", "/"}
    assert done.summary["pages"] == 1
    assert done.summary["links_left_out"] == {"page_type": 1}


def test_the_type_decides_where_a_path_looks_like_a_page(tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "/wiki/Node.js": "about a program",
        "/wiki/File:Logo.png": "about a picture",
        "/w/Datei:Bild.jpg": "about another",
        "/wiki/Archive.zip": "about an archive",
        "/blob/main/app.js": "source",
        "/blob/main/logo.png": "a picture, shown",
        "/raw/app.js": Answer("let a", kind="text/javascript"),
        "/style.css": Answer("a {}", kind="text/css"),
        "/tree/main/raw.png": PNG,
    }
    skipped = ["/img/photo.png", "/files/big.zip", "/paper.pdf", "/Movie.MP4"]
    links = "".join(f'<a href="{path}">x</a>' for path in [*pages, *skipped])
    with serving({"/": links, **pages}) as served:
        done = crawl(f"http://127.0.0.1:{served.port}/", out=tmp_path / "out")
    assert set(served.asked) == {"/robots.txt", "/", *pages}
    outcomes = done.outcomes()
    assert outcomes.pop("127.0.0.1/tree/main/raw.png") == "unwanted_type"
    del outcomes["127.0.0.1/robots.txt"]
    assert set(outcomes.values()) == {"fetched"}
    assert done.summary["links_left_out"] == {"suffix": len(skipped)}
