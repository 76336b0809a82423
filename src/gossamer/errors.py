"""Errors: what we do wrong, or what our own machine does to us. Never an outcome.

What happened and why is the message. What to do about it is said where the error is raised (`do`) or, for all errors of
a kind, by the class (`remedy`), which the command line says after the message. A test finds errors that have neither.
"""

from pathlib import Path
from typing import ClassVar, Self


class GossamerError(Exception):
    """The job itself failed."""

    remedy: ClassVar[str] = ""
    """What can be done about any error of this kind."""

    def __init__(self, what: str = "", *, do: str = "") -> None:
        """`what`: what happened and why. `do`: what can be done about it here, which is part of the message."""
        super().__init__(f"{what}; {do}" if do else what)
        self._says_what_to_do = bool(do)

    def in_words(self) -> str:
        """For people: what happened, why, and what to do."""
        remedy = "" if self._says_what_to_do else self.remedy
        return f"{self}; {remedy}" if remedy else str(self)


class UsageError(GossamerError):
    """Wrong use or wrong settings."""


class SettingsError(UsageError):
    """A setting is unknown, of the wrong type or out of range."""

    remedy: ClassVar[str] = (
        "`gossamer settings WORD` explains the settings that have to do with a word"
    )


class PolicyError(UsageError):
    """A policy is not installed, does not fit its door, or does not take its settings."""

    remedy: ClassVar[str] = "install the package that has it, or name another in [doors]"


class NoCrawlError(UsageError):
    """A directory holds no crawl, or not the part of it that is needed."""

    remedy: ClassVar[str] = "name the directory of a crawl: that which was its --out"

    @classmethod
    def at(cls, directory: Path, missing: str) -> Self:
        """`missing`: what it would have."""
        if not directory.exists():
            missing = "there is no such directory"
        elif not directory.is_dir():
            missing = "it is a file"
        return cls(f"{directory} holds no crawl: {missing}")


class StateInUseError(UsageError):
    """The directory belongs to another crawl, or to one that is running."""

    remedy: ClassVar[str] = "wait until it has ended, or end it"


class FileError(GossamerError):
    """A file or directory of ours cannot be read or written."""

    remedy: ClassVar[str] = (
        "check that the place is there, that you may use it, and that there is room"
    )


class BrokenStateError(GossamerError):
    """The state of a crawl cannot be opened, or be kept any longer."""

    remedy: ClassVar[str] = (
        "check the disk; `gossamer report`, `audit` and `export` read log and WARC files without the state"
    )


class DiskFullError(GossamerError):
    """There is no room left, where waiting for it is not possible."""

    remedy: ClassVar[str] = (
        "make room on the disk, then go on with --resume; nothing that was stored is lost"
    )


class EngineError(GossamerError):
    """The engine (NATS JetStream) did not do what was asked; the message says what and why."""

    remedy: ClassVar[str] = "look at the log of nats-server, and try again"


class EngineAwayError(EngineError):
    """No answer now: not connected, a server is changing, a time-out. Trying again may help."""

    remedy: ClassVar[str] = (
        "check that the engine runs and can be reached (--engine), and try again"
    )


class NoResponderError(EngineAwayError):
    """The engine works, and nobody listens to what was asked."""

    remedy: ClassVar[str] = "start a control node of this crawl (`gossamer control`), and try again"


class EngineEmptyError(EngineError):
    """A bucket or stream of this crawl is not there: a new engine, or one whose disk was wiped."""

    remedy: ClassVar[str] = (
        "start the control node of this crawl: it puts back what the engine lost"
    )


class EngineFullError(EngineError):
    """A stream holds as much as it may; nothing was taken."""

    remedy: ClassVar[str] = "raise cluster.links_bytes, or give the engine more room"


class EngineRefusedError(EngineError):
    """The engine knows us and does not permit this."""

    remedy: ClassVar[str] = (
        "check the credentials of the engine: cluster.token, cluster.credentials"
    )


class ConflictError(EngineError):
    """A compare-and-set came too late: somebody else changed the value first."""

    remedy: ClassVar[str] = "look at the value as it is now, and try again"


class VersionError(UsageError):
    """Nodes of different versions of Gossamer cannot work on one crawl."""

    remedy: ClassVar[str] = "install the same version on all machines of the crawl"


class EvictedError(GossamerError):
    """A node was taken out of the crawl; it may join anew with an empty state."""

    remedy: ClassVar[str] = "start the node again: it joins anew, and others have its partitions"


class SnapshotError(GossamerError):
    """A snapshot is missing, broken, or of another version; nothing was taken from it."""

    remedy: ClassVar[str] = "check the place of the snapshots: cluster.snapshots"
