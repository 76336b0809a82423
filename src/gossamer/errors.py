"""Errors: what we do wrong, or what our own machine does to us. Never an outcome."""


class GossamerError(Exception):
    """The job itself failed; the message says what to do."""


class UsageError(GossamerError):
    """Wrong use or wrong settings; the message names what is wrong."""


class SettingsError(UsageError):
    """A setting is unknown, of the wrong type or out of range."""


class StateInUseError(UsageError):
    """The directory belongs to another crawl, or to one that is running."""


class DiskFullError(GossamerError):
    """There is no room left, where waiting for it is not possible."""
