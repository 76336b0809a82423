"""The fetch log of a crawl that does not run, of all its nodes, and the pages that its files hold."""

from gossamer.control.archive.crawl import ArchivedCrawl
from gossamer.control.archive.urls import Urls
from gossamer.control.schemas import StoredPage, VisitPage, VisitQuery
from gossamer.control.service import NotKnownError
from gossamer.control.stored_pages import stored_page, stored_place
from gossamer.control.visit_pages import read_cursor, visit_page, wanted
from gossamer.library.log_search import search_log
from gossamer.library.stored_text import stored_text


class FetchLog:
    def __init__(self, crawl: ArchivedCrawl, urls: Urls) -> None:
        self._crawl = crawl
        self._urls = urls

    def visits(self, query: VisitQuery) -> VisitPage:
        before, asked = read_cursor(query.cursor), wanted(query)
        looks = {}
        for node, directory in self._crawl.directories().items():
            place = before.get(node) if before else None
            # A log that was read to its beginning is not begun anew.
            if not before or node not in before or place is not None:
                looks[node] = search_log(directory, asked, place, query.limit)
        return visit_page(looks, before, query.limit)

    def stored_page(self, url: str) -> StoredPage:
        if not self._crawl.nodes:
            raise NotKnownError(
                "no_state",
                "this is a copy without `state/`, which knows where pages are; `gossamer export` reads them all",
            )
        node, account = self._urls.ask(url)
        serial, offset = stored_place(account)
        # A partition may have moved: its page stays in the files of the node that visited it.
        for directory in self._crawl.directories(first=node).values():
            text = stored_text(directory, account["url"], serial, offset)
            if text is not None:
                return stored_page(account["url"], node, text)
        return stored_page(account["url"], node, None)
