"""Pages under types that tell nothing, or too little: their content says that they are pages."""

from pathlib import Path

from tests.crawl.pages import Answer, crawled, serving

TYPES = {
    "html": "html",
    "text": "text",
    "empty": "",
    "unknown": "unknown/unknown",
    "any": "*/*",
    "htm": "text/htm",
    "application": "application/html",
    "no-semicolon": "text/html charset=utf-8",
    "twice": "Content-Type: text/html",
    "xml": "text/xml",
    "application-xml": "application/xml",
}
XHTML = """<?xml version="1.0"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js"/></head>
<body><a href="/next/{name}">next</a></body></html>"""


def test_a_page_is_a_page_whatever_its_type_says(tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {"/": "".join(f'<a href="/{name}">x</a>' for name in TYPES)}
    for name, kind in TYPES.items():
        body = XHTML.format(name=name) if "xml" in kind else f'<a href="/next/{name}">next</a>'
        pages[f"/{name}"] = Answer(body.encode(), {"Content-Type": kind})
        pages[f"/next/{name}"] = f"behind {name}"
    # What the type tells is believed: these are no pages.
    pages["/"] = f'{pages["/"]}<a href="/plain">x</a><a href="/feed">x</a><a href="/image">x</a>'
    pages["/plain"] = Answer(b'<a href="/no">x</a>', {"Content-Type": "text/plain"})
    pages["/feed"] = Answer(b"<rss><html/></rss>", {"Content-Type": "text/xml"})
    pages["/image"] = Answer(b'<a href="/no">x</a>', {"Content-Type": "image/png"})
    with serving(pages) as served:
        log = crawled(
            f"http://127.0.0.1:{served.port}/",
            tmp_path / "out",
            "--set",
            "fetch.soft_404_probe=false",
        )
    outcomes = {line["url"].partition(f":{served.port}")[2]: line["outcome"] for line in log}
    assert outcomes.pop("/image") == "unwanted_type"
    assert outcomes.pop("/robots.txt") == "gone"
    assert outcomes == dict.fromkeys(pages.keys() - {"/image"}, "fetched")
