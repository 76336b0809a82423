"""Submissions of seeds to a running crawl, numbered, in a file of lines."""

import asyncio
import contextlib
import threading
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gossamer.control.journal import Journal
from gossamer.control.replicated_logs import ReplicatedLogs
from gossamer.control.schemas import (
    SeedFate,
    SeedResult,
    SeedSubmission,
    SubmissionFates,
    SubmissionPage,
)
from gossamer.control.service import NotKnownError, UnreachableError
from gossamer.disk import write_whole

FIRST = 0
"""The number of what the crawl was begun with."""
MOST_FIRST = 10_000
SHOWN = 10
"""Seeds of each submission that a list shows."""


class Submissions:
    """Submissions, numbered from 1."""

    def __init__(self, file: Path, logs: ReplicatedLogs | None = None) -> None:
        """`logs`: who numbers submissions for all control nodes; None: we do."""
        self._journal = Journal(file, SeedSubmission, lambda submission: submission.id)
        self._first = file.with_name("first-seeds.json")
        self._keeping = threading.Lock()
        self._logs = logs

    def open(self) -> None:
        self._journal.open()

    @property
    def newest(self) -> int:
        return self._journal.last

    async def take(self, number: int, body: bytes) -> None:
        """A submission that was numbered elsewhere."""
        with contextlib.suppress(ValidationError):
            submission = SeedSubmission.model_validate_json(body)
            submission = submission.model_copy(update={"id": number})
            await asyncio.to_thread(self._journal.append, submission, flush=False)

    def set_aside(self) -> None:
        self._journal.set_aside()

    async def submit(self, urls: list[str], reasons: list[str | None], who: str) -> SeedSubmission:
        """Notes what a submission came to; gives it with the number that it has everywhere."""
        if self._logs is None:
            return await asyncio.to_thread(self.keep, urls, reasons, who)
        submission = made(urls, reasons, who)
        number = await self._logs.keep("submissions", submission.model_dump_json().encode())
        if number is None:
            words = "the seeds are taken, but the engine has not numbered this submission yet"
            raise UnreachableError("no_number", words, again=None)
        return submission.model_copy(update={"id": number})

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

    def keep_first(self, urls: list[str], reasons: list[str | None]) -> None:
        """Notes what the crawl is begun with, once."""
        if urls and not self._first.exists():
            submission = made(urls[:MOST_FIRST], reasons[:MOST_FIRST], "command line")
            write_whole(self._first, submission.model_dump_json().encode())

    def first(self) -> SeedSubmission:
        """What the crawl was begun with; nothing where an earlier version did not note it."""
        try:
            return SeedSubmission.model_validate_json(self._first.read_bytes())
        except (OSError, ValidationError):
            return made([], [], "command line")

    def get(self, number: int) -> SeedSubmission:
        if number == FIRST:
            return self.first()
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
