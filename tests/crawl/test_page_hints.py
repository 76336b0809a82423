"""What pages say of themselves: directives, canonical URLs, alternates, lazy images, empty links."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import gossamer
from tests.crawl.pages import Answer, crawled, serving
from warcio.archiveiterator import ArchiveIterator


def meta(content: str, link: str) -> str:
    return f'<meta name="robots" content="{content}"><a href="{link}">x</a>'


def exported(out: Path) -> dict[str, dict[str, Any]]:
    """The rows of the export, by path."""
    rows = map(json.loads, gossamer("export", out, "--format", "jsonl").stdout.splitlines())
    return {row["url"].split("/", 3)[3]: row for row in rows}


def test_directives_parted_by_blanks_and_dates_that_have_passed(tmp_path: Path) -> None:
    directives = {
        "blanks": "noindex nofollow",
        "none": "none",
        "past": "unavailable_after: 25 Jun 2010 15:00:00 PST",
        "future": "unavailable_after: 2999-01-01",
        "preview": "max-image-preview: none",
    }
    pages: dict[str, str | Answer] = {
        "/": "".join(f'<a href="/{name}">x</a>' for name in directives)
    }
    pages |= {f"/{name}": meta(content, f"/of/{name}") for name, content in directives.items()}
    pages["/"] = f'{pages["/"]}<a href="/header">x</a>'
    tag = {"Content-Type": "text/html", "X-Robots-Tag": "gossamer: noindex nofollow"}
    pages["/header"] = Answer(b'<a href="/of/header">x</a>', tag)
    followed = {f"/of/{name}": name for name in ("past", "future", "preview")}
    pages |= followed
    out = tmp_path / "out"
    with serving(pages) as served:
        crawled(f"http://127.0.0.1:{served.port}/", out)
    assert sorted(served.asked) == sorted(["/robots.txt", *pages])
    rows = exported(out)
    noindex = {name for name, row in rows.items() if row["noindex"]}
    assert noindex == {"blanks", "none", "past", "header"}
    assert {name for name, row in rows.items() if row["nofollow"]} == {"blanks", "none", "header"}


@pytest.mark.parametrize(("store", "stored"), [("page", True), ("head", False), ("nothing", None)])
def test_what_is_stored_of_a_page_that_says_noarchive(
    store: str, stored: bool | None, tmp_path: Path
) -> None:
    pages = {"/": '<a href="/a">x</a>', "/a": meta("noarchive", "/b"), "/b": "the end"}
    config = tmp_path / "config.toml"
    config.write_text(f'[policy.noarchive]\nstore = "{store}"\n')
    out = tmp_path / "out"
    with serving(pages) as served:
        usual = () if store == "page" else ("--config", str(config))
        log = crawled(f"http://127.0.0.1:{served.port}/", out, *usual)
    assert sorted(served.asked) == ["/", "/a", "/b", "/robots.txt"]
    assert [line["outcome"] for line in log if line["url"].endswith("/a")] == ["fetched"]
    bodies = {}
    for file in out.glob("warc/*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    uri = record.rec_headers.get_header("WARC-Target-URI")
                    bodies[uri.split("/", 3)[3]] = bool(record.content_stream().read())
    assert bodies.get("a") is stored
    assert bodies["b"]
    if store == "page":
        assert {name: row["noarchive"] for name, row in exported(out).items()} == {
            "": False, "a": True, "b": False
        }  # fmt: skip


def test_canonical_alternates_lazy_images_and_empty_links(tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "/": '<a href="/dir/page?x=1">x</a>',
        "/dir/page?x=1": Answer(
            b'<link rel="canonical" href="page"><link rel="alternate" hreflang="de" href="/de">'
            b'<a href="">self</a><a href=" ">self</a><a href="#top">self</a>'
            b'<img src="data:image/gif;base64,R0lGOD" data-src="/lazy.png" data-srcset="/2x.png 2x">',
            {"Content-Type": "text/html", "Link": '</fr>; rel="alternate"; hreflang="fr"'},
        ),
        "/dir/page": "the canonical one",
        "/de": "deutsch",
        "/fr": "fran&ccedil;ais",
        "/lazy.png": Answer(b"png", {"Content-Type": "image/png"}),
        "/2x.png": Answer(b"png2", {"Content-Type": "image/png"}),
    }
    out = tmp_path / "out"
    settings = ["scope.resources=true", "scope.skip_suffixes=[]", "fetch.types=[]"]
    with serving(pages) as served:
        options = [word for setting in settings for word in ("--set", setting)]
        crawled(f"http://127.0.0.1:{served.port}/", out, *options)
    assert sorted(served.asked) == sorted(["/robots.txt", *pages])
    rows = exported(out)
    assert rows["dir/page?x=1"]["canonical"] == f"http://127.0.0.1:{served.port}/dir/page"
    assert rows["de"]["canonical"] is None
