"""A small robots matcher of the truth's own, so that the crawler's is not judged by itself.

Takes: the bytes of a robots file. Gives: the verdict on a path. Follows RFC 9309: groups of the
agent's name are joined, else those of `*`; the longest rule wins, and on a tie `Allow`.
"""

import re
from collections.abc import Callable

_LIMIT = 500 * 1024


def _pattern(rule: str) -> re.Pattern[str]:
    anchored = rule.endswith("$")
    body = rule[:-1] if anchored else rule
    text = ".*".join(re.escape(part) for part in body.split("*"))
    return re.compile(text + ("$" if anchored else ""), re.DOTALL)


def _groups(text: str) -> list[tuple[list[str], list[tuple[str, str]]]]:
    groups: list[tuple[list[str], list[tuple[str, str]]]] = []
    naming = False
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            if not naming:
                groups.append(([], []))
            groups[-1][0].append(value.lower())
            naming = True
        elif key in {"allow", "disallow"}:
            naming = False
            if groups and value:
                groups[-1][1].append((key, value))
        elif key == "crawl-delay":
            naming = False
    return groups


def verdicts(status: int, body: bytes, agent: str) -> Callable[[str], bool]:
    """A function that says of a path whether it may be fetched."""
    if status >= 500:
        return lambda _path: False
    if status != 200:
        return lambda _path: True
    groups = _groups(body[:_LIMIT].decode("utf-8", "replace"))
    chosen = [rules for names, rules in groups if agent.lower() in names]
    if not chosen:
        chosen = [rules for names, rules in groups if "*" in names]
    rules = [
        (len(value), kind == "allow", _pattern(value)) for group in chosen for kind, value in group
    ]
    rules.sort(key=lambda rule: (rule[0], rule[1]), reverse=True)
    if not rules:
        return lambda _path: True

    def verdict(path: str) -> bool:
        return next((allow for _, allow, pattern in rules if pattern.match(path)), True)

    return verdict
