"""The door `order`: which URL comes first.

Asked before fresh URLs are queued, in the batch of the page that led to them; on a re-rank with the
queue in slices. Answered: a score from 0 (last) to 1 (first). No answer in time: the formula of
`frontier.order`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gossamer.policy.answer import Reasons, numbers, reasons
from gossamer.policy.batch import Batch

COLUMNS: Final = (
    "url", "host", "depth", "from", "kind", "anchor", "parent_score", "dynamic", "seed", "sitemap",
    "native_score",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scores:
    """A score for each URL; None: the formula's."""

    score: Collection[float | None]
    reason: Reasons = None

    def columns(self, rows: int) -> dict[str, list[Any]]:
        return {
            "score": numbers("score", self.score, rows, most=1.0),
            "reason": reasons(self.reason, rows),
        }


class OrderPolicy(Protocol):
    """A policy that is called with fresh URLs."""

    name: str
    columns: Sequence[str]
    """Those of `COLUMNS` that it asks for."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """`settings`: the table `[policy.NAME]`; ValueError names what is wrong in it."""

    def score(self, batch: Batch) -> Scores: ...
