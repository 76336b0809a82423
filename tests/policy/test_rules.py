"""Each effect of a rule, on a small real server: what it saw, what the files hold, what `why` says."""

from pathlib import Path

import pytest
from tests.policy.rules_site import Crawled, answer, crawl, page, run, serving, why

SITE = {
    "/": page(
        "/a/1", "/print/1", "/a/2?print=1", "/deep/1", "/old", "/feed", "/style",
        '<form action="/search"><input name="q"></form>',
    ),
    "/a/1": page("/a/2", "/print/1", "/a/3"),
    "/a/2": page("/"),
    "/a/3": page("/a/1"),
    "/a/2?print=1": page("/a/2"),
    "/print/1": page("/only/through/print"),
    "/only/through/print": page("/deep/1"),
    "/deep/1": page("/deep/2"),
    "/deep/2": page("/deep/3"),
    "/deep/3": page("/deep/4"),
    "/deep/4": page(),
    "/old": answer("text/html", b"", 302, Location="/new"),
    "/new": page("/old"),
    "/feed": answer("application/rss+xml", b"<rss><channel><link>x</link></channel></rss>"),
    "/style": answer("text/css", b"body { color: red }"),
    "/search": page("/feed"),
}  # fmt: skip


def good(done: Crawled) -> Crawled:
    assert done.code == 0, done.stderr
    audit = run("audit", done.out)
    assert audit.returncode == 0, audit.stdout + audit.stderr
    return done


def test_drop(tmp_path: Path) -> None:
    rules = """
        [[rule]]
        name = "no-print-views"
        match.path_prefix = "/print/"
        drop = "printable copy"
        [[rule]]
        name = "no-print-parameter"
        match.query = ["print"]
        drop = "printable too"
        [[rule]]
        name = "shallow"
        match.glob = "/deep/*"
        match.depth = "3.."
        drop = "too deep"
        [[rule]]
        name = "no-searches"
        match.kind = "form"
        drop = "no searches"
    """
    with serving(SITE) as site:
        done = good(crawl(site.url + "/", tmp_path / "out", rules, "--set", "scope.forms=true"))
        assert not {"/print/1", "/a/2?print=1", "/only/through/print"} & set(site.paths())
        assert not [path for path in site.paths() if path.startswith("/search")]
        assert {"/a/2", "/deep/2", "/new"} <= set(site.paths())
        assert "/deep/3" not in site.paths()
    # Two pages have the link; the drop is told once, with rule and reason.
    line = done.line(f"{site.url}/print/1")
    assert line["outcome"] == "rule_dropped"
    assert line["reason"] == "rule 'no-print-views': printable copy"
    assert done.line(f"{site.url}/deep/3")["reason"] == "rule 'shallow': too deep"
    assert done.summary()["outcomes"]["rule_dropped"] == 4
    (decision,) = why(done.out, f"{site.url}/print/1")["rules"][:1]
    assert (decision["effect"], decision["rule"]) == ("drop", "no-print-views")
    assert (decision["value"], decision["depends_on"]) == ("printable copy", [])
    words = run("why", f"{site.url}/print/1", "--out", done.out).stdout
    assert "rule 'no-print-views' drops it: printable copy" in words
    # How a page was found is not kept with it, and `why` says what that would change.
    (decision,) = why(done.out, f"{site.url}/a/1")["rules"]
    assert (decision["rule"], decision["depends_on"]) == ("no-searches", ["kind"])


def test_a_seed_that_a_rule_drops_is_refused_with_the_reason(tmp_path: Path) -> None:
    rules = '[[rule]]\nname = "nothing"\ndrop = "a test"\n'
    with serving(SITE) as site:
        done = crawl(site.url + "/", tmp_path / "out", rules)
        assert site.requests == []
    assert done.code != 0
    assert "rule 'nothing' drops it: a test" in done.stderr


def test_score_sets_the_order(tmp_path: Path) -> None:
    site_pages = {"/": page(*(f"/p/{n}" for n in range(12)))}
    site_pages |= {f"/p/{n}": page("/", f"/p/{n}") for n in range(12)}
    rules = """
        [[rule]]
        name = "last"
        match.regex = "/p/[0-4]$"
        score = 0.1
        [[rule]]
        name = "first"
        match.glob = ["/p/9", "/p/10"]
        score = "+0.9"
        [[rule]]
        name = "too-late"
        match.path_prefix = "/p/0"
        score = 1.0
        [[rule]]
        name = "middle"
        match.path_prefix = "/p/"
        score = 0.5
    """
    with serving(site_pages) as site:
        good(crawl(site.url + "/", tmp_path / "out", rules))
        order = site.paths()
    assert order[0] == "/"
    assert set(order[1:3]) == {"/p/9", "/p/10"}
    assert set(order[-5:]) == {f"/p/{n}" for n in range(5)}


