"""The report as one HTML file: no script, nothing from outside, light and dark, on paper too."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gossamer.counts import visits_in_words
from gossamer.policy.hosts.outcomes import Group
from gossamer.policy.rules.left_out import left_out
from gossamer.report.build import group_of, meaning, outcome_words
from gossamer.report.facts import cell, content_words, page_facts, squeezed, value
from gossamer.report.markup import Html, joined, prose, tag, web
from gossamer.report.model import HostLine, Report
from gossamer.report.moments import moment
from gossamer.report.plots import Layer, Part, bar, keys, parts_bar, peak, stacked
from gossamer.report.runs import head, shown_runs
from gossamer.report.style import CSS
from gossamer.words import count, counted, size, span

STEPS = 120
RUNS = 50
EACH = 15
"""Depths up to which each has its own label."""
_STATES = {
    "running": "running", "finished": "finished", "limit_reached": "limit reached",
    "stopped": "stopped", "unknown": "no state",
}  # fmt: skip


def as_html(report: Report) -> str:
    name = report.directory.rstrip("/").rpartition("/")[2] or report.directory
    head = tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        # Nothing is loaded and nothing runs, whatever a name from the web tries.
        Html(
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        ),
        Html('<meta name="referrer" content="no-referrer">'),
        tag("title", f"{name}: report of a crawl"),
        tag("style", Html(CSS)),
    )
    parts = [
        _head(report, name), _tiles(report), _runs(report), _over_time(report), _outcomes(report), _by_host(report),
        _missing(report), _halves(*_hosts(report), _depth(report)), _halves(_refusals(report), _links(report)),
        _halves(_pages(report), _duplicates(report), *_content(report)), _settings(report), _notes(report), _foot(report),
    ]  # fmt: skip
    return f"<!doctype html>\n{tag('html', head, tag('body', joined(parts)), lang='en')}\n"


def _card(title: str, *children: Html | str | None) -> Html:
    return tag("section", tag("h2", title), *children, class_="card")


def _halves(*cards: Html) -> Html:
    shown = [card for card in cards if card]
    return tag("div", joined(shown), class_="halves") if shown else Html("")


def _table(
    names: Sequence[str],
    rows: Sequence[Html],
    numbers: frozenset[int] = frozenset(),
    kind: str = "facts",
) -> Html:
    heads = [
        tag("th", name, class_="n" if place in numbers else None)
        for place, name in enumerate(names)
    ]
    head = tag("thead", tag("tr", *heads)) if any(names) else None
    return tag("div", tag("table", head, tag("tbody", *rows), class_=kind), class_="scroll")


def _head(report: Report, name: str) -> Html:
    when = ""
    if report.began is not None and report.ended is not None:
        took = span(report.ended - report.began)
        when = f"{moment(report.began)} to {moment(report.ended)} UTC, {took}"
    kind = f"cluster of {len(report.nodes)} nodes" if report.nodes else report.mode
    pill = tag("span", _STATES[report.state], class_=f"pill {report.state}")
    return tag(
        "header",
        tag("p", "Gossamer crawl report", class_="brand"),
        tag("h1", name, " ", pill),
        tag("p", f"{kind} · {when}" if when else kind, class_="soft"),
        tag("p", report.state_words),
        tag("p", "Go on with ", tag("code", report.go_on)) if report.go_on else None,
    )


def _tiles(report: Report) -> Html:
    worked = report.seconds or ((report.ended or 0.0) - (report.began or 0.0))
    rate = f"{report.pages / worked:,.1f} per second".replace(",", " ") if worked >= 1 else ""
    tiles = [
        ("Pages", count(report.pages), rate),
        ("Received", size(report.bytes), counted(report.visits, "visit")),
        ("Hosts", count(report.hosts), "many more, not all counted" if report.hosts_cut else ""),
    ]
    if report.urls_seen is not None:
        tiles.append(("URLs known", count(report.urls_seen), ""))
    if report.urls_queued is not None:
        aside = f"{count(report.urls_set_aside)} set aside" if report.urls_set_aside else ""
        tiles.append(("Still queued", count(report.urls_queued), aside))
    return tag(
        "div",
        *(
            tag(
                "div",
                tag("h2", title),
                tag("p", big, class_="big"),
                tag("p", small, class_="soft"),
                class_="card",
            )
            for title, big, small in tiles
        ),
        class_="tiles",
    )


def _runs(report: Report) -> Html:
    shown = shown_runs(report, RUNS)
    if not shown.rows:
        return Html("")
    numbers = frozenset(
        place for place, name in enumerate(shown.columns) if name in {"took", "pages"}
    )
    rows = [
        tag(
            "tr",
            *(
                tag(
                    "td",
                    getattr(row, name),
                    class_="n" if place in numbers else None,
                    data_name=name,
                )
                for place, name in enumerate(shown.columns)
            ),
        )
        for row in shown.rows
    ]
    notes = [tag("p", note, class_="soft sum") for note in shown.notes]
    names = [head(name) for name in shown.columns]
    return _card("Runs", _table(names, rows, numbers, "hosts"), *notes)


def _over_time(report: Report) -> Html:
    line = report.timeline
    if len(line.times) < 2:
        return Html("")
    width = min(STEPS, len(line.times))
    step = line.step * len(line.times) / width
    ends = (moment(line.times[0]), moment(line.times[-1] + line.step))
    if ends[0][:10] == ends[1][:10]:
        # On one day, which the head of the page names.
        ends = (ends[0][11:], ends[1][11:])
    pages = [Layer("pages", "pages", [number / step for number in squeezed(line.pages, width)])]
    groups = [
        Layer(label, label, squeezed(values, width))
        for label, values in (
            ("done", line.done),
            ("refused", line.refused),
            ("failed", line.failed),
        )
    ]
    return _halves(
        tag("section", stacked("Pages", "per second", pages, ends, _scale(peak(pages))), class_="card"),
        tag("section", stacked("Outcomes", f"lines of the log in {span(step)}", groups, ends, _scale(peak(groups))), class_="card"),
    )  # fmt: skip


def _scale(top: float) -> tuple[str, str]:
    return (f"{top:g}", f"{top / 2:g}") if top < 1000 else (count(top), count(top / 2))


def _outcomes(report: Report) -> Html:
    most = max(report.outcomes.values(), default=0)
    rows = [
        tag(
            "tr",
            tag("td", name, class_="name"),
            tag("td", count(number), class_="n"),
            tag(
                "td",
                bar(number, most, group_of(name).value),
                class_="wide",
            ),
            tag("td", prose(outcome_words(report, name)), class_="soft why"),
        )
        for name, number in report.outcomes.items()
    ]
    if not rows:
        return _card("Outcomes", tag("p", "The log is empty: nothing was visited yet."))
    return _card(
        "Outcomes", _table((), rows), tag("p", f"{visits_in_words(report)}.", class_="soft sum")
    )


def _by_host(report: Report) -> Html:
    """A bar for each of the hosts with most lines, and one for all others, so that they are the outcomes in all.

    Each bar is as wide as all others: how a host fared is seen of small ones too, and the number says how large it is.
    """
    listed: list[tuple[Html, Mapping[str, int]]] = [
        (web(host.host), host.outcomes) for host in report.busiest_hosts
    ]
    rest = Counter(report.outcomes)
    for _, outcomes in listed:
        rest.subtract(outcomes)
    if rest := +rest:
        listed.append((Html("all other hosts"), dict(rest.most_common())))
    rows = [
        tag(
            "tr",
            tag("td", name, class_="host"),
            tag("td", count(sum(outcomes.values())), class_="n"),
            tag("td", parts_bar(_groups(outcomes)), class_="bars"),
            tag("td", _first(outcomes), class_="soft why"),
        )
        for name, outcomes in listed
    ]
    if not rows:
        return Html("")
    colours = keys([(kind.value, kind.value) for kind in Group])
    unit = "Lines of the log, and how they are shared out among outcomes."
    return _card("Outcomes by host", tag("p", unit, class_="soft"), colours, _table((), rows))


def _groups(outcomes: Mapping[str, int]) -> list[Part]:
    sums: Counter[Group] = Counter()
    for name, number in outcomes.items():
        sums[group_of(name)] += number
    return [Part(kind.value, kind.value, sums[kind]) for kind in Group]


def _first(outcomes: Mapping[str, int], most: int = 4) -> str:
    """The most frequent ones by name."""
    named = [f"{name} {count(number)}" for name, number in list(outcomes.items())[:most]]
    more = [f"{len(outcomes) - most} more"] if len(outcomes) > most else []
    return ", ".join(named + more)


def _missing(report: Report) -> Html:
    rows = [
        tag(
            "tr",
            tag("td", count(row.number), class_="n"),
            tag("td", row.what, class_="name"),
            tag(
                "td",
                prose(row.why),
                tag("span", *_names(row.hosts), class_="change") if row.hosts else None,
                *(tag("span", web(url), class_="change") for url in row.urls),
                tag("span", prose(row.change), class_="change") if row.change else None,
                class_="why",
            ),
        )
        for row in report.not_fetched
    ]
    return _card("Not fetched, and what would change it", _table((), rows)) if rows else Html("")


def _names(hosts: Sequence[str]) -> list[Html | str]:
    """Names from the web, one after the other."""
    parts: list[Html | str] = []
    for host in hosts:
        parts += [", ", web(host)] if parts else [web(host)]
    return parts


class _List(NamedTuple):
    """A list of hosts: its columns, and what its bars show."""

    title: str
    hosts: Sequence[HostLine]
    names: tuple[str, ...]
    kind: str
    size: Callable[[HostLine], float]


def _hosts(report: Report) -> list[Html]:
    lists = (
        _List("Hosts with most failures", report.worst_hosts, ("failed", "visits", "mostly"), "failed", lambda host: host.failed),
        _List("Slowest hosts", report.slowest_hosts, ("mean", "longest", "visits"), "pages", lambda host: host.mean_seconds),
        _List("Largest sites", report.largest_hosts, ("pages", "received", "mean"), "pages", lambda host: host.pages),
    )  # fmt: skip
    return [_host_list(*one) for one in lists if one.hosts]


def _host_list(
    title: str,
    hosts: Sequence[HostLine],
    names: tuple[str, ...],
    kind: str,
    size_of: Callable[[HostLine], float],
) -> Html:
    most = max(size_of(host) for host in hosts)
    rows = [
        tag(
            "tr",
            tag("td", web(host.host), class_="host"),
            *(
                tag(
                    "td", cell(host, name), class_=None if name == "mostly" else "n", data_name=name
                )
                for name in names
            ),
            tag("td", bar(size_of(host), most, kind), class_="bars"),
        )
        for host in hosts
    ]
    numbers = frozenset(place for place, name in enumerate(names, 1) if name != "mostly")
    return _card(title, _table(("host", *names, ""), rows, numbers, "hosts"))


def _refusals(report: Report) -> Html:
    rows = [
        tag(
            "tr",
            tag("td", count(row.lines), class_="n"),
            tag("td", row.outcome, class_="name"),
            tag("td", bar(row.lines, report.refusals[0].lines, "refused"), class_="bars"),
            tag("td", web(row.reason) if row.reason else prose(meaning(row.outcome)), class_="why"),
        )
        for row in report.refusals
    ]
    return _card("Refused, by rule or reason", _table((), rows)) if rows else Html("")


def _links(report: Report) -> Html:
    rows = []
    for name, number in report.links_left_out.items():
        words, change = left_out(name)
        changed = tag("span", prose(f"to change: {change}"), class_="change") if change else None
        rows.append(
            tag("tr", tag("td", count(number), class_="n"), tag("td", name, class_="name"), tag("td", prose(words), changed, class_="why"))
        )  # fmt: skip
    return _card("Links that were not followed", _table((), rows)) if rows else Html("")


def _facts(facts: Sequence[tuple[str, str]]) -> Html:
    return tag(
        "dl", *(part for name, words in facts for part in (tag("dt", name), tag("dd", words)))
    )


def _pages(report: Report) -> Html:
    facts = [fact for fact in page_facts(report) if fact[0] != "duplicates"]
    if report.statuses:
        facts.append(
            (
                "status codes",
                ", ".join(f"{name}: {count(many)}" for name, many in report.statuses.items()),
            )
        )
    return _card("Robots files and sitemaps", _facts(facts)) if facts else Html("")


def _duplicates(report: Report) -> Html:
    unvisited = report.unvisited.get("duplicate", 0)
    if not report.duplicates and not unvisited:
        return Html("")
    shares = {
        "pages with content of their own": report.pages - report.duplicates,
        "pages that are stored under another URL": report.duplicates,
    }
    if unvisited:
        shares["URLs not asked for: other names of pages"] = unvisited
    return _card(
        "Duplicates",
        _shares(shares, ours=True),
        tag("p", f"{size(report.duplicate_bytes)} were received twice.", class_="soft"),
    )


def _content(report: Report) -> list[Html]:
    content = report.content
    if content is None or not content.records:
        return []
    none = tag("p", "No page says its language.")
    return [
        _card("Types", _shares(content.types), tag("p", content_words(report), class_="soft")),
        _card("Languages, as the pages say", _shares(content.languages) if content.languages else none),
    ]  # fmt: skip


def _shares(counts: Mapping[str, int], most: int = 6, *, ours: bool = False) -> Html:
    """`ours`: the names are our own words, not of the web."""
    top = max(counts.values(), default=0)
    rows = [
        tag(
            "tr",
            tag("td", name if ours else web(name, 60)),
            tag("td", count(number), class_="n"),
            tag("td", bar(number, top, "pages"), class_="wide"),
        )
        for name, number in list(counts.items())[:most]
    ]
    if len(counts) > most:
        others = sum(list(counts.values())[most:])
        rows.append(
            tag(
                "tr",
                tag("td", f"{len(counts) - most} others"),
                tag("td", count(others), class_="n"),
                tag("td", ""),
            )
        )
    return _table((), rows)


def _depth(report: Report) -> Html:
    if len(report.depths) < 2:
        return Html("")
    deepest = max(int(name) for name in report.depths)
    values = [report.depths.get(str(depth), 0) for depth in range(deepest + 1)]
    layers = [Layer("pages", "pages", values)]
    ends = [str(depth) for depth in range(deepest + 1)] if deepest <= EACH else ["0", str(deepest)]
    plot = stacked("Depth", "pages by links from a seed", layers, ends, _scale(peak(layers)))
    return tag("section", plot, class_="card")


def _settings(report: Report) -> Html:
    if not report.settings_known:
        return Html("")
    rows = [
        tag(
            "tr",
            tag("td", tag("code", row.name)),
            tag("td", tag("code", value(row.value))),
            tag("td", f"default {value(row.default)}", class_="soft"),
        )
        for row in report.settings
    ]
    summary = tag("summary", f"Settings that differ from the defaults ({len(rows)})")
    return tag("details", summary, _table((), rows), class_="card", open="")


def _notes(report: Report) -> Html:
    return joined([tag("p", note, class_="note") for note in report.notes])


def _foot(report: Report) -> Html:
    return tag(
        "footer",
        tag("p", "Made from the fetch log, the WARC files and the state of ", tag("code", report.directory), f" by gossamer {report.version}. "
            "Sizes are of bodies as received; times are UTC."),
    )  # fmt: skip
