"""Score, kind, anchor text and the page's score of a link: between nodes, over a restart, in a hand-over."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.native.test_cluster_nodes import PARTITIONS, Cluster, Member, settings, web

from gossamer._native import Node, parse_page
from gossamer.simweb import SimWeb, truth

__all__ = ["web"]


def links(page: str) -> dict[str, str]:
    """The links of a page as they are written, with their texts; the first of each counts."""
    with urllib.request.urlopen(page) as answer:
        parsed = parse_page(answer.read(), url=page, content_type=answer.headers["Content-Type"])
    found: dict[str, str] = {}
    for _kind, target, _rel, anchor, _language in parsed.links:
        found.setdefault(target, anchor)
    return found


def queued(member: Member, url: str) -> dict[str, Any] | None:
    account = json.loads(member.node.why(url))
    place: dict[str, Any] | None = account["queued"]
    return place


def facts(member: Member, urls: list[str]) -> dict[str, tuple[object, ...]]:
    """What a node has queued of these."""
    rows = {url: queued(member, url) for url in urls}
    names = ("score", "kind", "anchor", "parent_score", "depth")
    return {url: tuple(row[name] for name in names) for url, row in rows.items() if row}


@pytest.mark.parametrize("known", [False, True])
def test_what_is_known_of_a_link_survives(tmp_path: Path, web: SimWeb, known: bool) -> None:
    cluster = Cluster(tmp_path)
    start = next(iter(truth(web.options).rows()))
    found = {url: text for url, text in links(web.url).items() if url.startswith("http")}
    elsewhere = [url for url in found if not url.startswith(web.url)]
    assert start.url == web.url
    assert elsewhere
    # The first node visits the start page; what it leads to elsewhere is queued by the second, which rests.
    one, two = cluster.join("one", known=known), cluster.join("two", known=known)
    two.node.set_paused(True)
    home = json.loads(one.node.why(web.url))["partition"]
    for number in range(PARTITIONS):
        (one if number == home else two).node.gain(number, 1)
    cluster.seed(web.url)
    cluster.until_pages(1)
    while not (kept := facts(two, elsewhere)):
        cluster.turn()
    score, kind, parent = 1 - 1 / 64, "a", 1.0
    for url, row in kept.items():
        anchor = found[url][:512] if known and found[url] else None
        assert row == (score, kind, anchor, parent if known else None, 1), url
    # A restart.
    two.node.checkpoint()
    two.node.close()
    two.node = Node(two.directory, settings("two", known=known))
    two.node.set_paused(True)
    two.generation = -1
    assert facts(two, elsewhere) == kept
    # A hand-over of everything to a third node.
    three = cluster.join("three", known=known)
    three.node.set_paused(True)
    for number in two.partitions():
        cluster.hand_over(number, two, three, 2)
    assert facts(three, elsewhere) == kept
    for member in cluster.members:
        member.node.close()
