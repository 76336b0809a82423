"""Policies that raise, hang or answer nonsense: the native default goes on, and nothing is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.native.doors import Answer, Crawl, page, settings, site

from gossamer._native import Batch, Node

PAGES = {"/": page(*[f"/{n}" for n in range(30)])} | {
    f"/{n}": page(text=f"page {n} of its own kind with its own word w{n}") for n in range(30)
}
COLUMNS = {door: {"columns": ["url"], "rows": 4} for door in ("pages", "order", "refresh")}


def raises(_: Batch) -> dict[str, list[Any]]:
    raise ArithmeticError("out of luck")


def nonsense(batch: Batch) -> dict[str, list[Any]]:
    if batch.door == "refresh":
        return {"next_visit": ["soon"] * len(batch)}
    return {"score": [7.0] * len(batch)}


def short(batch: Batch) -> dict[str, list[Any]]:
    return {"reason": ["x"] * (len(batch) + 1)}


@pytest.mark.parametrize("door", ["pages", "order", "refresh"])
@pytest.mark.parametrize(
    ("policy", "count"), [(raises, "failed"), (nonsense, "nonsense"), (short, "nonsense")]
)
def test_a_policy_that_fails(tmp_path: Path, door: str, policy: Answer, count: str) -> None:
    with site(PAGES) as web:
        crawl = Crawl(tmp_path, {door: COLUMNS[door]}, {door: policy})
        progress = crawl.run(web.url + "/")
        report = progress["doors"][door]
        # Three in a row, and then the door rests; one more may have been under way.
        assert report[count] in (3, 4)
        assert report["resting"] > 1
        assert report["defaults"] > 0
        assert report["batches"] == 0
        assert ("out of luck" if policy is raises else ":") in report["last_failure"]
        crawl.close()
    assert len([o for o in crawl.outcomes().values() if o in ("fetched", "duplicate")]) == 31


@pytest.mark.parametrize("door", ["pages", "order", "refresh"])
def test_a_policy_that_hangs(tmp_path: Path, door: str) -> None:
    end = threading.Event()

    def hang(_: Batch) -> dict[str, list[Any]]:
        end.wait(60)
        return {}

    with site(PAGES) as web:
        crawl = Crawl(tmp_path, {door: COLUMNS[door] | {"patience": 100_000}}, {door: hang})
        progress = crawl.run(web.url + "/")
        report = progress["doors"][door]
        assert report["late"] >= 3
        assert report["resting"] > 1
        end.set()
        crawl.close()
    assert len([o for o in crawl.outcomes().values() if o in ("fetched", "duplicate")]) == 31


def test_why_tells_of_a_failure(tmp_path: Path) -> None:
    with site(PAGES) as web:
        crawl = Crawl(tmp_path, {"order": COLUMNS["order"]}, {"order": raises})
        crawl.run(web.url + "/")
        assert crawl.why(web.url + "/")["policies"]["order"] == "failed: out of luck"
        crawl.close()


def test_a_late_answer_is_told(tmp_path: Path) -> None:
    answered: list[bool] = []

    def look(crawl: Callable[[], Crawl]) -> None:
        doors = crawl().node.doors()
        batch = doors.next("pages", 30)
        assert batch is not None
        until = threading.Event()
        while not crawl().progress.get("doors", {}).get("pages", {}).get("late"):
            until.wait(0.02)
        answered.append(doors.answer(batch.number, {}))
        assert doors.fail(batch.number, "too late anyway") is False

    with site({"/": page()}) as web:
        crawl = Crawl(tmp_path, {"pages": {"columns": ["url"], "patience": 50_000}}, {})
        thread = threading.Thread(target=look, args=(lambda: crawl,))
        thread.start()
        crawl.run(web.url + "/", until=lambda: bool(answered))
        thread.join()
        crawl.close()
        with pytest.raises(RuntimeError):
            crawl.node.doors().next("pages", 0.0)
    assert answered == [False]


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nose"):
        Crawl(tmp_path, {"pages": {"columns": ["nose"]}}, {})


def test_pages_that_are_held_when_the_node_closes_are_kept(tmp_path: Path) -> None:
    with site(PAGES) as web:
        crawl = Crawl(tmp_path, {"pages": {"columns": ["url"], "rows": 4}}, {})
        doors = crawl.node.doors()
        # It is held: its batch was taken, and is never answered.
        crawl.run(web.url + "/", until=lambda: doors.next("pages", 0.0) is not None)
        crawl.close()
    assert crawl.outcomes()["/"] == "fetched"


def test_who_fails_a_batch_says_how(tmp_path: Path) -> None:
    node = Node(tmp_path, settings({"order": COLUMNS["order"]}))
    doors = node.doors()
    kinds: list[tuple[str, ...]] = [(), ("failed",), ("nonsense",)]

    def fail() -> None:
        for kind in kinds:
            batch = doors.next("order", 60.0)
            assert batch is not None
            with pytest.raises(ValueError, match="neither failed nor nonsense"):
                doors.fail(batch.number, "no", "bad")
            doors.fail(batch.number, "no", *kind)

    thread = threading.Thread(target=fail)
    thread.start()
    for number in range(len(kinds)):
        node.add_seeds([f"http://127.0.0.1:9/{number}"])
    thread.join()
    report = json.loads(doors.report())["order"]
    node.close()
    assert (report["failed"], report["nonsense"]) == (2, 1)
