"""The report put together: the log's counts, the state's where it can be had, the settings, and the words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

import gossamer
from gossamer.counts import beside_pages, visits_to_pages
from gossamer.library.runs import FAILED, KILLED, Run
from gossamer.limits import Limit, reached
from gossamer.model.progress import Activity, Progress
from gossamer.policy.hosts.outcomes import FORMER, REACTIONS, Group, group
from gossamer.policy.hosts.outcomes import meaning as _meaning
from gossamer.report.content import OTHERS as COUNTED_AS
from gossamer.report.content import Content
from gossamer.report.hosts import HostTally
from gossamer.report.model import HostLine, NotFetched, Refusal, Report, Series, Setting
from gossamer.report.no_robots import NoRobots
from gossamer.report.visits import OTHERS, Visits
from gossamer.settings import CrawlSettings
from gossamer.settings.rows import rows
from gossamer.settings.table import shown
from gossamer.words import command, count, counted, counted_are, with_directory

HOSTS: Final = 10
"""Hosts in each list."""
STEPS: Final = 240
REFUSALS: Final = 20
LONG_VALUE: Final = 200


class Known(msgspec.Struct, frozen=True):
    """What is known of a crawl beside its log."""

    out: Path
    cluster: bool
    running: bool
    settings: CrawlSettings | None
    progress: Progress | None
    """Counters of its state, all nodes together; None: there is no state, or it cannot be asked."""
    resume: str
    """The command that goes on with it."""
    notes: list[str] = []
    runs: list[Run] = []
    """First first; none of a crawl that was made before runs were written down."""


def build(
    known: Known, visits: Visits, content: Content | None, silent: Sequence[NoRobots] = ()
) -> Report:
    """`silent`: hosts with URLs queued that gave no robots file."""
    progress = known.progress
    state, words = ending(known)
    return Report(
        directory=str(known.out),
        mode="cluster" if known.cluster else "standalone",
        nodes=sorted(visits.nodes),
        state=state.value,
        state_words=words,
        go_on=go_on_with(known),
        began=visits.began,
        ended=visits.ended,
        seconds=round(progress.seconds, 3) if progress else None,
        runs=known.runs,
        lines=visits.lines,
        visits=visits.visits,
        # One count everywhere: the state's own, unless the log has gone on since it was asked.
        pages=progress.pages if progress and not known.running else visits.pages,
        pages_dropped=visits.pages_dropped,
        bytes=visits.bytes,
        hosts=progress.hosts_known if progress else len(visits.hosts),
        hosts_cut=visits.hosts.cut,
        urls_seen=progress.urls_seen if progress else None,
        urls_queued=progress.urls_queued if progress else None,
        urls_set_aside=progress.urls_set_aside if progress else visits.outcomes["set_aside"],
        aliases=progress.hosts_aliases if progress else None,
        outcomes=dict(visits.outcomes.most_common()),
        robots_files=dict(visits.counts.robots_files),
        sitemaps=dict(visits.counts.sitemaps),
        probes=dict(visits.counts.probes),
        unvisited=dict(visits.counts.unvisited),
        statuses={str(name): many for name, many in sorted(visits.statuses.items())},
        depths={str(name): many for name, many in sorted(visits.depths.items())},
        refusals=_refusals(visits),
        not_fetched=_not_fetched(known, visits, state, silent),
        links_left_out=dict(visits.left_out.most_common()),
        robots_said=dict(visits.robots_said),
        soft_404s=visits.soft_404s,
        duplicates=visits_to_pages(visits.counts, "duplicate"),
        duplicate_bytes=visits.duplicate_bytes,
        timeline=series(visits),
        busiest_hosts=[_host(row) for row in visits.hosts.busiest(HOSTS)],
        worst_hosts=[_host(row) for row in visits.hosts.worst(HOSTS)],
        slowest_hosts=[_host(row) for row in visits.hosts.slowest(HOSTS)],
        largest_hosts=[_host(row) for row in visits.hosts.largest(HOSTS)],
        content=content,
        settings=_settings(known.settings),
        settings_known=known.settings is not None,
        notes=[*known.notes, *_notes(visits, content, known.out)],
        version=gossamer.__version__,
    )


class Ending(NamedTuple):
    """How a crawl stands, for programs and for people."""

    state: Activity
    words: str


def ending(known: Known) -> Ending:
    progress = known.progress
    if known.running:
        return Ending(Activity.RUNNING, "It is running: these are the figures so far.")
    if progress is None:
        words = "There is no state/ in this directory, so what was still queued is not known."
        return Ending(Activity.UNKNOWN, words)
    if not progress.urls_queued:
        had = progress.pages + progress.pages_dropped + progress.outcomes.get("not_modified", 0)
        words = (
            "It is finished: nothing was left to crawl."
            if had
            else "It is finished, and no page could be had."
        )
        return Ending(Activity.FINISHED, words)
    queued = f"{counted_are(progress.urls_queued, 'URL')} still queued"
    limit = _reached(known)
    if limit is None:
        return Ending(Activity.STOPPED, f"{_stopped(known)}; {queued}.")
    return Ending(Activity.LIMIT_REACHED, f"It ended at its limit of {limit.words}; {queued}.")


def _stopped(known: Known) -> str:
    """Why it has not come to its end, as far as its last run tells."""
    last = known.runs[-1].state if known.runs else None
    told = {KILLED: "It was killed", FAILED: "It failed", Activity.STOPPED: "It was stopped"}
    return told.get(last or "", "It was stopped, or ended by itself before it was done")


def _reached(known: Known) -> Limit | None:
    if known.progress is None:
        return None
    return reached((known.settings or CrawlSettings()).limits, known.progress)


def go_on_with(known: Known) -> str | None:
    """The command that goes on with the crawl; None: it runs, nothing is left, or there is no state to go on with."""
    done = {Activity.FINISHED, Activity.RUNNING, Activity.UNKNOWN}
    return None if ending(known).state in done else resume_of(known)


def resume_of(known: Known) -> str:
    """The command that goes on, with a higher limit where one ended the crawl."""
    limit = _reached(known)
    return f"{known.resume} {limit.option}" if limit else known.resume


def series(visits: Visits, most: int = STEPS) -> Series:
    width, steps = visits.timeline.steps(most)
    groups = {wanted: [0] * len(steps) for wanted in Group}
    for place, (_, step) in enumerate(steps):
        for name, many in step.outcomes.items():
            groups[group_of(name)][place] += many
    return Series(
        step=width,
        times=[moment for moment, _ in steps],
        pages=[step.pages for _, step in steps],
        bytes=[step.bytes for _, step in steps],
        done=groups[Group.DONE],
        refused=groups[Group.REFUSED],
        failed=groups[Group.FAILED],
    )


def meaning(outcome: str) -> str:
    """For people, also of an outcome that this version does not know."""
    known = outcome in REACTIONS or outcome in FORMER
    return _meaning(outcome) if known else "an outcome of another version"


def outcome_words(report: Report, outcome: str) -> str:
    """What an outcome means, and how many of its lines are no visits to pages."""
    others = beside_pages(report, outcome)
    return f"{meaning(outcome)} ({others})" if others else meaning(outcome)


def group_of(outcome: str) -> Group:
    """Also of an outcome of an earlier version."""
    return Group.REFUSED if outcome in FORMER else group(outcome)


def _host(row: HostTally) -> HostLine:
    outcomes = dict(sorted(row.outcomes.items(), key=lambda item: -item[1]))
    return HostLine(
        row.host, row.lines, row.visits, row.pages, row.bytes, row.failed, row.refused,
        round(row.mean, 3), round(row.longest, 3), outcomes,
    )  # fmt: skip


def _refusals(visits: Visits) -> list[Refusal]:
    """What was refused, and by which rule or reason; lines of an outcome without one stand together."""
    found = []
    for outcome, lines in visits.outcomes.items():
        if group_of(outcome) is not Group.REFUSED or outcome == "gone":
            continue
        named = [(reason, many) for (of, reason), many in visits.reasons.items() if of == outcome]
        found += [Refusal(outcome, reason, many) for reason, many in named]
        if rest := lines - sum(many for _, many in named):
            found.append(Refusal(outcome, None, rest))
    found.sort(key=lambda row: (-row.lines, row.outcome, row.reason or ""))
    return found[:REFUSALS]


def _not_fetched(
    known: Known, visits: Visits, state: Activity, silent: Sequence[NoRobots]
) -> list[NotFetched]:
    found = []
    progress = known.progress
    if progress and progress.urls_queued and state is not Activity.RUNNING:
        change = resume_of(known)
        found += [_no_robots(known, change, one) for one in silent]
        if (rest := progress.urls_queued - sum(one.urls for one in silent)) > 0:
            found.insert(0, NotFetched("queued", rest, "the crawl ended first", change))
    for name, many in visits.not_fetched().items():
        if name == "deferred":
            continue
        remedy = REACTIONS[name].remedy if name in REACTIONS else ""
        why = meaning(name)
        if name == "robots_unreachable" and visits.no_robots:
            ended = (f"{one} {count(of)}" for one, of in visits.no_robots.most_common())
            why = f"{why}; the last visits to robots.txt ended in {', '.join(ended)}"
        change, urls = with_directory(remedy, known.out), visits.examples.of(name)
        found.append(NotFetched(name, many, why, change, urls=urls))
    return found


def _no_robots(known: Known, go_on: str, of: NoRobots) -> NotFetched:
    """URLs that are queued because their hosts gave no robots file."""
    hosts = "its host" if len(of.hosts) == 1 else f"their {count(len(of.hosts))} hosts"
    why = (
        f"{hosts} gave no robots.txt before the crawl ended, and without it nothing is visited there; "
        f"the last visit to it ended in {of.outcome} ({meaning(of.outcome)})"
    )
    serve = "" if known.cluster else " --serve"
    at_once = command("retry", "HOST", "--out", known.out)
    change = f"`{go_on}{serve}` asks again; `{at_once}` does so at once; "
    return NotFetched(
        "no_robots", of.urls, why, f"{change}politeness.retry_wait says how long it is waited for", of.hosts[:HOSTS]
    )  # fmt: skip


def _settings(settings: CrawlSettings | None) -> list[Setting]:
    """Those that differ from the defaults; nothing secret is shown."""
    if settings is None:
        return []
    now, usual = shown(settings), shown(CrawlSettings())
    return [
        Setting(row.name, now[row.name], usual[row.name])
        for row in rows()
        if now[row.name] != usual[row.name]
    ]


def _notes(visits: Visits, content: Content | None, out: Path) -> list[str]:
    notes = []
    if visits.damaged:
        notes.append(
            f"{counted(visits.damaged, 'line')} of the log cannot be read; {command('audit', out)} names them"
        )
    if visits.hosts.cut:
        notes.append(
            "there are more hosts than are counted at a time: those with fewest visits are left out of the "
            "lists, and some counts are of the later part of the crawl"
        )
    if visits.reasons_cut:
        notes.append(
            "there are more reasons than are told apart; the others are counted with their outcome"
        )
    if visits.lines and not visits.knows_purposes:
        notes.append(
            "the log was written by an earlier version, which does not say what visits were to: robots files and "
            "sitemaps are counted as pages"
        )
    if len(visits.others) >= OTHERS:
        notes.append(
            "there are more robots files and sitemaps than are told apart: types count some of them"
        )
    if content is not None and content.cut:
        notes.append(
            f"there are more types or languages of pages than are told apart; the rest is counted as {COUNTED_AS}"
        )
    if not visits.knows_urls:
        notes.append("the log is long: what was not fetched is counted by visit, not by URL")
    return notes
