"""Every bucket, stream and subject in the engine, with its four facts.

All names begin with the crawl's name, so that several crawls can share an engine.
"""

import re
from dataclasses import dataclass

from gossamer.errors import SettingsError

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Facts:
    """What every queue must be able to say of itself."""

    filled_by: str
    emptied_by: str
    bound: str
    when_full: str


FACTS: dict[str, Facts] = {
    "bucket map": Facts(
        filled_by="the leading control node, and a node that ends a hand-over (compare-and-set)",
        emptied_by="nobody; one key, whose last value counts",
        bound="one value of at most 12 bytes per partition",
        when_full="cannot be",
    ),
    "bucket nodes": Facts(
        filled_by="each node its own key, every third of a lease; the control node that takes it out",
        emptied_by="the control node, a day after a node was taken out",
        bound="one value of at most 1 KiB per node",
        when_full="cannot be",
    ),
    "bucket crawl": Facts(
        filled_by="the leading control node: settings, wanted state, roots, its own lease; every "
        "control node: its line in the list of them, every third of a lease",
        emptied_by="nobody; the last value of a key counts",
        bound="one value per key, at most 512 KiB; roots in parts",
        when_full="cannot be",
    ),
    "stream links": Facts(
        filled_by="nodes (links to partitions of others) and the control node (seeds)",
        emptied_by="the owner of a partition, up to the position of its last snapshot",
        bound="cluster.links_bytes",
        when_full="refuses; senders keep their links and begin no new visits past cluster.backlog",
    ),
    "stream record.KIND": Facts(
        filled_by="the control nodes, each from its own file of what is not sent yet",
        emptied_by="nobody; every control node reads all of it into its own files",
        bound="events 32 MiB, submissions 64 MiB, audit 64 MiB",
        when_full="the oldest records go; the control nodes' files still have them",
    ),
    "subject status.NODE": Facts(
        filled_by="each node, twice a second",
        emptied_by="whoever listens; not kept",
        bound="the newest per node",
        when_full="older ones are overwritten",
    ),
    "subject recorded": Facts(
        filled_by="a control node, when the engine has kept a record of it",
        emptied_by="the control nodes: a hint to read; not kept",
        bound="none needed: one for each record",
        when_full="cannot be; who misses it reads a second later",
    ),
    "subject summary": Facts(
        filled_by="the leading control node, twice a second",
        emptied_by="whoever listens; not kept",
        bound="the newest",
        when_full="older ones are overwritten",
    ),
    "subject event.NODE": Facts(
        filled_by="each node, when something happened to it",
        emptied_by="the control nodes; not kept",
        bound="none needed: a handful an hour",
        when_full="cannot be; nothing depends on an event",
    ),
    "subject node.NODE": Facts(
        filled_by="the control node and commands: questions to one node",
        emptied_by="that node, which answers each",
        bound="one question at a time per asker",
        when_full="the asker's time-out, and a clear error",
    ),
    "subject control": Facts(
        filled_by="commands: questions to the leading control node",
        emptied_by="the leading control node, which answers each",
        bound="one question at a time per asker",
        when_full="the asker's time-out, and a clear error",
    ),
    "subject launcher": Facts(
        filled_by="the control node: start another crawl node",
        emptied_by="`gossamer cluster`, which has the processes of one machine",
        bound="one request at a time per asker",
        when_full="the asker's time-out, and a clear error",
    ),
    "subject grants.NODE": Facts(
        filled_by="nodes that wait for an address, or use it; a batch at a time",
        emptied_by="the node that owns the home of these addresses, which answers each batch",
        bound="one batch under way per asker and home",
        when_full="the asker's time-out; it asks again, and visits nothing meanwhile",
    ),
}


@dataclass(frozen=True)
class Names:
    """The names of one crawl's parts."""

    crawl: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.crawl):
            raise SettingsError(
                f"cluster.name: letters, digits, - and _ make a name; got {self.crawl!r}"
            )

    @property
    def map_bucket(self) -> str:
        return f"{self.crawl}_map"

    @property
    def nodes_bucket(self) -> str:
        return f"{self.crawl}_nodes"

    @property
    def crawl_bucket(self) -> str:
        return f"{self.crawl}_crawl"

    @property
    def links_stream(self) -> str:
        return f"{self.crawl}_links"

    def links(self, partition: int | str) -> str:
        return f"{self.crawl}.links.{partition}"

    def record_stream(self, kind: str) -> str:
        return f"{self.crawl}_{kind}"

    def record(self, kind: str) -> str:
        return f"{self.crawl}.record.{kind}"

    @property
    def recorded(self) -> str:
        return f"{self.crawl}.recorded"

    def status(self, node: str) -> str:
        return f"{self.crawl}.status.{node}"

    def event(self, node: str) -> str:
        return f"{self.crawl}.event.{node}"

    def node(self, node: str) -> str:
        return f"{self.crawl}.node.{node}"

    def grants(self, node: str) -> str:
        return f"{self.crawl}.grants.{node}"

    @property
    def control(self) -> str:
        return f"{self.crawl}.control"

    @property
    def launcher(self) -> str:
        return f"{self.crawl}.launcher"

    @property
    def summary(self) -> str:
        return f"{self.crawl}.summary"


def check_node_name(name: str) -> str:
    """A node's name is part of subjects, keys and file names."""
    if not _NAME.fullmatch(name):
        raise SettingsError(f"node name: letters, digits, - and _ make a name; got {name!r}")
    return name
