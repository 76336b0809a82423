"""Every answer is checked before the native side gets it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.policy.batches import Rows

from gossamer.policy import HostDecisions, NextVisits, PageDecisions, Scores
from gossamer.policy.answer import REASON_LENGTH, NonsenseError
from gossamer.policy.ask import ask


def test_what_a_policy_may_say() -> None:
    assert Scores([0, 1.0, None], "near").columns(3) == {
        "score": [0.0, 1.0, None],
        "reason": ["near"] * 3,
    }
    assert Scores(np.array([0.25, 0.5])).columns(2)["score"] == [0.25, 0.5]
    assert NextVisits([0, 5, None], ["a", None, "b"]).columns(3) == {
        "next_visit": [0, 5, None],
        "reason": ["a", None, "b"],
    }
    assert HostDecisions(delay=[2], give_up=np.array([True])).columns(1) == {
        "delay": [2.0],
        "give_up": [True],
        "reason": [None],
    }
    assert PageDecisions(
        keep=[True, None], fields=[{"a": [1]}, None], links=[["/x"], None], score=[None, 1]
    ).columns(2) == {
        "keep": [True, None],
        "fields": [{"a": [1]}, None],
        "links": [["/x"], None],
        "score": [None, 1.0],
        "reason": [None, None],
    }


def test_arrays_of_pyarrow_are_answers() -> None:
    truth, texts = pa.array([True, None, False]), pa.array(["a", None, "c"])
    assert Scores(pa.array([0.25, None, 1.0]), texts).columns(3) == {
        "score": [0.25, None, 1.0],
        "reason": ["a", None, "c"],
    }
    assert Scores(pa.chunked_array([[0.25], [0.5]])).columns(2)["score"] == [0.25, 0.5]
    assert NextVisits(pa.array([0, 5, None])).columns(3)["next_visit"] == [0, 5, None]
    fields = pa.array([{"a": 1}, None, {"a": 2}])
    links = pa.array([["/x", "/y"], [], None])
    found = PageDecisions(keep=truth, fields=fields, links=links, reason=pa.scalar("b")).columns(3)
    assert found == {
        "keep": [True, None, False],
        "fields": [{"a": 1}, None, {"a": 2}],
        "links": [["/x", "/y"], [], None],
        "reason": ["b", "b", "b"],
    }
    # And what is taken out of one, value by value.
    assert Scores(list(pa.array([0.25, None]))).columns(2)["score"] == [0.25, None]
    assert PageDecisions(keep=list(truth)).columns(3)["keep"] == [True, None, False]


def test_arrays_of_numpy_are_answers() -> None:
    assert Scores(np.array([0.25, 0.5], dtype=np.float32)).columns(2)["score"] == [0.25, 0.5]
    assert NextVisits(np.array([0, 5], dtype=np.uint64)).columns(2)["next_visit"] == [0, 5]
    links = [np.array(["/x", "/y"]), None]
    fields = [{"a": np.float32(0.5), "b": np.arange(2)}, None]
    found = PageDecisions(
        keep=np.array([True, False]), links=links, fields=fields, reason=np.array(["a", "b"])
    ).columns(2)
    assert found["keep"] == [True, False]
    assert found["links"] == [["/x", "/y"], None]
    assert found["reason"] == ["a", "b"]
    rows = Rows("pages", {"url": ["http://a/", "http://b/"]}, 1)
    answered = ask(rows, [Answering(PageDecisions(fields=fields))])
    assert answered["fields"] == ['{"a":0.5,"b":[0,1]}', None]


class Answering:
    name = "answering"

    def __init__(self, answer: PageDecisions) -> None:
        self.process = lambda _: answer


def test_good_numbers_are_handed_on_as_they_are() -> None:
    scores = [0.0, 0.25, 1.0]
    assert Scores(scores).columns(3)["score"] is scores


def test_a_long_reason_is_cut() -> None:
    assert Scores([1], "x" * 1000).columns(1)["reason"] == ["x" * REASON_LENGTH]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda: Scores([0.5]).columns(2), "score: 1 values for 2 rows"),
        (lambda: Scores([float("nan")] * 2).columns(2), "score: nan"),
        (lambda: Scores([float("inf")] * 2).columns(2), "score: inf"),
        (lambda: Scores([1.5, 0]).columns(2), "score: 1.5 is not from 0 to 1"),
        (lambda: Scores([-0.1, 0]).columns(2), "score: -0.1 is not from 0 to 1"),
        (lambda: Scores(["1", 0]).columns(2), "score: a number expected, not '1'"),  # type: ignore[list-item]
        (lambda: Scores([True, 0]).columns(2), "score: a number expected, not True"),
        (lambda: Scores("ab").columns(2), "score: a list with a value per row"),  # type: ignore[arg-type]
        (lambda: Scores(0.5).columns(2), "score: a list with a value per row"),  # type: ignore[arg-type]
        (lambda: Scores([0, 0], ["one"]).columns(2), "reason: 1 values for 2 rows"),
        (lambda: Scores(pa.array(["a", "b"])).columns(2), "score: a number expected, not 'a'"),
        (lambda: Scores(np.array(0.5)).columns(2), "score: a list with a value per row"),
        (lambda: PageDecisions(links=[5, None]).columns(2), "links: a list of texts"),  # type: ignore[list-item]
        (lambda: PageDecisions(fields=[{"a": {1j}}, None]).columns(2), "cannot be written as JSON"),
        (lambda: Scores([0, 0], [1, 2]).columns(2), "reason: a text expected"),  # type: ignore[list-item]
        (lambda: NextVisits([1.5, 0]).columns(2), "next_visit: a whole number"),  # type: ignore[list-item]
        (lambda: NextVisits([-1, 0]).columns(2), "next_visit: -1"),
        (lambda: NextVisits([2**63, 0]).columns(2), "next_visit: "),
        (lambda: PageDecisions(keep=[1, 0]).columns(2), "keep: true or false"),  # type: ignore[list-item]
        (lambda: PageDecisions(fields=[{1: 2}, None]).columns(2), "fields: a table"),  # type: ignore[dict-item]
        (lambda: PageDecisions(fields=[{"a": object()}, None]).columns(2), "fields: cannot"),
        (lambda: PageDecisions(fields=[{"a": "x" * 2**21}, None]).columns(2), "bytes of JSON"),
        (lambda: PageDecisions(links=["/x", None]).columns(2), "links: a list of texts"),
        (lambda: PageDecisions(links=[["/x"] * 20_000, None]).columns(2), "links: 20000"),
        (lambda: HostDecisions(budget=[-1, 0]).columns(2), "budget: -1"),
        (lambda: HostDecisions(delay=[1e12, 0]).columns(2), "delay: 1e\\+12"),
        (lambda: HostDecisions(give_up=["yes", None]).columns(2), "give_up: true"),  # type: ignore[list-item]
    ],
)  # fmt: skip
def test_nonsense_is_named(answer: Callable[[], Any], words: str) -> None:
    with pytest.raises(NonsenseError, match=words):
        answer()
