"""What is known of a crawl that does not run, as the parts of its service take it."""

from dataclasses import dataclass
from pathlib import Path

from gossamer import _native
from gossamer.cluster.assignment import Assignment
from gossamer.control.leader.backup import Backup
from gossamer.control.running_crawl import NODE
from gossamer.errors import GossamerError
from gossamer.model.progress import Progress
from gossamer.report import Known, Visits
from gossamer.report.build import Ending, ending
from gossamer.settings import CrawlSettings


@dataclass(frozen=True)
class ArchivedCrawl:
    """`nodes`: those that could be opened, by name; none of a copy without `state/`."""

    known: Known
    visits: Visits
    nodes: dict[str, _native.Node]
    readings: dict[str, Progress]
    """The counters of these nodes."""

    @property
    def out(self) -> Path:
        return self.known.out

    @property
    def settings(self) -> CrawlSettings:
        return self.known.settings or CrawlSettings()

    @property
    def control(self) -> Path:
        return self.out / "control"

    @property
    def ending(self) -> Ending:
        """How it stands."""
        return ending(self.known)

    @property
    def read_only(self) -> str:
        """Why nothing can be changed, and what can be done instead."""
        if not self.nodes:
            return "this is a copy of a crawl's files without its state: it can be looked at, and nothing else"
        return f"the crawl does not run: its files are shown, and nothing can be changed; to go on with it: {self.known.resume}"

    def directories(self, *, first: str | None = None) -> dict[str, Path]:
        """Where the files of each node are, those of one node first."""
        if not self.known.cluster:
            return {NODE: self.out}
        names = sorted(place.name for place in (self.out / "nodes").iterdir() if place.is_dir())
        names.sort(key=lambda name: name != first)
        return {name: self.out / "nodes" / name for name in names}

    def assignment(self) -> Assignment | None:
        """Who owned what when a cluster ended."""
        try:
            backup = Backup(self.control).load() if self.known.cluster else None
            return None if backup is None else backup.assignment()
        except GossamerError:
            return None
