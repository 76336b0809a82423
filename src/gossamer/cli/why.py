"""`gossamer why`: what is known of a URL and its host, whose turn, which rule."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gossamer import _native
from gossamer._native import canonical_url
from gossamer._native import host as host_of
from gossamer.cli.json_output import print_json
from gossamer.cli.stopped import node_name
from gossamer.crawls.kinds import is_cluster, node_directories
from gossamer.errors import (
    BrokenStateError,
    NoCrawlError,
    SettingsError,
    StateInUseError,
)
from gossamer.library import log_files
from gossamer.library.fetch_log import find_visits
from gossamer.library.seeds import with_scheme
from gossamer.library.stored_text import warc_name
from gossamer.node.native_settings import to_native
from gossamer.node.view import view_of
from gossamer.policy.hosts.outcomes import meaning
from gossamer.policy.hosts.parameters import STATES
from gossamer.policy.rules.left_out import left_out
from gossamer.settings import CrawlSettings, load_saved
from gossamer.settings.url_rules import url_rules
from gossamer.words import command, count, counted, plain, quoted, size, span

USUAL = Path("crawl-out")
VISITS = 5
HOST = "host"
"""The fact with which those of the host begin."""
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def why(
    url: Annotated[str, typer.Argument(help="The URL.", metavar="URL")],
    *,
    out: Annotated[Path, typer.Option(help="The crawl.")] = USUAL,
    control: Annotated[
        str | None, typer.Option(help="Ask the control node of a running crawl.", metavar="URL")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what a crawl knows of a URL: seen, allowed, queued, visited, and when it is due."""
    # As a seed may be written: without a scheme.
    asked = with_scheme(url.strip())
    account = explain(out, asked) if control is None else ask(control, out, asked)
    if json:
        print_json(account)
    else:
        _show(describe(account, time.time(), where(out, control)))


def _show(facts: list[tuple[str, str]]) -> None:
    for number, (name, text) in enumerate(facts):
        if name == HOST and number:
            # What is known of the host is apart from what is known of the URL.
            print()
        print(f"{name + ':':<13} {plain(text, 2500)}")


def where(out: Path, control: str | None) -> list[str | Path]:
    """What another command about the same crawl is told."""
    if control is None:
        return [out]
    # The token may be in the directory.
    return [*([] if out == USUAL else [out]), "--control", control]


def ask(control: str | None, out: Path, url: str) -> dict[str, Any]:
    """The account of a running crawl, from its control node."""
    # Only when asked for: the control API's schemas are not needed otherwise.
    from gossamer.control.client import find  # noqa: PLC0415

    account: dict[str, Any] = find(control, out).get("/urls", url=url)
    if account["refused"] is not None:
        return {"given": account["given"], "refused": account["refused"]}
    del account["refused"]
    host = account["host_state"]
    if host is not None:
        host["robots"] = {"http": host["robots_http"], "https": host["robots_https"]}
    account["visits"] = [line | {"from": line["found_on"]} for line in account["visits"]]
    return account


def explain(out: Path, url: str) -> dict[str, Any]:
    """The account as plain values. The crawl is not changed."""
    file = out / "crawl.toml"
    if not is_cluster(out) and not (out / "state").is_dir():
        if log_files(out):
            return _from_log(out, url)
        raise NoCrawlError.at(out, "no crawl.toml, no state and no log")
    try:
        account = _ask_state(out, load_saved(file), url)
    except _native.StateInUseError as error:
        # Only then: the client is not needed otherwise.
        from gossamer.control.client import is_served  # noqa: PLC0415

        if is_served(out):
            return ask(None, out, url)
        raise StateInUseError(
            f"the crawl in {out} is running, and its state belongs to it until it ends",
            do="stop it with Ctrl-C and ask again (--resume goes on), or look at the visits so far in "
            f"{out / 'log'}",
        ) from error
    except (_native.StateError, OSError) as error:
        raise BrokenStateError(f"{out}: {error}") from error
    except ValueError as error:
        raise SettingsError(f"{file}: {error}") from error
    if "url" in account and "robots_visits" not in account:
        account["rules_version"] = rules_version(out / "control" / "settings.jsonl")
        account |= _visits(out, account["url"])
        last = account["last_visit"]
        if last is not None and last["warc_file"] is not None:
            node = account.get("node")
            place = out / "nodes" / node if node else out
            last["warc_file"] = warc_name(place, last["warc_file"])
    return account


