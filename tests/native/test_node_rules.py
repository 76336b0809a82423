"""Rules in a node: seeds that one drops, URLs it drops out of the queue, pages it visits again."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.native.doors import Crawl, page, settings, site

LINKS = [f"/{n}" for n in range(12)]
PAGES = {"/": page(*LINKS)} | {link: page(*LINKS, text=link) for link in LINKS}


def drop(prefix: str) -> dict[str, Any]:
    return {"name": "no", "match": {"path_prefix": [prefix]}, "drop": "not this"}


def test_a_seed_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    """Neither the scope nor what is known of other seeds' roots, which a later process needs."""
    scope = {"kind": "host", "exclude": ["/secret2"]}
    with site(PAGES) as web, site(PAGES) as other:
        rules = {"rule": [drop("/secret")], "scope": scope, "politeness": {"delay": "50ms"}}
        crawl = Crawl(tmp_path, {}, {}, **rules)
        refused = crawl.node.add_seeds(
            [f"{web.url}/secret", f"{web.url}/", f"{other.url}/secret", f"{other.url}/secret2"]
        )
        assert [reason is None for reason in refused] == [False, True, False, False]
        crawl.run(until=lambda: web.visits("/3") == 1)
        assert crawl.why(f"{web.url}/")["out_of_scope"] is None
        assert crawl.why(f"{other.url}/")["out_of_scope"] is not None
        crawl.close()
        crawl = Crawl(tmp_path, {}, {}, **rules)
        crawl.run()
        crawl.close()
        assert other.requests == []
    assert set(crawl.outcomes().values()) == {"fetched", "gone"}
    assert {path: web.visits(path) for path in PAGES} == dict.fromkeys(PAGES, 1)


def test_what_a_rule_dropped_out_of_the_queue_comes_in_again_without_it(tmp_path: Path) -> None:
    slow: dict[str, Any] = {"politeness": {"delay": "300ms"}}
    pages = PAGES | {"/11": page("/more"), "/more": page(*LINKS)}
    with site(pages) as web:
        crawl = Crawl(tmp_path, {}, {}, **slow)
        crawl.run(f"{web.url}/", until=lambda: crawl.progress["urls_queued"] >= 11)
        crawl.node.set_paused(True)
        crawl.close()
        # All that is queued is dropped, but for one page, from which one comes to all the others.
        rule = {"name": "no", "match": {"regex": [":[0-9]+/(.|10)$"]}, "drop": "not this"}
        crawl = Crawl(tmp_path, {}, {}, rule=[rule], politeness={"delay": "5s"})
        crawl.run(until=lambda: crawl.progress["outcomes"].get("rule_dropped", 0) >= 9)
        crawl.run(until=lambda: web.visits("/11") == 1)
        crawl.node.set_settings(settings({}))
        crawl.run()
        crawl.close()
        crawl = Crawl(tmp_path, {}, {})
        assert crawl.run()["activity"] == "finished"
        crawl.close()
    # Once each, although every page links to all the others.
    assert {path: web.visits(path) for path in pages} == dict.fromkeys(pages, 1)


def test_what_was_dropped_at_the_door_comes_in_once_beside_what_was_queued(tmp_path: Path) -> None:
    """A rule that comes and goes: every URL it dropped is told each time, and visited once in the end."""
    pages = {"/": page("/a", "/b", "/c"), "/a": page("/more", "/x"), "/b": page(), "/c": page()}
    pages |= {"/more": page("/last"), "/x": page(), "/last": page("/again", "/b", "/c", "/x")}
    pages |= {"/again": page("/b", "/c", "/x")}
    rule = {"name": "no", "match": {"regex": [":[0-9]+/[bcx]$"]}, "drop": "not this"}
    slow: dict[str, Any] = {"politeness": {"delay": "3s"}}
    with site(pages) as web:
        crawl = Crawl(tmp_path, {}, {}, politeness={"delay": "300ms"})
        crawl.run(f"{web.url}/", until=lambda: crawl.progress["urls_queued"] == 3)
        crawl.node.set_paused(True)
        crawl.close()
        # /b and /c are dropped out of the queue, /x at the door.
        crawl = Crawl(tmp_path, {}, {}, rule=[rule], **slow)
        crawl.run(until=lambda: crawl.progress["outcomes"].get("rule_dropped", 0) == 3)
        crawl.close()
        crawl = Crawl(tmp_path, {}, {})
        crawl.run()
        crawl.close()
    assert {path: web.visits(path) for path in pages} == dict.fromkeys(pages, 1)
    dropped = [line["url"] for line in crawl.log() if line["outcome"] == "rule_dropped"]
    assert sorted(dropped) == [f"{web.url}/{name}" for name in "bcx"]


