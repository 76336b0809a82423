"""The control node's copy of what the engine holds: whole, and readable when it is older."""

from pathlib import Path

import msgspec

from gossamer.cluster.assignment import new_assignment
from gossamer.cluster.messages import Crawl, Pause
from gossamer.control.leader.backup import Backup


def test_nodes_that_are_held_back_are_in_the_copy(tmp_path: Path):
    crawl = Crawl(name="crawl", created=1.0, partitions=4, settings="{}")
    Backup(tmp_path).save(crawl, Pause(since=2.0), {"n2", "n1"}, [["http://a/"]], new_assignment(4))
    copied = Backup(tmp_path).load()
    assert copied is not None
    assert copied.held == ["n1", "n2"]
    assert copied.wanted == Pause(since=2.0)
    assert len(copied.assignment().rows) == 4
    # A copy of an earlier version names nobody.
    file = tmp_path / "map.json"
    older = msgspec.json.decode(file.read_bytes())
    del older["held"]
    file.write_bytes(msgspec.json.encode(older))
    copied = Backup(tmp_path).load()
    assert copied is not None
    assert copied.held == []
