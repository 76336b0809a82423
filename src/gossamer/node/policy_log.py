"""Failures of policies in the log: the first of each kind with its trace, repeats as a count."""

import logging
import threading
import time
from typing import Final

from gossamer.policy.ask import Failure

AGAIN: Final = 60.0
"""Seconds after which a failure that goes on is named again."""

_log = logging.getLogger("gossamer.policy")


class PolicyLog:
    """Called from the threads of the doors."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str, str], tuple[float, int]] = {}

    def __call__(self, failure: Failure) -> None:
        key = (failure.door, failure.policy, failure.kind)
        now = time.monotonic()
        with self._lock:
            is_new = key not in self._seen
            told, count = self._seen.get(key, (-AGAIN, 0))
            if now - told < AGAIN:
                self._seen[key] = (told, count + 1)
                return
            self._seen[key] = (now, 0)
        more = f" ({count} times more since the last line)" if count else ""
        trace = f"\n{failure.trace}" if is_new and failure.trace else ""
        _log.warning(
            "policy of %s failed: %s%s; the crawl goes on as without it%s",
            failure.door,
            failure,
            more,
            trace,
        )
