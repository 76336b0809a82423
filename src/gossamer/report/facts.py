"""What a report says in words, wherever it is shown."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gossamer.policy.hosts.outcomes import Group, group
from gossamer.report.model import HostLine, Report
from gossamer.words import command, count, counted, plain, size


def page_facts(report: Report) -> list[tuple[str, str]]:
    """What robots files, sitemaps and pages themselves said."""
    facts = []
    unvisited = report.unvisited.get("duplicate", 0)
    if report.duplicates or unvisited:
        words = f"{counted(report.duplicates, 'page')} ({size(report.duplicate_bytes)}) stored under another URL"
        if unvisited:
            words += f"; {count(unvisited)} URLs were not asked for, being other names of pages"
        facts.append(("duplicates", words))
    for title, visits in (("robots files", report.robots_files), ("sitemaps", report.sitemaps)):
        if visits:
            had = ", ".join(f"{name} {count(many)}" for name, many in visits.items())
            facts.append((title, f"{counted(sum(visits.values()), 'visit')}: {had}"))
    if report.robots_said:
        said = ", ".join(f"{count(many)} say {name}" for name, many in report.robots_said.items())
        facts.append(("pages say", said))
    if report.soft_404s:
        facts.append(
            (
                "soft 404s",
                f"{counted(report.soft_404s, 'visit')} brought what the host answers to a missing name",
            )
        )
    if report.aliases:
        facts.append(
            (
                "aliases",
                f"{counted(report.aliases, 'other name')} of sites: {command('aliases', Path(report.directory))}",
            )
        )
    return facts


def content_words(report: Report) -> str:
    """Where types and languages come from."""
    content = report.content
    if content is None:
        return ""
    where = (
        "all WARC files" if content.whole else "the beginnings of WARC files; --content reads all"
    )
    said = sum(content.languages.values())
    return (
        f"types of {counted(content.records, 'stored page')} in {where}; "
        f"{count(said)} of {count(content.languages_of)} HTML pages say their language"
    )


def cell(host: HostLine, name: str) -> str:
    """What a list of hosts says of one."""
    failed = [one for one in host.outcomes if group(one) is Group.FAILED]
    return {
        "lines": count(host.lines),
        "done": count(host.lines - host.refused - host.failed),
        "refused": count(host.refused),
        "failed": count(host.failed),
        "visits": count(host.visits),
        "pages": count(host.pages),
        "received": size(host.bytes),
        "mean": milliseconds(host.mean_seconds),
        "longest": milliseconds(host.longest_seconds),
        "mostly": failed[0] if failed else "",
    }[name]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms".replace(",", " ") if seconds < 10 else f"{seconds:.1f} s"


def squeezed(values: Sequence[int], width: int) -> list[int]:
    """Sums of neighbours, so many in all."""
    ends = [round(place * len(values) / width) for place in range(width + 1)]
    return [sum(values[low:high]) for low, high in itertools.pairwise(ends)]


def value(setting: object) -> str:
    """A setting's value on one line."""
    return "absent" if setting is None else plain(msgspec.json.encode(setting).decode(), 60)
