"""URLs of a crawl that does not run: the owner of the host is asked, and a bounded part of each log is looked at.

`GET /log` with the URL goes on from there.
"""

from typing import Any, Final

import msgspec

from gossamer._native import canonical_url, host
from gossamer.control.archive.crawl import ArchivedCrawl
from gossamer.control.host_views import url_account
from gossamer.control.schemas import UrlAccount, VisitLine
from gossamer.control.stored_pages import name_stored
from gossamer.library import LogLine
from gossamer.library.log_search import Wanted, search_log
from gossamer.settings.url_rules import url_rules

SHOWN: Final = 20
LATER: Final = 0.001
"""Seconds by which a time of the log may be rounded otherwise than in the state."""


class Urls:
    def __init__(self, crawl: ArchivedCrawl) -> None:
        self._crawl = crawl

    def why(self, url: str, rules_version: int | None) -> UrlAccount:
        if not self._crawl.nodes:
            return self._of_log(url)
        node, account = self.ask(url)
        lines = self._visits(account["url"], account["last_visit"]) if "url" in account else []
        if node in (directories := self._crawl.directories()):
            name_stored(directories[node], account)
        return url_account(
            account,
            node=node,
            quota=self._crawl.settings.limits.pages_per_host,
            rules_version=rules_version,
            visits=[_row(line) for line in lines],
        )

    def last_visits(self, urls: list[str]) -> list[dict[str, Any] | None]:
        """What became of each URL; None: nothing is known."""
        found: list[dict[str, Any] | None] = [None] * len(urls)
        for node in self._crawl.nodes.values():
            told = msgspec.json.decode(node.last_visits(urls))
            found = [known or visit for known, visit in zip(found, told, strict=True)]
        return found

    def ask(self, url: str) -> tuple[str, dict[str, Any]]:
        """Every node is asked; the one that knows the host, or has visited the URL, answers."""
        told = [
            (name, msgspec.json.decode(node.why(url))) for name, node in self._crawl.nodes.items()
        ]
        knows = [one for one in told if one[1].get("host_state") or one[1].get("last_visit")]
        return (knows or told)[0]

    def _visits(self, url: str, last: dict[str, Any] | None) -> list[LogLine]:
        """The last ones, oldest first, as far as one look at each log finds them. `last`: the last one in the state."""
        # None is later than the last, so it need not be looked for at the end of the log.
        wanted = Wanted(url=url, until=last["time"] + LATER if last else None)
        lines = [
            line
            for directory in self._crawl.directories().values()
            for line in search_log(directory, wanted, None, SHOWN).lines
        ]
        return sorted(lines, key=lambda line: line.time)[-SHOWN:]

    def _of_log(self, url: str) -> UrlAccount:
        try:
            known = canonical_url(url, None, url_rules(self._crawl.settings))
        except ValueError as error:
            return UrlAccount(given=url, refused=str(error))
        lines = self._visits(known, None)
        return UrlAccount(
            given=url,
            url=known,
            host=host(known),
            # Without a state only a visit is proof.
            seen=True if lines else None,
            visits=[VisitLine.model_validate(_row(line)) for line in lines],
        )


def _row(line: LogLine) -> dict[str, object]:
    return {
        "time": line.time, "outcome": line.outcome, "status": line.status, "bytes": line.bytes,
        "ms": line.ms or 0.0, "ip": line.ip, "found_on": line.from_url, "reason": line.reason,
        "robots": line.robots, "left_out": line.left_out,
    }  # fmt: skip
