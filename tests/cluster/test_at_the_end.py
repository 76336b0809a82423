"""The counters of a cluster that has ended: what is queued as its states say, what was done also of lost nodes."""

from typing import Any

from msgspec.structs import replace

from gossamer.cluster.summary import NOTHING, at_the_end, total
from gossamer.model.progress import Activity, Progress


def node(**given: Any) -> Progress:
    return replace(NOTHING, **given)


LAST = node(
    pages=30, visits=40, urls_seen=50, urls_queued=0, urls_set_aside=9, outcomes={"fetched": 30, "gone": 10}, seconds=8.0
)  # fmt: skip
"""With a node that was lost."""
STATES = [
    node(pages=10, visits=12, urls_seen=20, urls_queued=9, outcomes={"fetched": 10, "gone": 1}, seconds=7.0),
    node(pages=5, visits=6, urls_seen=30, outcomes={"fetched": 5, "dropped": 1}, seconds=9.0),
]  # fmt: skip


def test_the_queue_is_that_of_the_states_and_lost_nodes_count_for_what_they_did() -> None:
    told = at_the_end(LAST, STATES, every=True)
    assert (told.urls_queued, told.urls_set_aside, told.urls_seen) == (9, 0, 50)
    assert (told.pages, told.visits, told.seconds) == (30, 40, 9.0)
    assert told.outcomes == {"fetched": 30, "gone": 10, "dropped": 1}


def test_where_a_state_is_elsewhere_the_last_reading_tells_what_is_queued() -> None:
    told = at_the_end(LAST, STATES[:1], every=False)
    assert (told.urls_queued, told.urls_set_aside, told.urls_seen) == (0, 9, 50)


def test_the_slowest_batch_of_all_nodes_is_told_and_sums_of_it_are_not() -> None:
    nodes = [node(longest_batch=0.1), node(longest_batch=0.3)]
    assert total([(nodes[0], True), (nodes[1], False)], Activity.RUNNING).longest_batch == 0.3
    told = at_the_end(node(longest_batch=0.2), nodes[:1], every=True)
    assert told.longest_batch == 0.2
