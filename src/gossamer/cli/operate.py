"""`gossamer status|pause|resume|stop|…`: the control API from the command line."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gossamer.cli.activity import left_words
from gossamer.cli.json_output import print_json
from gossamer.cli.loudness import Loudness, Quiet, Verbose, loudness
from gossamer.cli.seeds import tell_guessed, tell_refused
from gossamer.control.client import LONG_TIMEOUT, Client, NoControlNodeError, find, path_of
from gossamer.errors import GossamerError, NoCrawlError, UsageError
from gossamer.library.seeds import read_seeds
from gossamer.model.waits import Wait, in_words
from gossamer.settings.assignments import assignments
from gossamer.settings.units import duration
from gossamer.words import command, count, counted, plain, short_span, size, span

Control = Annotated[
    str | None,
    typer.Option(help="The control node; default: that of the crawl in --out.", metavar="URL"),
]
Out = Annotated[
    Path | None,
    typer.Option(help="The crawl's directory, which has URL and token [default: crawl-out]."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def status(
    *,
    control: Control = None,
    out: Out = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Say how the crawl goes, or how it ended."""
    now, alerts = _status(control, out, loudness(quiet=quiet, verbose=verbose))
    if json:
        print_json(now | {"alert_list": alerts})
        return
    # A control node of an older version does not say.
    if now.get("read_only"):
        # Only of a crawl that has ended: reading files needs much that asking a control node does not.
        from gossamer.cli.ended import show_ended  # noqa: PLC0415

        show_ended(now, out or Path("crawl-out"))
        return
    left = left_words(now["eta_seconds"], now["eta_from"])
    left = f", {left}" if left else ""
    print(
        f"{now['activity']} (wanted: {now['wanted']}): {counted(now['pages'], 'page')} "
        f"({now['pages_per_second']:.1f}/s), {size(now['bytes'])}, "
        f"{count(now['urls_queued'])} queued, {now['in_flight']} under way{left}"
    )
    print(
        f"hosts: {count(now['hosts_known'])} known, {now['hosts_active']} active, "
        f"{now['hosts_waiting']} waiting, {now['hosts_set_aside']} set aside, "
        f"{now['hosts_blocked']} blocked; nodes: {now['nodes']}; memory {size(now['rss'])}, "
        f"disk {size(now['disk'])}"
    )
    # A control node of an older version does not say.
    waits = msgspec.convert(now.get("waits", {}), dict[str, Wait])
    for text in in_words(waits, now["time"]):
        print(plain(text))
    if now["urls_set_aside"]:
        print(
            f"set aside: {counted(now['urls_set_aside'], 'URL')} like others that brought nothing new; see which, or take "
            f"them up, with: {command('patterns', *_where(control, out))}"
        )
    if now["reranking"]:
        print(f"re-ranking: {counted(now['reranking'], 'host')} left")
    for door, view in now["doors"].items():
        print(f"policy of {door}: {_door(view)}")
    for alert in alerts:
        print(f"{alert['severity']}: {plain(alert['text'])} ({plain(alert['hint'])})")


