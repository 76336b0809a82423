"""A rule's `refresh`: pages are visited again, and the audit does not call that a fault."""

import json
from collections import Counter
from pathlib import Path

from tests.policy.rules_site import answer, crawl, page, run, serving

RULES = """
    [[rule]]
    name = "news"
    match.path_prefix = "/news/"
    refresh = "100ms"
"""


def test_pages_of_a_rule_are_visited_again(tmp_path: Path) -> None:
    site = {
        "/": page("/news/1", "/old"),
        "/news/1": page("/old"),
        "/old": answer("text/html", b"<p>x"),
    }
    with serving(site) as web:
        # Without a limit it would go on for ever.
        done = crawl(web.url + "/", tmp_path / "out", RULES, "--max-pages", "6")
        assert done.code == 0, done.stderr
        visits = Counter(web.paths())
    assert visits["/news/1"] >= 3
    assert visits["/"] == visits["/old"] == 1
    (log,) = (done.out / "log").iterdir()
    outcomes = Counter(json.loads(line)["outcome"] for line in log.read_text().splitlines())
    assert outcomes["fetched"] == 3
    assert outcomes["not_modified"] == visits["/news/1"] - 1
    audit = run("audit", done.out)
    assert audit.returncode == 0, audit.stdout + audit.stderr