def _ask_state(out: Path, settings: CrawlSettings, url: str) -> dict[str, Any]:
    """Of a cluster the node that owned the host, or each in turn until one knows it."""
    if not is_cluster(out):
        return _why(out, settings, None, url)
    account: dict[str, Any] | None = None
    for place in node_directories(out):
        told = _why(place, settings, node_name(place), url)
        if account is None or told.get("host_state") or told.get("last_visit"):
            account = told | ({"node": place.name} if "url" in told else {})
        if "refused" in told or told.get("host_state"):
            break
    return _from_log(out, url) if account is None else account


def _why(place: Path, settings: CrawlSettings, name: str | None, url: str) -> dict[str, Any]:
    with view_of(place) as view:
        return _decode(_native.why(view, to_native(settings, node_name=name, look=True), url))


def _from_log(out: Path, url: str) -> dict[str, Any]:
    """What a copy without a state still tells."""
    file = out / "crawl.toml"
    settings = load_saved(file) if file.exists() else CrawlSettings()
    try:
        known = canonical_url(url, None, url_rules(settings))
    except ValueError as error:
        return {"given": url, "refused": str(error)}
    visits = _visits(out, known)
    return {
        "given": url, "url": known, "host": host_of(known), "state": None, "seen": True if visits["visits"] else None,
        "last_visit": None, **visits,
    }  # fmt: skip


def rules_version(journal: Path) -> int | None:
    """The version of the settings in which a finished crawl's rules changed last."""
    # Only here: the control API's schemas are not needed otherwise.
    from gossamer.control.setting_history import SettingHistory  # noqa: PLC0415

    if not journal.exists():
        return None
    history = SettingHistory(journal)
    history.open()
    return history.changed_in("rule")


def _robots_url(url: str) -> str:
    return "/".join(url.split("/", 3)[:3]) + "/robots.txt"


def _visits(out: Path, url: str) -> dict[str, list[dict[str, Any]]]:
    """The last lines of the log about a URL, and about the robots file that decides on it."""
    robots = _robots_url(url)
    found = find_visits(out, {url, robots}, VISITS)
    return {"visits": msgspec.to_builtins(found[url]), "robots_visits": msgspec.to_builtins(found[robots])}  # fmt: skip


def _pattern(found: dict[str, Any] | None, take_up: list[str | Path]) -> list[str]:
    """What visits to URLs like this one brought, and what that means for it. `take_up`: words of a command."""
    if found is None:
        return []
    texts = [f"{found['pattern']}: {found['evidence']}" if found["visits"] else found["pattern"]]
    if found["trusted"]:
        texts.append("taken up by command: not doubted any more")
    if found["doubted"]:
        texts.append(f"doubted, so it comes last: {found['doubted']}")
    if found["set_aside"]:
        texts.append(
            f"set aside, {counted(found['urls_set_aside'], 'URL')} of its pattern in all; take up all of its host with: "
            f"{command(*take_up)}"
        )
    return texts


def _parameters(account: dict[str, Any] | None, take_up: list[str | Path]) -> list[str]:
    """What was found about the parameters of the URL, and what that means for it. `take_up`: words of a command."""
    if account is None:
        return []
    texts = [
        f"{row['place']}?{row['name']} {STATES[row['state']]}: {row['evidence']}"
        for row in account["found"]
    ]
    if account["visited_as"]:
        texts.append(f"without {account['stripped']} it is {account['visited_as']}")
        # Of several places; each name once.
        names = dict.fromkeys(row["name"] for row in account["found"])
        texts.extend(
            f"keep {name} with: {command(*take_up, '--pattern', f'?{name}')}"
            for name in names
            if f", {name}, " in f", {account['stripped']}, "
        )
    return texts


