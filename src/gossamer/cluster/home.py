"""A node's own directory: its identity, what must go when it is taken out, where snapshots are made.

    DIR/pid  DIR/identity.json  DIR/warc/  DIR/log/  DIR/state/  DIR/scratch/

Guarantees: an incarnation's state is never used under another incarnation's name. WARC and log files
stay for ever; each incarnation gives its own names to its files.
"""

import os
import secrets
import shutil
from pathlib import Path

import msgspec

from gossamer.disk import write_whole
from gossamer.errors import FileError, StateInUseError, UsageError


class _Identity(msgspec.Struct):
    node: str
    crawl: str
    incarnation: str


class Home:
    def __init__(self, directory: Path, node: str, crawl: str) -> None:
        self.directory = directory
        self.node = node
        self.crawl = crawl
        self.incarnation = ""

    @property
    def scratch(self) -> Path:
        return self.directory / "scratch"

    def open(self) -> None:
        """Reads who we are, or begins as somebody new."""
        if self.directory.exists() and not self.directory.is_dir():
            raise UsageError(f"{self.directory} is not a directory", do="choose another --out")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch.mkdir()
            file = self.directory / "identity.json"
            if not file.exists():
                self.renew()
                return
            known = msgspec.json.decode(file.read_bytes(), type=_Identity)
        except (OSError, msgspec.MsgspecError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FileError(f"cannot use {self.directory}: {reason}") from error
        if (known.node, known.crawl) != (self.node, self.crawl):
            raise StateInUseError(
                f"{self.directory} is of node {known.node} of crawl {known.crawl}, not of node "
                f"{self.node} of crawl {self.crawl}",
                do="choose another --out",
            )
        self.incarnation = known.incarnation

    def renew(self) -> None:
        """Somebody new, with nothing: the state first, then the name, so that they never mix."""
        state = self.directory / "state"
        if state.exists():
            # Renamed first: a state that is half removed must not be opened again.
            gone = self.directory / f"state.gone.{secrets.token_hex(4)}"
            state.rename(gone)
        for old in self.directory.glob("state.gone.*"):
            shutil.rmtree(old, ignore_errors=True)
        self.incarnation = secrets.token_hex(4)
        identity = _Identity(self.node, self.crawl, self.incarnation)
        write_whole(self.directory / "identity.json", msgspec.json.encode(identity))

    def write_pid(self) -> None:
        (self.directory / "pid").write_text(f"{os.getpid()}\n")
