"""Several crawls in one place: the crawls of a folder, listed, and from a page started, stopped, opened and gone on with.

Takes: a folder, whose direct subfolders are directories of crawls. Nothing about them is kept anywhere else: what is
listed is what is there (`listing.py`). The page (`api.py`, over `service.py`) starts commands of ours as anybody would
(`starting.py`, `views.py`): each crawl is a process of its own and outlives the page.
"""
