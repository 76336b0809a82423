"""A declared order reaches the native side with all that it says."""

import json
from pathlib import Path

import pytest
from tests.native.doors import page, settings, site

from gossamer import Formula
from gossamer._native import Node

PAGES = {
    "/": page("/a") + "<iframe src=/frame></iframe>" + page("/b"),
    "/a": page(), "/b": page(), "/frame": page(),
}  # fmt: skip


def declared(formula: Formula) -> str:
    values = json.loads(settings({}))
    values["frontier"]["order"] = formula.to_native()
    return json.dumps(values)


@pytest.mark.parametrize(("weight", "place"), [(0.4, 0), (-0.4, 2)])
def test_the_kind_of_a_link_counts(tmp_path: Path, weight: float, place: int) -> None:
    with site(PAGES) as web:
        node = Node(tmp_path, declared(Formula(base=0.5, kinds={"iframe": weight})))
        node.add_seeds([web.url + "/"])
        while json.loads(node.step(0.05))["activity"] != "finished":
            pass
        node.close()
    visited = [path for path in web.requests if path in PAGES and path != "/"]
    assert visited.index("/frame") == place


def test_a_kind_that_is_not_known_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"order\.kinds: cannot use nose"):
        Node(tmp_path, declared(Formula(base=0.5, kinds={"nose": 1.0})))
