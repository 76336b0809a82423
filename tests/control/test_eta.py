"""The time left: by the slowest host, or by the limit that comes first."""

from tests.cli.readings import host, progress

from gossamer.cli.activity import left_words
from gossamer.cli.pace import Target
from gossamer.cluster.summary import total
from gossamer.control.eta import time_left
from gossamer.model.progress import Activity

NO_LIMITS = Target(None, None)


def test_the_slowest_host_decides_however_fast_the_others_are() -> None:
    # 1 560 URLs of one host with a gap of a second, while others make 100 visits a second.
    now = progress(urls_queued=11_700, slowest=[host("slow.test", queued=1_560, left=1_560.0)])
    left, what = time_left(NO_LIMITS, now, pages=100.0, visits=100.0)
    assert left == 1_560.0
    assert what is not None
    assert "slow.test" in what


def test_many_fast_hosts_take_what_the_rate_says() -> None:
    now = progress(urls_queued=10_000, slowest=[host("a.test", queued=10, left=10.0)])
    left, what = time_left(NO_LIMITS, now, pages=100.0, visits=100.0)
    assert (left, what) == (100.0, "the queue, if no new URLs come")


def test_nothing_queued_or_nothing_known_is_no_time() -> None:
    assert time_left(NO_LIMITS, progress(), pages=0.0, visits=0.0) == (None, None)


def test_a_limit_that_comes_first_ends_it() -> None:
    now = progress(pages=50, seconds=10.0, slowest=[host("slow.test", queued=99, left=990.0)])
    assert time_left(Target(100, None), now, 5.0, 5.0) == (10.0, "limits.pages")
    assert time_left(Target(100, 15.0), now, 5.0, 5.0) == (5.0, "limits.time")


def test_only_a_limit_of_time_is_the_most() -> None:
    assert left_words(90, "limits.time") == "at most 1 min 30 s left"
    assert left_words(90, "the queue, if no new URLs come") == "at least 1 min 30 s left"
    assert left_words(None, None) == ""


def test_of_a_cluster_the_slowest_host_of_all_nodes() -> None:
    one = progress(slowest=[host("a.test", left=10.0)], busiest=[host("a.test", pages=7)])
    two = progress(slowest=[host("b.test", left=99.0)], busiest=[host("b.test", pages=3)])
    whole = total([(one, True), (two, True)], Activity.RUNNING)
    assert [one.host for one in whole.slowest] == ["b.test", "a.test"]
    assert [one.host for one in whole.busiest] == ["a.test", "b.test"]
