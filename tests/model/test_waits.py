"""Why hosts wait, in words, and over the nodes of a cluster."""

import msgspec

from gossamer.cluster.summary import NOTHING, total
from gossamer.model.progress import Activity, Progress
from gossamer.model.waits import Wait, in_words


def waiting(**waits: Wait) -> Progress:
    return msgspec.structs.replace(NOTHING, waits=waits)


def test_a_reason_names_who_is_first_and_when() -> None:
    wait = Wait(hosts=1, host="127.0.0.1:9", due=1060.0)
    (text,) = in_words({"connect_failed": wait}, 1000.0)
    assert text == "1 host waits: connect_failed; next try in 60 s (127.0.0.1:9)"
    wait = Wait(hosts=1200, host="a.example", due=1000.0 + 3600)
    (text,) = in_words({"throttled": wait}, 1000.0)
    assert text == "1200 hosts wait: throttled; next try in 60 min (a.example)"
    wait = Wait(hosts=2, host="a.example", due=999.0)
    assert in_words({"throttled": wait}, 1000.0) == [
        "2 hosts wait: throttled; next try now (a.example)"
    ]


def test_most_hosts_come_first_and_few_reasons_are_named() -> None:
    waits = {
        f"reason_{number}": Wait(hosts=number, host="a.example", due=1005.0)
        for number in range(1, 6)
    }
    texts = in_words(waits, 1000.0, most=2)
    assert [text.split(";")[0] for text in texts] == [
        "5 hosts wait: reason_5",
        "4 hosts wait: reason_4",
        "6 more hosts wait for 3 other reasons",
    ]
    assert in_words({}, 1000.0) == []


def test_nodes_are_added_and_the_first_of_all_is_named() -> None:
    here = waiting(
        throttled=Wait(hosts=2, host="a.example", due=50.0),
        timed_out=Wait(hosts=1, host="b.example", due=60.0),
    )
    there = waiting(throttled=Wait(hosts=3, host="c.example", due=40.0))
    gone = waiting(throttled=Wait(hosts=9, host="d.example", due=1.0))
    found = total([(here, True), (there, True), (gone, False)], Activity.RUNNING)
    assert found.waits == {
        "throttled": Wait(hosts=5, host="c.example", due=40.0),
        "timed_out": Wait(hosts=1, host="b.example", due=60.0),
    }


def test_a_node_of_an_older_version_says_nothing_of_it() -> None:
    old = msgspec.to_builtins(NOTHING)
    del old["waits"]
    assert msgspec.convert(old, Progress).waits == {}
