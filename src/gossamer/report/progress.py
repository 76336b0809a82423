"""The counters of a crawl without its state, from the log alone."""

from gossamer.model.progress import Activity, Progress
from gossamer.report.visits import Visits


def progress_of(visits: Visits) -> Progress:
    """What is queued, only a state knows; the time worked is taken as that from the first line to the last."""
    return Progress(
        activity=Activity.UNKNOWN,
        pages=visits.pages,
        pages_dropped=visits.pages_dropped,
        bytes=visits.bytes,
        urls_seen=0,
        urls_queued=0,
        visits=visits.visits,
        in_flight=0,
        hosts_known=len(visits.hosts),
        hosts_active=0,
        hosts_waiting=0,
        hosts_set_aside=0,
        outcomes=dict(visits.outcomes),
        robots_files=dict(visits.counts.robots_files),
        sitemaps=dict(visits.counts.sitemaps),
        probes=dict(visits.counts.probes),
        unvisited=dict(visits.counts.unvisited),
        rss=0,
        disk=0,
        seconds=(visits.ended or 0.0) - (visits.began or 0.0),
        links_left_out=dict(visits.left_out),
        robots_said=dict(visits.robots_said),
        soft_404s=visits.soft_404s,
        urls_set_aside=visits.outcomes["set_aside"],
    )
