"""The page of a folder is guarded as a control node is: by token, role, Host and Origin, on every route and method."""

from collections.abc import Iterator

import pytest
from tests.control.serving import Served
from tests.control.test_refusals import FOREIGN, METHODS, UNKNOWN, routes
from tests.crawls.paging import Page, paged

from gossamer.control.api.safety import SAFETY
from gossamer.simweb import SimWeb


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with paged(tmp_path_factory.mktemp("guarded")) as page:
        yield page


def test_nothing_is_told_or_done_without_a_good_token(page: Page) -> None:
    paths = [*routes(page), *UNKNOWN]
    assert {"/api/v1/crawls", "/api/v1/crawls/1/open", "/api/v1/crawls/1/report"} <= set(paths)
    for method in METHODS:
        for path in paths:
            assert page.ask(method, path, token=None).status == 401, (method, path)
            wrong = page.ask(method, path, token="x" * 43)
            assert wrong.status in {401, 429}, (method, path)


def test_a_token_to_read_starts_and_enters_nothing(page: Page, web: SimWeb) -> None:
    assert page.start_crawl("running", web.url, delay="1s").status == 201
    for path, methods in routes(page).items():
        if "POST" in methods:
            answer = page.ask("POST", path, {}, token=page.token("token-read"))
            assert (answer.status, answer.json["code"]) == (403, "read_only"), path
    answer = page.ask("GET", "/api/v1/crawls", token=page.token("token-read"))
    assert [row["dashboard"] is not None for row in answer.json["crawls"]] == [True]
    assert b"token" not in answer.body
    crawl = Served(page.out / "running", web)
    assert crawl.token().encode() not in answer.body
    assert crawl.token("token-read").encode() not in answer.body


@pytest.mark.parametrize("headers", FOREIGN)
def test_pages_of_other_sites_are_refused_with_a_good_token_too(
    page: Page, headers: dict[str, str]
) -> None:
    for path in ("/", "/static/api.js", "/api/v1/crawls"):
        assert page.ask("GET", path, headers=headers).status == 403, path
    body = {"name": "made", "seeds": "http://127.0.0.1:1/", "allow_private": True}
    assert page.ask("POST", "/api/v1/crawls", body, headers=headers).status == 403
    assert not (page.out / "made").exists()


def test_every_answer_has_the_headers_of_safety(page: Page) -> None:
    for path, token in (("/", None), ("/api/v1/crawls", ""), ("/api/v1/crawls", None)):
        answer = page.ask("GET", path, token=token)
        for name, value in SAFETY.items():
            assert answer.headers[name.lower()] == value, (path, name)
    assert page.ask("POST", "/", {}).status == 405


def test_what_cannot_be_read_is_refused(page: Page) -> None:
    bodies: list[object] = [
        [], {"name": "a"}, {"name": "a", "seeds": "b", "more": 1}, {"name": 1, "seeds": 2},
    ]  # fmt: skip
    for body in bodies:
        assert page.ask("POST", "/api/v1/crawls", body).status == 422, body
    large = {"name": "a", "seeds": "x" * (3 << 20)}
    assert page.ask("POST", "/api/v1/crawls", large).status == 413
    half = {"name": "a\ud800", "seeds": "http://127.0.0.1:1/"}
    assert page.ask("POST", "/api/v1/crawls", half).status == 422


LED = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


def test_only_the_page_itself_may_be_opened_from_the_same_site(page: Page) -> None:
    """As a dashboard is from the page of a folder, at another port; it holds no data."""
    assert page.ask("GET", "/", token=None, headers=LED).status == 200
    for path in ("/api/v1/crawls", "/static/api.js", "/favicon.ico", "//"):
        assert page.ask("GET", path, headers=LED).status == 403, path
    assert page.ask("POST", "/", {}, headers=LED).status == 403
    for name, value in (
        ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "iframe"),
        ("Origin", "http://127.0.0.1:1"), ("Host", "evil.example"),
    ):  # fmt: skip
        assert page.ask("GET", "/", headers=LED | {name: value}).status == 403, name
