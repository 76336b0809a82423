"""The figures are only as good as the reading of the log."""

from pathlib import Path

import pytest
from tests.realweb.crawlers import Run
from tests.realweb.goals import missed
from tests.realweb.measure import Figures, figures, normal, requests_of
from tests.realweb.patterns import commonest
from tests.realweb.report import TEXT, Row, markdown, percent

HOST = "http://127.30.0.9:28080"
LOG = b"""\
1.000 127.30.0.9 /robots.txt 404 308
1.100 127.30.0.9 / 200 700
1.200 127.30.0.9 /a 500 20
1.300 127.30.0.9 /a 200 900
1.400 127.30.0.9 /a?sort=up 200 900
1.500 127.30.0.9  400 150
1.600 127.30.0.9 /%e5%ae 200 900
"""


def same(url: str) -> str:
    return url


def test_every_line_is_a_request_in_order_and_an_invalid_one_has_no_path():
    requests = requests_of(LOG)
    assert [request.status for request in requests] == [404, 200, 500, 200, 200, 400, 200]
    assert [request.url for request in requests][5:] == [HOST, HOST + "/%E5%AE"]


@pytest.mark.parametrize(
    ("sent", "known"),
    [
        ("/wiki/C%2B%2B%20(language)", "/wiki/C%2b%2b%20%28language%29"),
        ("/a?id=b:c", "/a?id=b%3Ac"),
        ("/~x", "/%7Ex"),
        ("/é", "/%C3%A9"),
    ],
)
def test_spellings_of_one_url_are_one(sent, known):
    assert normal(sent) == normal(known)


@pytest.mark.parametrize(
    ("one", "other"), [("/a%2Fb", "/a/b"), ("/a?x=%26", "/a?x=&"), ("/a+b", "/a%2Bb")]
)
def test_escapes_that_mean_something_are_kept(one, other):
    assert normal(one) != normal(other)


def test_coverage_counts_the_first_200_of_each_content_page():
    found = figures(
        requests_of(LOG), {HOST + "/", HOST + "/a", HOST + "/b", HOST + "/%E5%AE"}, same
    )
    assert (found.pages, found.requests, found.covered, found.per_page) == (4, 7, 0.75, 1.75)
    assert (found.curve[0.5], found.curve[1.0], found.within_budget) == (0.25, 0.5, 0.5)
    assert found.missing == [HOST + "/b"]
    assert sum(found.junk.values()) == 4


def test_a_page_with_two_urls_is_found_by_either():
    found = figures(
        requests_of(LOG), {HOST + "/index"}, lambda url: url + "index" if url.endswith("/") else url
    )
    assert found.covered == 1


def test_patterns_leave_out_names_and_values_that_vary():
    urls = [f"{HOST}/wiki/index.php?title=Page_{n}&action=edit" for n in range(20)]
    urls += [f"{HOST}/wiki/Special:Links/Page_{n}" for n in range(3)]
    assert commonest([(200, url) for url in urls]) == {
        "200 /wiki/index.php?title=*&action=edit": 20,
        "200 /wiki/Special:Links/*": 3,
    }


def test_only_all_pages_are_100_percent():
    assert [percent(1), percent(0.9999), percent(0)] == ["100 %", "99.9 %", "0.0 %"]


def row(
    covered: float = 1.0,
    within: float = 1.0,
    per_page: float = 1.2,
    *,
    crawler: str = "gossamer",
    ended: bool = True,
) -> Row:
    figures = Figures(100, covered, 120, per_page, within, {}, {}, {}, [])
    return Row("wiki", crawler, figures, Run(1.0, ended, 0))


def test_goals_that_are_missed_are_named_with_their_application():
    assert missed([row(), row(1.0, 0.95, 2.0)]) == []
    assert missed([row(0.5, 0.5, 9.0, crawler="wget2", ended=False)]) == []
    assert missed([row(0.999)]) == ["wiki: fetched 99.9 % of the content, 100 % wanted"]
    assert missed([row(within=0.949)]) == [
        "wiki: fetched 94.9 % at 1.5 requests per page, 95.0 % wanted"
    ]
    assert missed([row(per_page=2.01, ended=False)]) == [
        "wiki: did not end within the time limit", "wiki: 2.01 requests per page, at most 2.0 wanted"
    ]  # fmt: skip


def test_the_page_of_the_docs_has_the_text_of_the_report():
    page = (Path(__file__).parents[2] / "docs/realweb.md").read_text()
    assert page.startswith(TEXT)
    assert markdown([row()], [], "make realweb", 600).startswith(TEXT)
