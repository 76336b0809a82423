"""The table of commands: what each is called, where it is, and its line in `gossamer --help`.

Only the module of the command that is given is loaded, so the lines stand here too; a test compares them
with the modules.
"""

from typing import Final, NamedTuple


class Command(NamedTuple):
    """`place`: the module in `gossamer.cli`, and the function or group of commands in it."""

    name: str
    place: str
    help: str


GROUPS: Final[dict[str, list[Command]]] = {
    "Crawl": [
        Command("crawl", "start:crawl", "Crawl from the given seeds, politely, into a directory."),
        Command("cluster", "start:cluster", "Crawl with a control node and several crawl nodes as processes on this machine."),
        Command("settings", "settings:settings", "Explain the settings: meaning, how each is written, range, default, value in a crawl."),
    ],
    "Look at a crawl": [
        Command("crawls", "crawls:crawls", "List the crawls in a folder, or serve a page to start, stop and open them."),
        Command("status", "operate:status", "Say how the crawl goes, or how it ended."),
        Command("report", "report:report", "Report what a crawl did: outcomes, hosts, types, what was not fetched and what would change that."),
        Command("open", "open:open_", "Look at a crawl that has ended, or at a copy of one, in the dashboard; Ctrl-C ends it."),
        Command("why", "why:why", "Say what a crawl knows of a URL: seen, allowed, queued, visited, and when it is due."),
        Command("audit", "audit:audit", "Prove from its files that a crawl was polite and that log, records and index agree; exit code 1 if not."),
        Command("export", "export:export", "Write the pages, the links or the index of a crawl in a form that other programs read."),
        Command("patterns", "patterns:patterns", "Show which URL patterns bring nothing new and which parameters change nothing, and overrule that."),
        Command("aliases", "aliases:aliases", "Show which hosts are other names of a site, why, and undo what was found."),
    ],
    "Steer a running crawl": [
        Command("pause", "operate:pause", "Begin no new visit on any node, until resumed."),
        Command("resume", "operate:resume", "Go on after a pause."),
        Command("stop", "operate:stop", "Save everything and end the crawl."),
        Command("set", "operate:set_", "Change live settings of a running crawl, or show them."),
        Command("seed", "operate:seed", "Submit seeds to a running crawl, or see what became of them."),
        Command("slow", "operate:slow", "Visit these hosts at a gap of their own (politeness.overrides), until told otherwise."),
        Command("retry", "operate:retry", "Try hosts now that wait or are set aside after failures; their failures are forgiven."),
        Command("block", "operate:block", "Visit these hosts no more, until unblocked; their URLs stay queued."),
        Command("unblock", "operate:unblock", "Visit blocked hosts again."),
        Command("rerank", "operate:rerank", "Put what is queued in the order of the settings."),
        Command("checkpoint", "operate:checkpoint", "Make everything done so far durable now."),
    ],
    "Many machines": [
        Command("control", "start:control", "Oversee a cluster: who is in, who owns what, settings, commands, the end."),
        Command("node", "start:node", "Crawl as one node of a cluster, until the crawl is over."),
        Command("nodes", "nodes:app", "Show the crawl nodes and the control nodes, or steer a crawl node."),
    ],
    "Tools": [
        Command("simweb", "simweb:app", "The simulated web: a deterministic web for tests and benchmarks."),
        Command("completion", "completion:completion", "Print a script that completes commands and options in your shell."),
    ],
}  # fmt: skip
"""By purpose, as `gossamer --help` lists them."""

COMMANDS: Final[dict[str, Command]] = {
    command.name: command for group in GROUPS.values() for command in group
}
