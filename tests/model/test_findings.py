"""Findings of a node are those of the host that was asked for, however its name is spelt."""

import json

from gossamer.model.findings import ALL, findings


class Node:
    """Knows two hosts, the second with more findings than are listed."""

    def host(self, name: str) -> str | None:
        name = name.lower()
        return json.dumps({"name": name}) if name in {"a.test", "b.test"} else None

    def doubted_patterns(self, most: int, host: str | None = None) -> str:
        row: dict[str, object] = {"host": host, "pattern": "/*", "reason": "copies"}
        row |= {"evidence": None, "visits": 9, "set_aside": 1, "taken_up": False}
        return json.dumps({"patterns": [row][:most], "total": 1})

    def learnt_parameters(self, most: int) -> str:
        hosts = ["a.test"] * 50 + ["b.test"] * 2
        row = {"parameter": "ref", "place": "**", "state": "learnt", "evidence": "the same"}
        return json.dumps([row | {"host": host} for host in hosts[:most]])


def test_the_host_is_found_by_any_spelling_and_behind_others() -> None:
    found = findings(Node(), 10, "B.test")
    assert [row.host for row in found.patterns] == ["b.test"]
    assert [row.host for row in found.parameters] == ["b.test"] * 2
    assert ALL > 52


def test_so_many_are_listed() -> None:
    assert len(findings(Node(), 10).parameters) == 10
    assert len(findings(Node(), 10, "a.test").parameters) == 10


def test_a_host_that_is_not_known_has_none() -> None:
    found = findings(Node(), 10, "c.test")
    assert (found.patterns, found.total, found.parameters) == ([], 0, [])
