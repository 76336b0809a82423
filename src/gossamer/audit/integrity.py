"""Integrity over the whole crawl: no page twice, no revisit without its original.

Kept in memory: eight bytes per page, eight per response record, sixteen per revisit record.
"""

import hashlib
from array import array
from collections.abc import Iterable

import numpy as np

from gossamer.audit.records import Facts
from gossamer.audit.report import Report

WHOLE = {"fetched", "truncated"}
"""Outcomes of visits that stored a page of their own: once in a crawl."""


def number(*texts: str) -> int:
    """64 bits that stand for texts."""
    joined = "\n".join(texts).encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest())


class Once:
    """Finds texts that were added more than once."""

    def __init__(self) -> None:
        self._numbers = array("Q")

    def add(self, url: str) -> None:
        self._numbers.append(number(url))

    def repeated(self) -> set[int]:
        if len(self._numbers) < 2:
            return set()
        ordered = np.sort(np.frombuffer(self._numbers, dtype=np.uint64))
        return {int(value) for value in np.unique(ordered[1:][ordered[1:] == ordered[:-1]])}


class Originals:
    """Whether every revisit refers to a response that is there, with the digest it names."""

    def __init__(self) -> None:
        self._stored = array("Q")
        self._wanted = array("Q")
        self._where: list[tuple[str, str]] = []

    def add(self, facts: Facts) -> None:
        digest = facts.digest or ""
        if facts.kind == "response":
            self._stored.append(number(facts.uri, facts.date, digest))
        elif facts.refers_to is None:
            self._wanted.append(0)
            self._where.append((facts.where, facts.uri))
        elif facts.status != 304:
            self._wanted.append(number(*facts.refers_to, digest))
            self._where.append((facts.where, f"{facts.uri}, as {facts.refers_to[0]}"))

    def report(self, report: Report) -> None:
        if not self._wanted:
            return
        stored = np.frombuffer(self._stored, dtype=np.uint64) if self._stored else np.array([])
        there: Iterable[bool] = np.isin(np.frombuffer(self._wanted, dtype=np.uint64), stored)
        for found, (where, text) in zip(there, self._where, strict=True):
            if not found:
                report.violation("revisit", where, text)
