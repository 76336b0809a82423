"""The threads of the doors: answers go back, failures are reported, nothing is held up."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.policy.batches import Rows
from tests.policy.fake_doors import FakeDoors

from gossamer import HostDecisions, PageDecisions, Scores
from gossamer.node.doors import Doors
from gossamer.policy import Batch
from gossamer.policy.ask import Failure
from gossamer.policy.chosen import Policies
from gossamer.settings import CrawlSettings, check


class Saying:
    """A policy of any door that answers with what a function gives."""

    def __init__(self, name: str, say: Callable[[Batch], Any]) -> None:
        self.name = name
        self.process = self.score = self.judge = self.next_visits = say


def urls(number: int, door: str = "order") -> Rows:
    return Rows(door, {"url": ["http://a/", "http://b/"]}, number)


class Heard:
    """The failures that were reported."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.failures: list[Failure] = []

    def take(self, failure: Failure) -> None:
        with self._changed:
            self.failures.append(failure)
            self._changed.notify_all()

    def wait_for(self, count: int) -> list[Failure]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.failures) >= count, timeout=30)
            return self.failures


@contextmanager
def running(
    door: str, policies: list[Saying], native: FakeDoors, patience: float = 60.0
) -> Iterator[Heard]:
    heard = Heard()
    wait = f"{patience}s"
    settings = check({"doors": {"patience": wait, "pages_patience": wait}}, "test")
    doors = Doors(Policies({door: policies}), settings, heard.take)
    doors.start(native)
    try:
        yield heard
    finally:
        doors.close()


def test_an_answer_goes_back() -> None:
    native = FakeDoors()
    with running("order", [Saying("p", lambda _: Scores([1, 0.5], "so"))], native) as heard:
        native.put(urls(7))
        assert native.wait_for(7) == {"score": [1.0, 0.5], "reason": ["so", "so"]}
        assert heard.failures == []


def _raises(_batch: Batch) -> Scores:
    raise ZeroDivisionError("no way")


def _exits(_batch: Batch) -> Scores:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("say", "kind", "words"),
    [
        (_raises, "raised", "ZeroDivisionError: no way"),
        (_exits, "raised", "SystemExit: 3"),
        (lambda _: Scores([1]), "nonsense", "1 values for 2 rows"),
        (lambda _: Scores([float("nan"), 1]), "nonsense", "nan"),
        (lambda _: [1, 2], "nonsense", "score gave list, not Scores"),
        (lambda _: None, "nonsense", "score gave NoneType, not Scores"),
        (lambda _: Scores([1, 1], "native refuses"), "nonsense", "does not like it"),
    ],
)
def test_a_failure_is_reported_and_the_next_batch_is_asked(
    say: Callable[[Batch], Any], kind: str, words: str
) -> None:
    native = FakeDoors()

    def second_time(batch: Batch) -> Any:
        return say(batch) if batch.number == 1 else Scores([0, 0])

    with running("order", [Saying("p", second_time)], native) as heard:
        native.put(urls(1))
        reason = native.wait_for(1)
        assert isinstance(reason, str)
        assert words in reason
        assert native.kinds[1] == ("failed" if kind == "raised" else "nonsense")
        native.put(urls(2))
        assert native.wait_for(2) == {"score": [0.0, 0.0], "reason": [None, None]}
        (failure,) = heard.failures
        assert (failure.door, failure.policy, failure.kind) == ("order", "p", kind)
        assert words in failure.text
        assert ("Traceback" in failure.trace) == (kind == "raised")


def test_a_policy_that_hangs_is_reported_once_and_holds_up_nothing_else() -> None:
    native = FakeDoors(late={1})
    release = threading.Event()

    def hang(_batch: Batch) -> Scores:
        release.wait()
        return Scores([0, 0])

    with running("order", [Saying("slow", hang)], native, patience=0.05) as heard:
        native.put(urls(1))
        (failure,) = heard.wait_for(1)
        assert (failure.kind, failure.policy) == ("late", "slow")
        assert "0.05 s" in failure.text
        # It comes back at last: its answer does not count, and is not reported again.
        release.set()
        native.wait_until_done_with(1)
        assert len(heard.failures) == 1
        # A busy machine may be late once more with this one; its answer counts all the same.
        native.put(urls(2))
        assert isinstance(native.wait_for(2), dict)
    assert 1 not in native.answers


def test_a_door_closes_although_its_policy_hangs() -> None:
    native = FakeDoors()
    release = threading.Event()
    entered = threading.Event()

    def hang(_batch: Batch) -> Scores:
        entered.set()
        release.wait()
        return Scores([0, 0])

    with running("order", [Saying("slow", hang)], native):
        native.put(urls(1))
        assert entered.wait(30)
    release.set()


def test_threads_end_with_the_node() -> None:
    native = FakeDoors()
    before = set(threading.enumerate())
    with running("order", [Saying("p", lambda _: Scores([0, 0]))], native):
        begun = set(threading.enumerate()) - before
        assert {thread.name for thread in begun} == {"door-order", "door-watch"}
        native.closed = True
    assert not any(thread.is_alive() for thread in begun)


def test_without_policies_there_is_no_thread() -> None:
    before = set(threading.enumerate())
    doors = Doors(Policies(), CrawlSettings(), lambda _: None)
    doors.start(FakeDoors())
    assert set(threading.enumerate()) <= before
    doors.close()


def test_processors_are_chained_in_order() -> None:
    native = FakeDoors()
    first = Saying(
        "first",
        lambda _: PageDecisions(
            keep=[True, False], fields=[{"a": 1, "b": 1}, None], links=[["/x"], None], reason="one"
        ),
    )
    second = Saying(
        "second",
        lambda _: PageDecisions(
            keep=[None, True], fields=[{"b": 2}, {"c": 3}], links=[["/x", "/y"], ["/z"]],
            score=[0.5, None], reason=[None, "two"],
        ),
    )  # fmt: skip
    with running("pages", [first, second], native):
        native.put(urls(1, "pages"))
        assert native.wait_for(1) == {
            "keep": [True, False],
            "fields": ['{"a":1,"b":2}', '{"c":3}'],
            "links": [["/x", "/y"], ["/z"]],
            "score": [0.5, None],
            "reason": ["first: one", "first: one; second: two"],
        }


def test_no_page_is_judged_by_half_of_a_chain() -> None:
    native = FakeDoors()
    good = Saying("good", lambda _: PageDecisions(keep=[False, False]))
    with running("pages", [good, Saying("bad", _raises)], native) as heard:
        native.put(urls(1, "pages"))
        assert native.wait_for(1) == "bad raised: ZeroDivisionError: no way"
        (failure,) = heard.failures
        assert failure.policy == "bad"


def test_what_a_policy_leaves_out_is_left_out() -> None:
    native = FakeDoors()
    with running("hosts", [Saying("h", lambda _: HostDecisions(delay=[None, 3]))], native):
        native.put(urls(1, "hosts"))
        assert native.wait_for(1) == {"delay": [None, 3.0], "reason": [None, None]}
