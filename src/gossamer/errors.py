"""Errors: what we do wrong, or what our own machine does to us. Never an outcome."""


class GossamerError(Exception):
    """The job itself failed; the message says what to do."""


class UsageError(GossamerError):
    """Wrong use or wrong settings; the message names what is wrong."""


class SettingsError(UsageError):
    """A setting is unknown, of the wrong type or out of range."""


class PolicyError(UsageError):
    """A policy is not installed, does not fit its door, or does not take its settings."""


class StateInUseError(UsageError):
    """The directory belongs to another crawl, or to one that is running."""


class DiskFullError(GossamerError):
    """There is no room left, where waiting for it is not possible."""


class EngineError(GossamerError):
    """The engine (NATS JetStream) did not do what was asked; the message says what and why."""


class EngineAwayError(EngineError):
    """No answer now: not connected, a server is changing, a time-out. Trying again may help."""


class NoResponderError(EngineAwayError):
    """The engine works, and nobody listens to what was asked."""


class EngineEmptyError(EngineError):
    """A bucket or stream of this crawl is not there: a new engine, or one whose disk was wiped."""


class EngineFullError(EngineError):
    """A stream holds as much as it may; nothing was taken."""


class EngineRefusedError(EngineError):
    """The engine knows us and does not permit this."""


class ConflictError(EngineError):
    """A compare-and-set came too late: somebody else changed the value first."""


class VersionError(UsageError):
    """Nodes of different versions of Gossamer cannot work on one crawl."""


class EvictedError(GossamerError):
    """A node was taken out of the crawl; it may join anew with an empty state."""


class SnapshotError(GossamerError):
    """A snapshot is missing, broken, or of another version; nothing was taken from it."""
