"""Which commands a crawl has, and why one is not to be had now."""

from collections.abc import Callable, Mapping
from typing import Literal

from gossamer.control.schemas import Command, CommandInfo, EventKind
from gossamer.control.service import RefusedError

Wanted = Literal["run", "pause", "stop"]
"""What the operator asked for last."""

TOLD = {
    Command.PAUSE: EventKind.PAUSED,
    Command.RESUME: EventKind.RESUMED,
    Command.STOP: EventKind.STOPPED,
    Command.CHECKPOINT: EventKind.CHECKPOINT,
    Command.RERANK: EventKind.RERANK,
    Command.ADD_NODE: EventKind.CONTROL,
}
"""The kind of the event that tells of a command."""


class CommandList:
    def __init__(
        self, wanted: Callable[[], Wanted], never: Mapping[Command, str] | None = None
    ) -> None:
        """`never`: commands that such a crawl does not have, and why."""
        self._wanted = wanted
        self._never = never or {}

    def _why_not(self, command: Command) -> str | None:
        ending = "the crawl is about to end" if self._wanted() == "stop" else None
        return self._never.get(command, ending)

    def check(self, command: Command) -> None:
        """Refuses what is not to be had now."""
        reason = self._why_not(command)
        if reason is not None:
            raise RefusedError("not_available", reason)

    def _needless(self, command: Command) -> str | None:
        """Why it would change nothing. It is not offered; given all the same, it does no harm."""
        stands = {
            Command.PAUSE: ("pause", "the crawl is paused"),
            Command.RESUME: ("run", "the crawl runs"),
        }
        wanted, words = stands.get(command, (None, None))
        return words if wanted == self._wanted() else None

    def all(self) -> list[CommandInfo]:
        reasons = {
            command: self._why_not(command) or self._needless(command) for command in Command
        }
        return [
            CommandInfo(command=command, available=reason is None, reason=reason)
            for command, reason in reasons.items()
        ]