def _status(
    control: str | None, out: Path | None, loud: Loudness
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """With its alerts: of a running crawl from its control node, of another from its files."""
    try:
        client = find(control, out)
        return client.get("/status"), client.get("/alerts")
    except GossamerError as error:
        if control is not None:
            raise
        from gossamer.cli.ended import ended_status  # noqa: PLC0415

        try:
            ended = ended_status(out or Path("crawl-out"), loud)
        except NoCrawlError:
            # Where a control node is named, that it does not answer is the news.
            if isinstance(error, NoControlNodeError | NoCrawlError):
                raise
            raise error from None
        if ended is None:
            raise
        return ended, []


def _where(control: str | None, out: Path | None) -> list[str | Path]:
    """What a command about the same crawl is told."""
    if out is not None:
        return [out]
    return [] if control is None else ["--control", control]


def _door(view: dict[str, Any]) -> str:
    words = f"{count(view['batches'])} batches, {counted(view['rows'], 'row')}, "
    words += counted(view["failures"], "failure")
    if view["resting"] is not None:
        words += f", rests for {span(view['resting'])}"
    if view["last_failure"]:
        words += f"; last failure: {plain(view['last_failure'])}"
    return words


_LONG = {"checkpoint", "rerank"}
"""Every node has minutes for these."""


def _command(name: str, meaning: str) -> Callable[..., None]:
    def run(
        *,
        control: Control = None,
        out: Out = None,
        quiet: Annotated[
            bool, typer.Option("--quiet", "-q", help="Say nothing where it is confirmed.")
        ] = False,
        json: Json = False,
    ) -> None:
        timeout = LONG_TIMEOUT if name in _LONG else None
        result = find(control, out).post("/commands", {"command": name}, timeout=timeout)
        if json:
            print_json(result)
        else:
            for node in result["nodes"]:
                if quiet and node["confirmed"]:
                    continue
                word = "confirmed" if node["confirmed"] else "NOT confirmed"
                note = f": {plain(node['note'])}" if node["note"] else ""
                print(f"{name}: {word} by {plain(node['node'])}{note}")
        if not result["nodes"] and name == "stop":
            if quiet:
                return
            print("stop: kept; no crawl node runs now, and one that is started ends at once")
            return
        if not result["nodes"]:
            raise GossamerError(
                f"no node is alive to confirm it: {name}",
                do="start a node (`gossamer node`), or ask again",
            )
        if not result["confirmed"]:
            raise GossamerError(
                f"not every node has confirmed: {name}",
                do="`gossamer nodes` shows how they are; the command can be given again",
            )

    run.__doc__ = meaning
    run.__name__ = name
    return run


pause = _command("pause", "Begin no new visit on any node, until resumed.")
resume = _command("resume", "Go on after a pause.")
stop = _command("stop", "Save everything and end the crawl.")
checkpoint = _command("checkpoint", "Make everything done so far durable now.")
rerank = _command("rerank", "Put what is queued in the order of the settings.")


def set_(
    values: Annotated[
        list[str] | None,
        typer.Argument(help="Settings; none: show all.", metavar="STAGE.NAME=VALUE..."),
    ] = None,
    *,
    undo: Annotated[
        int | None, typer.Option(help="Take back the change of this version.", metavar="VERSION")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Show who changed what.")] = False,
    control: Control = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Change live settings of a running crawl, or show them."""
    client = find(control, out)
    if history:
        changes = client.get("/settings/changes")
        if json:
            print_json(changes)
        else:
            for change in reversed(changes):
                _show_change(change)
        return
    if undo is None and not values:
        _show_settings(client.get("/settings"), json=json)
        return
    if undo is not None:
        if values:
            raise UsageError(
                "--undo takes a whole change back, and no values", do="give one of them"
            )
        change = client.post(f"/settings/changes/{undo}/undo")
    else:
        change = client.patch("/settings", {"values": assignments(values or [])})
    if json:
        print_json(change)
    else:
        _show_change(change)


def _show_change(change: dict[str, Any]) -> None:
    for value in change["values"]:
        old, new = (msgspec.json.encode(value[name]).decode() for name in ("old", "new"))
        shown = f"{plain(value['name'])}: {plain(old)} → {plain(new)}"
        print(f"version {change['version']} by {plain(change['who'])}: {shown}")


def _show_settings(view: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(view)
        return
    for row in view["settings"]:
        word = "" if row["live"] else " (fixed)"
        value = plain(msgspec.json.encode(row["value"]).decode(), 100)
        print(f"{row['name']} = {value}{word}  # {plain(row['meaning'])}")


def _host(
    action: str, hosts: list[str], client: Client, *, json: bool, seconds: float | None = None
) -> None:
    rows = []
    command = {"action": action} | ({} if seconds is None else {"seconds": seconds})
    # A host may be blocked before it is met, so a name means what it says there. All others are found before the
    # first is told anything.
    named = hosts if action == "block" else [_known_as(host, client) for host in hosts]
    for host in named:
        row = client.post(path_of("hosts", host), command)
        rows.append(row)
        if not json:
            print(
                f"{plain(row['name'])}: {row['standing']}, {counted(row['queued'], 'URL')} queued, "
                f"at least {short_span(row['gap'])} between visits"
            )
    if json:
        print_json({"hosts": rows})


_NAMED = 5
"""Hosts that are named to somebody who asks for one of several."""


def _known_as(host: str, client: Client) -> str:
    """The host as the crawl knows it: one with a port of its own is found without that too."""
    try:
        client.get(path_of("hosts", host))
    except UsageError:
        page = client.get("/hosts", search=f"^{host.lower()}:", limit=_NAMED)
        names = [row["name"] for row in page["hosts"]]
        if len(names) == 1:
            return str(names[0])
        if names:
            listed = ", ".join(map(plain, names))
            raise UsageError(
                f"the crawl knows {plain(host)} with several ports", do=f"name one of: {listed}"
            ) from None
    # Whoever is not known is refused in the crawl's own words, or taken before it is met.
    return host


Hosts = Annotated[list[str], typer.Argument(help="Hosts, as in URLs.", metavar="HOST...")]


def block(hosts: Hosts, *, control: Control = None, out: Out = None, json: Json = False) -> None:
    """Visit these hosts no more, until unblocked; their URLs stay queued."""
    _host("block", hosts, find(control, out), json=json)


def unblock(hosts: Hosts, *, control: Control = None, out: Out = None, json: Json = False) -> None:
    """Visit blocked hosts again."""
    _host("unblock", hosts, find(control, out), json=json)


def slow(
    hosts: Hosts,
    *,
    gap: Annotated[
        str | None, typer.Option(help="At least this between two visits, such as 5s.")
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="As the settings say again.")] = False,
    control: Control = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Visit these hosts at a gap of their own (politeness.overrides), until told otherwise."""
    if off == (gap is not None):
        raise UsageError(
            "it is not said how slow" if gap is None else "--gap and --off say the opposite",
            do="give a gap, such as --gap 5s, or --off",
        )
    try:
        seconds = None if gap is None else duration(gap)
    except ValueError as error:
        raise UsageError(f"--gap: {gap!r} is no time", do="give one such as 5s or 250ms") from error
    action = "speed_up" if off else "slow_down"
    _host(action, hosts, find(control, out), json=json, seconds=seconds)


def retry(hosts: Hosts, *, control: Control = None, out: Out = None, json: Json = False) -> None:
    """Try hosts now that wait or are set aside after failures; their failures are forgiven."""
    _host("retry", hosts, find(control, out), json=json)


def seed(
    urls: Annotated[list[str] | None, typer.Argument(help="Seeds.", metavar="URL...")] = None,
    *,
    seeds: Annotated[
        Path | None, typer.Option(help="File with a seed per line; - for standard input.")
    ] = None,
    fate: Annotated[
        int | None, typer.Option(help="Tell what became of a submission.", metavar="NUMBER")
    ] = None,
    control: Control = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Submit seeds to a running crawl, or see what became of them."""
    client = find(control, out)
    if fate is not None:
        found = client.get(f"/seeds/{fate}", limit=500)
        if json:
            print_json(found)
        else:
            for one in found["fates"]:
                _show_fate(one)
        return
    given = read_seeds(urls or [], seeds)
    tell_refused(given.refused, left=len(given.taken))
    tell_guessed(given.taken)
    submission = client.post("/seeds", {"urls": given.urls})
    if json:
        print_json(submission)
    else:
        print(f"submission {submission['id']}: {submission['taken']} seeds taken")
        for one in submission["seeds"]:
            if not one["taken"]:
                print(f"refused: {plain(one['url'])}: {plain(one['reason'])}", file=sys.stderr)
    if not submission["taken"]:
        raise UsageError("no seed could be taken", do="mend them, or name others")


def _show_fate(fate: dict[str, Any]) -> None:
    word = fate["reason"] or fate["outcome"] or "queued"
    print(f"{plain(fate['url'])}: {plain(word)}")