def test_follow_false_takes_no_links_and_no_redirects(tmp_path: Path) -> None:
    rules = """
        [[rule]]
        name = "leaves"
        match.path_prefix = ["/a/1", "/old"]
        follow = false
    """
    with serving(SITE) as site:
        good(crawl(site.url + "/", tmp_path / "out", rules))
        paths = site.paths()
    assert {"/a/1", "/old"} <= set(paths)
    assert not {"/a/3", "/new"} & set(paths)


def test_store_false_leaves_the_log_line(tmp_path: Path) -> None:
    rules = """
        [[rule]]
        name = "feeds"
        match.mime = "application/rss+xml"
        store = false
        [[rule]]
        name = "errors"
        match.status = "4xx"
        store = false
    """
    with serving(SITE) as site:
        done = good(crawl(site.url + "/", tmp_path / "out", rules))
    feed = f"{site.url}/feed"
    assert done.records(feed) == {}
    line = done.line(feed)
    assert (line["outcome"], line["status"], line["stored"]) == ("fetched", 200, "no")
    account = why(done.out, feed)
    assert account["last_visit"]["warc_file"] is None
    assert ("store", "feeds", ["mime"]) in [
        (one["effect"], one["rule"], one["depends_on"]) for one in account["rules"]
    ]
    assert "response" in done.records(f"{site.url}/a/1")
    assert "stored" not in done.line(f"{site.url}/a/1")
    # Robots files are stored whatever the rules say.
    assert "response" in done.records(f"{site.url}/robots.txt")


def test_a_copy_of_a_page_that_is_not_stored_is_stored(tmp_path: Path) -> None:
    body = page("/")[2] + b"the same"
    site_pages = {
        "/": page("/first", "/second"),
        "/first": answer("text/html", body),
        "/second": answer("text/html", body),
    }
    rules = '[[rule]]\nname = "not-this"\nmatch.path_prefix = "/first"\nstore = false\n'
    with serving(site_pages) as site:
        done = good(crawl(site.url + "/", tmp_path / "out", rules))
    assert done.records(f"{site.url}/first") == {}
    assert done.records(f"{site.url}/second")["response"][2] == body


def test_keep_body_false_keeps_the_head(tmp_path: Path) -> None:
    rules = '[[rule]]\nname = "styles"\nmatch.mime = "text/css"\nkeep_body = false\n'
    with serving(SITE) as site:
        done = good(crawl(site.url + "/", tmp_path / "out", rules))
    fields, head, body = done.records(f"{site.url}/style")["response"]
    assert b"text/css" in head
    assert body == b""
    assert fields["WARC-Truncated"] == "unspecified"
    line = done.line(f"{site.url}/style")
    assert (line["stored"], line["bytes"]) == ("head", len(SITE["/style"][2]))


def test_credentials_are_sent_and_not_recorded(tmp_path: Path) -> None:
    rules = """
        [credentials.intranet]
        headers = { Authorization = "env:SITE_TOKEN", X-Team = "blue" }
        [[rule]]
        name = "login"
        match.host = "127.0.0.1:PORT"
        match.path_prefix = "/a/"
        credentials = "intranet"
    """
    with serving(SITE) as site, serving(SITE) as other:
        rules = rules.replace("PORT", site.url.rsplit(":", 1)[1])
        environ = {"SITE_TOKEN": "Bearer s3cret"}
        done = good(crawl(site.url + "/", tmp_path / "out", rules, environ=environ))
        sent = {one.path: one.headers for one in site.requests}
        good(crawl(other.url + "/", tmp_path / "apart", rules, environ=environ))
        missing = crawl(site.url + "/", tmp_path / "other", rules)
    assert sent["/a/1"]["Authorization"] == "Bearer s3cret"
    assert sent["/a/1"]["X-Team"] == "blue"
    assert "Authorization" not in sent["/"]
    # Another port is another site.
    assert "/a/1" in {one.path for one in other.requests}
    assert not any("Authorization" in one.headers for one in other.requests)
    _fields, head, body = done.records(f"{site.url}/a/1")["request"]
    assert b"Authorization: (not recorded)" in head + body
    assert b"X-Team: (not recorded)" in head + body
    account = run("why", f"{site.url}/a/1", "--out", done.out).stdout
    assert "rule 'login' sends the credentials 'intranet'" in account
    for file in (path for path in done.out.rglob("*") if path.is_file()):
        assert b"s3cret" not in file.read_bytes(), file
    assert missing.code == 2
    assert "SITE_TOKEN" in missing.stderr


