"""A stream as the server in memory keeps it: numbered messages, each with a subject."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

OVERHEAD = 40
"""Bytes that a message takes beyond its subject and its content, about as in a real engine."""


@dataclass(frozen=True)
class Kept:
    sequence: int
    subject: str
    data: bytes
    time: float
    deleted: bool = False
    """A mark that a key of a bucket was deleted."""

    @property
    def size(self) -> int:
        return len(self.subject) + len(self.data) + OVERHEAD


def new_identity() -> int:
    return secrets.randbits(63) | 1


class NoRoomError(Exception):
    """The stream holds as much as it may."""


class KeptStream:
    """`most`: bytes. When there is no room the oldest messages go (`forgets`), or new ones are refused."""

    def __init__(self, *, most: int | None = None, forgets: bool = False, first: int = 1) -> None:
        self.most = most
        self.identity = new_identity()
        self._forgets = forgets
        self.messages: dict[int, Kept] = {}
        self.size = 0
        self.last = first - 1
        self.waiting: set[Callable[[], None]] = set()
        """Called when something was appended."""
        self._newest: dict[str, int] = {}
        self._keys: dict[str, tuple[float, int]] = {}

    @property
    def first(self) -> int:
        return next(iter(self.messages), self.last + 1)

    def append(self, subject: str, data: bytes, now: float, *, deleted: bool = False) -> int:
        message = Kept(self.last + 1, subject, data, now, deleted)
        if self.most is not None and self.size + message.size > self.most:
            if not self._forgets:
                raise NoRoomError
            while self.messages and self.size + message.size > self.most:
                self.remove(self.first)
        self.last = message.sequence
        self.messages[message.sequence] = message
        self.size += message.size
        self._newest[subject] = message.sequence
        for wake in list(self.waiting):
            wake()
        return message.sequence

    def append_once(self, subject: str, data: bytes, now: float, key: str, window: float) -> int:
        """Gives the earlier number if this key came within the window."""
        for old, (since, _number) in list(self._keys.items()):
            if now - since < window:
                break
            del self._keys[old]
        if key in self._keys:
            return self._keys[key][1]
        number = self.append(subject, data, now)
        self._keys[key] = (now, number)
        return number

    def newest(self, subject: str) -> Kept | None:
        return self.messages.get(self._newest.get(subject, 0))

    def remove(self, sequence: int) -> None:
        self.size -= self.messages.pop(sequence).size

    def subjects(self) -> dict[str, int]:
        """How many messages of each subject are kept."""
        found: dict[str, int] = {}
        for message in self.messages.values():
            found[message.subject] = found.get(message.subject, 0) + 1
        return found

    def lose_tail(self, count: int) -> None:
        """The last messages were acknowledged and are gone; their numbers are given out again."""
        for sequence in sorted(self.messages)[-count:]:
            self.remove(sequence)
            self.last = min(self.last, sequence - 1)
        self._newest = {message.subject: message.sequence for message in self.messages.values()}
        self._keys = {
            key: (since, number)
            for key, (since, number) in self._keys.items()
            if number <= self.last
        }
