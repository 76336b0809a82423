"""What was decided about hosts and URL patterns, as a node tells it: for events and for the log."""

from typing import NamedTuple, Protocol


class HostDecision(NamedTuple):
    """A decision that changed something."""

    host: str
    what: str
    reason: str

    @property
    def words(self) -> str:
        """One line for people."""
        of = f"{self.host}: " if self.host else ""
        why = f" ({self.reason})" if self.reason else ""
        return f"{of}{self.what}{why}"


class Deciding(Protocol):
    """What is needed of the native node."""

    def take_host_decisions(self) -> tuple[list[tuple[str, str, str]], int]: ...


def take_decisions(node: Deciding) -> list[HostDecision]:
    """Those since the last time. Too many to tell are one line that says how many."""
    rows, left_out = node.take_host_decisions()
    decisions = [HostDecision(*row) for row in rows]
    if left_out:
        decisions.append(
            HostDecision("", f"{left_out} more decisions about hosts and URL patterns", "")
        )
    return decisions
