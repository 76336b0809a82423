"""The door `hosts`: counters of hosts and URL patterns, and what a policy can do about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.native.doors import Answer, Crawl, page, site

from gossamer._native import Batch

COLUMNS = [
    "host", "pattern", "queued", "fetched", "new", "duplicate", "errors", "bytes", "in_domains",
    "since", "weight", "delay", "budget", "standing",
]  # fmt: skip
ITEMS = {f"/item/{n}": page(f"/item/{n + 1}", text=f"number {n}") for n in range(200)}
PAGES = (
    {"/": page("/item/0", "/same/a", "/same/b", "/gone")}
    | ITEMS
    | {"/same/a": page(), "/same/b": page()}
)


def hosts(every: int = 100_000, **changes: Any) -> dict[str, Any]:
    return {"hosts": {"columns": COLUMNS, "wait": every, **changes}}


def rows(batch: Batch) -> list[dict[str, Any]]:
    columns = {name: batch.column(name) for name in batch.columns}
    return [{name: columns[name][row] for name in columns} for row in range(len(batch))]


def on_host(**answer: Any) -> Answer:
    """Answers for the host itself, once something was fetched of it."""

    def judge(batch: Batch) -> dict[str, list[Any]]:
        asked = [row["pattern"] is None and row["fetched"] > 3 for row in rows(batch)]
        return {name: [value if yes else None for yes in asked] for name, value in answer.items()}

    return judge


def test_hosts_and_patterns_are_counted(tmp_path: Path) -> None:
    last: dict[str | None, dict[str, Any]] = {}

    def look(batch: Batch) -> dict[str, list[Any]]:
        last.update({row["pattern"]: row for row in rows(batch)})
        return {}

    with site(PAGES) as web:
        crawl = Crawl(tmp_path, hosts(1_000), {"hosts": look})
        crawl.run(web.url + "/")

        def is_last() -> bool:
            row = last.get(None, {})
            return (row.get("fetched"), row.get("errors"), row.get("queued")) == (203, 2, 0)

        crawl.run(until=is_last)
        crawl.close()
    whole, items, same = last[None], last["/item/{n}"], last["/same/b"]
    assert whole["host"] in web.url
    assert whole["queued"] == 0
    assert (whole["new"], whole["duplicate"], whole["errors"]) == (202, 1, 2)
    assert (items["fetched"], items["new"], items["errors"]) == (200, 200, 1)
    assert last["/same/a"]["fetched"] == same["fetched"] == 1
    assert last["/same/a"]["duplicate"] + same["duplicate"] == 1
    assert whole["bytes"] >= items["bytes"] > 200 * 50
    assert whole["since"] > 0
    assert whole["weight"] == 1.0
    assert whole["budget"] is None
    assert whole["in_domains"] == 0


def test_a_host_is_given_up_with_the_reason(tmp_path: Path) -> None:
    with site(PAGES) as web:
        answers = {"hosts": on_host(give_up=True, reason="seen enough")}
        crawl = Crawl(tmp_path, hosts(), answers)
        progress = crawl.run(web.url + "/")
        assert progress["outcomes"]["dropped"] >= 1
        assert progress["pages"] < 203
        state = crawl.why(web.url + "/")["host_state"]
        assert state["given_up"] == "dropped"
        assert state["policy"]["reason"] == "seen enough"
        host = web.url.removeprefix("http://")
        # Once, although the policy says so each time.
        assert crawl.node.take_host_decisions() == ([(host, "given up", "seen enough")], 0)
        assert crawl.node.take_host_decisions() == ([], 0)
        crawl.close()
    # It holds for a later process too.
    with site(PAGES):
        crawl = Crawl(tmp_path, hosts(), {})
        assert crawl.why(web.url + "/")["host_state"]["policy"]["reason"] == "seen enough"
        crawl.close()


def test_a_budget_leaves_the_rest_in_the_queue(tmp_path: Path) -> None:
    with site(PAGES) as web:
        crawl = Crawl(tmp_path, hosts(), {"hosts": on_host(budget=20, weight=0.5, reason="ration")})
        progress = crawl.run(web.url + "/")
        assert progress["pages"] < 203
        policy = crawl.why(web.url + "/")["host_state"]["policy"]
        assert policy["budget"] == 20
        assert policy["weight"] == 0.5
        crawl.close()


def test_a_pattern_is_given_up_and_the_others_go_on(tmp_path: Path) -> None:
    def judge(batch: Batch) -> dict[str, list[Any]]:
        endless = [row["pattern"] == "/item/{n}" and row["fetched"] > 10 for row in rows(batch)]
        return {
            "give_up": [True if yes else None for yes in endless],
            "reason": ["endless" if yes else None for yes in endless],
        }

    with site(PAGES) as web:
        crawl = Crawl(tmp_path, hosts(), {"hosts": judge})
        progress = crawl.run(web.url + "/")
        assert progress["outcomes"]["dropped"] == 1
        told = [(what, reason) for _host, what, reason in crawl.node.take_host_decisions()[0]]
        assert told == [("pattern /item/{n}: given up", "endless")]
        crawl.close()
    assert crawl.outcomes()["/same/b"] in ("fetched", "duplicate")
    reasons = [line["reason"] for line in crawl.log() if line["outcome"] == "dropped"]
    assert reasons == ["pattern /item/{n}: endless"]


def test_a_host_is_set_aside(tmp_path: Path) -> None:
    with site(PAGES) as web:
        crawl = Crawl(tmp_path, hosts(), {"hosts": on_host(set_aside=3600.0, reason="later")})
        crawl.run(web.url + "/", until=lambda: crawl.progress["hosts_set_aside"] == 1)
        assert crawl.why(web.url + "/")["host_state"]["set_aside"] is True
        crawl.close()