def describe(
    account: dict[str, Any], now: float, crawl: Sequence[str | Path] = ()
) -> list[tuple[str, str]]:
    """The account in words, a fact a line. `crawl`: what a command about the same crawl is told."""
    if "refused" in account:
        return [("given", account["given"]), ("refused", f"no URL to visit: {account['refused']}")]
    facts = [("url", account["url"])]
    if account["given"] != account["url"]:
        facts.append(("given", f"{account['given']} (this is its canonical form)"))
    if "state" in account:
        return [*facts, *_describe_log(account, crawl)]
    facts.append(("seen", _seen(account)))
    facts.append(("scope", f"out: {account['out_of_scope']}" if account["out_of_scope"] else "in"))
    facts.extend(("rules", text) for text in _rules(account))
    facts.extend(
        ("policy", f"at the door {door}: {text}")
        for door, text in account.get("policies", {}).items()
    )
    alias = account["alias"]
    if alias is not None:
        facts.append(("alias", f"its host is {alias['of']} under another name, which is visited"))
    facts.append(("robots", _robots(account)))
    facts.append(("queue", _queue(account["queued"], now)))
    take_up = ["patterns", *crawl, "--take-up", account["host"]]
    facts.extend(("pattern", text) for text in _pattern(account.get("pattern"), take_up))
    facts.extend(("parameter", text) for text in _parameters(account.get("parameters"), take_up))
    if account.get("soft_404"):
        facts.append(("soft 404", f"its host {account['soft_404']}"))
    facts.extend(("visit", _visit(line)) for line in account["visits"])
    facts.extend(_links(account["visits"], crawl))
    last = account["last_visit"]
    if not account["visits"]:
        word = "none" if last is None else f"{last['outcome']} at {_time(last['time'])}"
        facts.append(("visit", word))
    if last is not None and last.get("reason"):
        # Only a door drops; other reasons are the crawler's own (patterns, parameters, soft 404s, rules).
        by = "by a policy: " if last["outcome"] == "dropped" else ""
        facts.append(("judged", f"{by}{last['reason']}"))
    if last is not None and last["warc_file"] is not None:
        file = last.get("warc_name") or last["warc_file"]
        place = f"{file} at {last['warc_offset']}, {last['warc_length']} bytes"
        facts.append(("stored", place))
    of = f" of node {account['node']}" if account.get("node") else ""
    facts.append((HOST, f"{account['host']}, partition {account['partition']}{of}"))
    facts.extend(_host(account["host_state"], now))
    return facts


def _describe_log(account: dict[str, Any], crawl: Sequence[str | Path]) -> list[tuple[str, str]]:
    """Where there is a log and no state."""
    facts = [("visit", _visit(line)) for line in account["visits"]]
    facts.extend(_links(account["visits"], crawl))
    if not account["visits"]:
        facts.append(("visit", "none in the log"))
    words = "not in this directory, so queue, robots rules and the host's standing are not known"
    return [*facts, ("state", words), (HOST, account["host"])]


def _seen(account: dict[str, Any]) -> str:
    if account["seen"]:
        return "yes"
    if account["seen"] is None:
        return "not sure"
    if account["out_of_scope"]:
        return "no: it is out of scope, so links to it are not taken"
    return "no: no page, sitemap or seed led to it yet"


_EFFECTS = {
    "drop": "drops it: {}",
    "score": "gives it the score {}",
    "delay": "sets its host's gap to {}",
    "per_host": "allows {} connections to its host",
    "quota": "allows {} pages of its host",
    "credentials": "sends the credentials '{}'",
    "follow": "follows its links: {}",
    "store": "stores it: {}",
    "keep_body": "keeps its body: {}",
    "refresh": "asks for it again after {}",
}


def _rules(account: dict[str, Any]) -> list[str]:
    words = []
    for row in account["rules"]:
        text = f"rule '{row['rule']}' {_EFFECTS[row['effect']].format(row['value'])}"
        if row["depends_on"]:
            text += f" (if its {' and '.join(row['depends_on'])} is as the rule wants)"
        words.append(text)
    if words and account.get("rules_version") is not None:
        words.append(f"as of version {account['rules_version']} of the settings")
    return words


def _robots(account: dict[str, Any]) -> str:
    robots, host = account["robots"], account["host_state"]
    if robots is None:
        scheme = account["url"].split(":", 1)[0]
        kind = host["robots"][scheme]["kind"] if host else "unknown"
        return {
            "allow_all": "allowed: the host has no robots file",
            "unreachable": "the host's robots file could not be had; nothing is visited meanwhile",
        }.get(kind, "not fetched yet")
    word = "allowed" if robots["allowed"] else "forbidden"
    rule = robots["rule"]
    if rule is None:
        return f"{word}: no rule matches"
    name = "Allow" if rule["allow"] else "Disallow"
    return f"{word} by line {rule['line']}: {name}: {rule['pattern']}"


def _queue(queued: dict[str, Any] | None, now: float) -> str:
    if queued is None:
        return "not queued"
    # The API always has the field, a finished crawl's own account only where it applies.
    if queued.get("unknown") is not None:
        return str(queued["unknown"])
    words = f"{queued['ahead']} URLs of the host before it, score {queued['score']:.3f} (band {queued['band']})"
    words += f", depth {queued['depth']}, {queued['tries']} tries so far"
    if queued["not_before"] is not None:
        words += f", not before {_when(queued['not_before'], now)}"
    return words


