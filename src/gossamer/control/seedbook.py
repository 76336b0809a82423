"""The book of seeds that were submitted to a running crawl, in a file of lines."""

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gossamer.control.journal import Journal
from gossamer.control.service import NotKnownError
from gossamer.control.shapes import (
    SeedFate,
    SeedResult,
    SeedSubmission,
    SubmissionFates,
    SubmissionPage,
)

SHOWN = 10
"""Seeds of each submission that a list shows."""


class SeedBook:
    """Submissions, numbered from 1."""

    def __init__(self, file: Path) -> None:
        self._journal = Journal(file, SeedSubmission, lambda submission: submission.id)
        self._keeping = threading.Lock()

    def open(self) -> None:
        self._journal.open()

    @property
    def newest(self) -> int:
        return self._journal.last

    def take(self, number: int, body: bytes) -> None:
        """A submission that was numbered elsewhere."""
        with contextlib.suppress(ValidationError):
            submission = SeedSubmission.model_validate_json(body)
            self._journal.append(submission.model_copy(update={"id": number}), flush=False)

    def set_aside(self) -> None:
        self._journal.set_aside()

    def keep(self, urls: list[str], reasons: list[str | None], who: str) -> SeedSubmission:
        """Notes what a submission came to, and numbers it."""
        submission = made(urls, reasons, who)
        with self._keeping:
            submission = submission.model_copy(update={"id": self._journal.last + 1})
            self._journal.append(submission)
        return submission

    def page(self, before: int | None, limit: int) -> SubmissionPage:
        found = self._journal.before(before, limit + 1)
        shown = [one.model_copy(update={"seeds": one.seeds[:SHOWN]}) for one in found[:limit]]
        return SubmissionPage(
            submissions=shown, next=shown[-1].id if shown and len(found) > limit else None
        )

    def get(self, number: int) -> SeedSubmission:
        submission = self._journal.get(number)
        if submission is None:
            raise NotKnownError("no_such_submission", f"there is no submission {number}")
        return submission


def made(urls: list[str], reasons: list[str | None], who: str) -> SeedSubmission:
    """What a submission came to, without a number."""
    seeds = [
        SeedResult(url=url, taken=reason is None, reason=reason)
        for url, reason in zip(urls, reasons, strict=True)
    ]
    taken = sum(seed.taken for seed in seeds)
    return SeedSubmission(
        id=0, time=round(time.time(), 3), who=who,
        taken=taken, refused=len(seeds) - taken, seeds=seeds,
    )  # fmt: skip


def fates(
    submission: SeedSubmission,
    offset: int,
    seeds: list[SeedResult],
    visits: list[dict[str, Any] | None],
) -> SubmissionFates:
    """What became of some seeds of a submission, given the last visit of each."""
    found = []
    for seed, visit in zip(seeds, visits, strict=True):
        visited = visit if seed.taken else None
        found.append(
            SeedFate(
                url=seed.url,
                taken=seed.taken,
                reason=seed.reason,
                queued=seed.taken and visited is None,
                outcome=visited["outcome"] if visited else None,
                status=visited["status"] if visited else None,
                time=visited["time"] if visited else None,
            )
        )
    end = offset + len(seeds)
    return SubmissionFates(
        id=submission.id,
        total=len(submission.seeds),
        fates=found,
        next=end if end < len(submission.seeds) else None,
    )