def test_quota(tmp_path: Path) -> None:
    rules = '[[rule]]\nname = "few"\nmatch.host = "127.0.0.1"\nquota = 3\n'
    with serving(SITE) as site:
        done = good(crawl(site.url + "/", tmp_path / "out", rules))
    assert done.summary()["pages"] == 3
    assert done.summary()["outcomes"]["over_quota"] > 0
    assert ("quota", "few", "3") in [
        (one["effect"], one["rule"], one["value"]) for one in why(done.out, site.url)["rules"]
    ]


def test_per_host(tmp_path: Path) -> None:
    site_pages = {"/": page(*(f"/p/{n}" for n in range(12)))}
    site_pages |= {f"/p/{n}": page("/", f"/p/{n}") for n in range(12)}

    def most(rules: str, name: str) -> int:
        with serving(site_pages, seconds=0.2) as site:
            options = ("--set", "fetch.concurrency=16")
            good(crawl(site.url + "/", tmp_path / name, rules, *options))
        spans = [(one.began, one.ended) for one in site.requests]
        return max(sum(began <= at < ended for began, ended in spans) for at, _ in spans)

    assert most("", "one") == 1
    rules = '[[rule]]\nname = "wide"\nmatch.host = "127.0.0.1"\nper_host = 4\n'
    assert most(rules, "four") == 4


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('match.path_prefix = "/x"\ndelay = "1s"', "delay: it cannot depend on match.path_prefix"),
        ('match.regex = "("\ndrop = "x"', "match.regex: "),
        ('match.hosts = "a"\ndrop = "x"', "match.hosts (did you mean host?)"),
        ('match.depth = "3-4"\ndrop = "x"', "match.depth: a range of depths"),
        ('match.status = "40x"\nstore = false', "match.status"),
        ('score = "2"', "score: "),
        ('delay = "5 parsecs"', "delay: unknown unit 'parsecs'"),
        ('match.host = "a"', "effect: it has none"),
        ('match.domain = "a"\ncredentials = "who"', "credentials: there are no credentials called"),
    ],
)
def test_wrong_rules_are_refused_by_name_before_anything_begins(
    tmp_path: Path, rule: str, said: str
) -> None:
    first = '[[rule]]\nname = "good"\nmatch.host = "x"\ndrop = "x"\n'
    with serving(SITE) as site:
        rules = f'{first}[[rule]]\nname = "bad"\n{rule}\n'
        done = crawl(site.url + "/", tmp_path / "out", rules)
        assert site.requests == []
    assert done.code == 2, done.stderr
    assert "rule 'bad'" in done.stderr
    assert said in done.stderr
    assert not done.out.exists()


@pytest.mark.parametrize("place", ["env:NOT_THERE", "file:not-there"])
def test_credentials_that_are_not_there_leave_nothing_behind(tmp_path: Path, place: str) -> None:
    rules = """
        [[rule]]
        name = "members"
        match.host = "127.0.0.1"
        credentials = "members"
        [credentials.members]
        headers = { X-Key = "%s" }
    """
    with serving(SITE) as site:
        wrong = crawl(site.url + "/", tmp_path / "out", rules % place)
        assert site.requests == []
        assert wrong.code == 2, wrong.stderr
        assert place.partition(":")[2] in wrong.stderr
        assert not wrong.out.exists()
        # The corrected command begins the crawl in the same directory.
        good(crawl(site.url + "/", tmp_path / "out", rules % "plain"))
        assert {one.headers.get("X-Key") for one in site.requests} == {"plain"}


def test_stay_without_serve_leaves_nothing_behind(tmp_path: Path) -> None:
    done = crawl("http://127.0.0.1:1/", tmp_path / "out", "", "--stay")
    assert done.code == 2
    assert "--stay waits for seeds that nobody could bring; give --serve too" in done.stderr
    assert not done.out.exists()