def test_a_rule_that_drops_the_same_url_again_lets_it_in_again(tmp_path: Path) -> None:
    """And tells it once: it is the same decision."""
    rule = {"name": "no", "match": {"path_prefix": ["/b"]}, "drop": "not this"}
    pages = {"/": page("/a", "/b"), "/a": page("/1"), "/b": page()}
    pages |= {f"/{n}": page(f"/{n + 1}", "/b") for n in range(1, 8)}
    with site(pages) as web:
        slow: dict[str, Any] = {"politeness": {"delay": "1s"}}
        crawl = Crawl(tmp_path, {}, {}, **slow)
        crawl.run(f"{web.url}/", until=lambda: crawl.progress["urls_queued"] == 2)
        crawl.node.checkpoint()

        def is_queued() -> bool:
            return crawl.why(f"{web.url}/b")["queued"] is not None

        assert is_queued()
        for _ in range(2):
            # The turn of /b comes after a visit or two; the next page without the rule links to it.
            crawl.node.set_settings(settings({}, rule=[rule], **slow))
            crawl.run(until=lambda: not is_queued())
            crawl.node.set_settings(settings({}, **slow))
            crawl.run(until=is_queued)
            assert crawl.progress["outcomes"]["rule_dropped"] == 1
        crawl.node.set_settings(settings({}))
        crawl.run()
        crawl.close()
    assert {path: web.visits(path) for path in pages} == dict.fromkeys(pages, 1)


def test_a_body_is_stored_as_soon_as_that_is_asked_for(tmp_path: Path) -> None:
    rule: dict[str, Any] = {"name": "again", "match": {"path_prefix": ["/"]}, "refresh": "10ms"}
    with site({"/": page()}) as web:
        crawl = Crawl(tmp_path, {}, {}, rule=[rule | {"keep_body": False}])
        crawl.run(f"{web.url}/", until=lambda: web.visits("/") >= 2)
        crawl.close()
        crawl = Crawl(tmp_path, {}, {}, rule=[rule])
        crawl.run(until=lambda: web.not_modified >= 1)
        crawl.end_visits()
        crawl.close()
    bodies = [block for url, _, block in crawl.records("response") if "robots" not in url]
    assert bodies[-1] == page().encode()
    assert set(bodies[:-1]) == {b""}
    assert len(crawl.records("revisit")) == web.not_modified


class Held(dict[str, str]):
    """Pages that are given when they are let go."""

    def __init__(self, pages: dict[str, str]) -> None:
        super().__init__(pages)
        self.let_go = threading.Event()

    def get(self, path: str, default: Any = None) -> Any:
        assert path not in self or self.let_go.wait(60)
        return super().get(path, default)


def test_a_page_that_is_due_before_its_record_is_stored_waits_for_it(tmp_path: Path) -> None:
    rule: dict[str, Any] = {"name": "again", "match": {"path_prefix": ["/a"]}, "refresh": "10ms"}
    # A batch is sent before its time when nothing is under way; the held page keeps it open.
    slow, held = {"fsync": "never", "batch_wait": "200ms"}, Held({"/held": page(text="held")})
    with site({"/a": page()}) as web, site(held, address="127.0.0.2") as other:
        crawl = Crawl(tmp_path, {}, {}, rule=[rule], store=slow)
        crawl.run(f"{other.url}/held", until=lambda: other.visits("/held") == 1)
        crawl.run(f"{web.url}/a", until=lambda: web.visits("/a") >= 2)
        held.let_go.set()
        crawl.end_visits()
        crawl.close()
    assert web.visits("/a") == 1 + web.not_modified
    assert len(crawl.records("revisit")) == web.not_modified


@pytest.mark.parametrize("match", [{"mime": ["text/html"]}, {"status": ["200"]}])
def test_a_page_is_visited_again_although_it_has_not_changed(
    tmp_path: Path, match: dict[str, Any]
) -> None:
    """That nothing has changed is said without a media type, and with another status."""
    rule = {"name": "often", "match": match, "refresh": "10ms"}
    with site({"/": page()}) as web:
        crawl = Crawl(tmp_path, {}, {}, rule=[rule])
        crawl.run(f"{web.url}/", until=lambda: web.not_modified >= 4)
        crawl.close()
        crawl = Crawl(tmp_path, {}, {}, rule=[rule])
        crawl.run(until=lambda: web.not_modified >= 8)
        crawl.close()


def test_a_page_of_which_only_the_head_is_kept_changes_all_the_same(tmp_path: Path) -> None:
    rule = {"name": "head", "match": {"path_prefix": ["/"]}, "refresh": "10ms", "keep_body": False}
    with site({"/": page(text="0")}, etags=False) as web:
        crawl = Crawl(tmp_path, {}, {}, rule=[rule])
        crawl.run(f"{web.url}/", until=lambda: crawl.progress["pages"] >= 1)

        def changes() -> int:
            count: int = crawl.why(f"{web.url}/")["last_visit"]["changes"]
            return count

        for number in range(1, 4):
            web.pages["/"] = page(text=str(number))
            crawl.run(until=lambda: changes() == number)  # noqa: B023
        crawl.close()
    outcomes = Counter(line["outcome"] for line in crawl.log() if "robots" not in line["url"])
    assert outcomes["fetched"] == 4
    assert set(outcomes) <= {"fetched", "not_modified"}
    # A record that has no payload does not refer to one that has.
    assert crawl.records("revisit") == []
    bodies = {block for url, _, block in crawl.records("response") if "robots" not in url}
    assert bodies == {b""}