def _visit(line: dict[str, Any]) -> str:
    status = f" ({line['status']})" if line["status"] is not None else ""
    words = f"{line['time']} {line['outcome']}{status}: {meaning(line['outcome'])}"
    if line["ip"] is not None:
        words += f"; {size(line['bytes'])} in {line['ms']:.0f} ms from {line['ip']}"
    if line.get("reason"):
        words += f" ({line['reason']})"
    return words + (f"; found on {line['from']}" if line["from"] else "")


def _links(visits: list[dict[str, Any]], crawl: Sequence[str | Path]) -> list[tuple[str, str]]:
    """What the page said to robots, and which of its links were not followed, at its last visit."""
    if not visits:
        return []
    last = visits[-1]
    facts = [("says", f"{last['robots']} to robots")] if last.get("robots") else []
    for name, number in last.get("left_out", {}).items():
        reason = left_out(name)
        change = reason.change.replace(" DIR", "".join(f" {quoted(word)}" for word in crawl))
        links = "1 link was" if number == 1 else f"{count(number)} links were"
        words = f"{links} not followed: {name}, {reason.meaning}"
        facts.append(("links", f"{words} (to change: {change})" if change else words))
    return facts


_SOURCES = {
    "setting": "politeness.delay",
    "override": "politeness.overrides",
    "rule": "a rule",
    "crawl_delay": "the site's Crawl-delay",
    "response_time": "the time of its last response",
    "policy": "a policy of hosts",
    "throttled": "its answers: it asked for fewer visits a while ago, and the gap narrows slowly",
}


def _host(state: dict[str, Any] | None, now: float) -> list[tuple[str, str]]:
    if state is None:
        return [("standing", "not known: nothing of it was ever queued")]
    words = (
        f"{state['standing']}, {state['queued']} URLs queued ({state['waiting']} wait for a time), "
        f"{state['pages']} pages, {size(state['bytes'])}, {state['errors']} errors"
    )
    facts = [("standing", words)]
    if state["blocked"]:
        facts.append(("blocked", "by the operator"))
    if state["given_up"]:
        facts.append(("given up", _given_up(state)))
    elif state["set_aside"]:
        facts.append(("set aside", _set_aside(state)))
    if state["failures_in_a_row"]:
        facts.append(("failures", f"{state['failures_in_a_row']} in a row"))
    if last := state.get("last_failure"):
        facts.append(("last failure", f"{last['outcome']}: {meaning(last['outcome'])}"))
    facts.append(("gap", _gap(state)))
    facts.append(("next visit", _next_visit(state, now)))
    if state["policy"]:
        facts.append(("policy", _policy(state["policy"])))
    if state["ip"]:
        facts.append(("address", state["ip"]))
    return facts


def _next_visit(state: dict[str, Any], now: float) -> str:
    if not state["queued"]:
        return "none: nothing of the host is queued"
    # Rounded to seconds in the store.
    for_robots = any(
        robots["kind"] == "unreachable" and robots["until"] - 1 <= state["due"]
        for robots in state["robots"].values()
    )
    words = _when(state["due"], now)
    return f"{words}, for its robots file, which could not be had" if for_robots else words


def _gap(state: dict[str, Any]) -> str:
    own, source = state.get("override"), state["gap_source"]
    if own is not None and source == "setting":
        source = "override"
    words = f"{state['gap']:.3f} s, from {_SOURCES[source]}"
    # A gap that somebody gave the host is not lost because another one is wider for now.
    return (
        words
        if own is None or source == "override"
        else f"{words}; politeness.overrides says {own:.3f} s"
    )


def _given_up(state: dict[str, Any]) -> str:
    # Only a policy gives a host up with this outcome; the others are those of visits.
    return _by_policy(state) if state["given_up"] == "dropped" else f"after {state['given_up']}"


def _set_aside(state: dict[str, Any]) -> str:
    # Failures count how often they set it aside; a policy and an operator do not.
    if state["set_asides"]:
        return f"{state['set_asides']} times, for failures in a row"
    return _by_policy(state) if state["policy"] else "by the operator"


def _by_policy(state: dict[str, Any]) -> str:
    reason = state["policy"]["reason"] if state["policy"] else ""
    return f"by a policy of hosts: {reason}" if reason else "by a policy of hosts"


def _policy(policy: dict[str, Any]) -> str:
    budget = "any number of" if policy["budget"] is None else str(policy["budget"])
    words = f"{budget} pages, weight {policy['weight']:g}, gap {policy['delay']:g} s or more"
    return f"{words}: {policy['reason']}" if policy["reason"] else words


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return "never"


def _when(seconds: float, now: float) -> str:
    left = seconds - now
    return f"{_time(seconds)} ({'in ' + span(left) if left > 0 else 'now'})"
