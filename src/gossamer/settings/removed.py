"""Settings of earlier versions that are no more, and what took their place.

Who gives one is told. In the `crawl.toml` that a crawl itself has saved they are ignored: its pages can be read, and
whether its state can be gone on with is the state's own question.
"""

from typing import Any, Final

REMOVED: Final = {
    "parse.max_links": "links of a page are bounded by their memory: parse.links_bytes",
    "limits.trap_budget": "URLs are judged by what others like them brought: limits.doubted_visits, limits.doubted_share",
    "policy.traps": "URLs are judged by what others like them brought: policy.patterns",
}
"""By name: what to use instead."""


def replacement(name: str) -> str | None:
    """What to say of a setting, or a table, that is no more; None: there was none of this name."""
    place = next((old for old in REMOVED if f"{name}.".startswith(f"{old}.")), None)
    return None if place is None else f"{place} is no setting any more: {REMOVED[place]}"


def without_removed(values: dict[str, Any]) -> dict[str, Any]:
    """The tables of a settings file without what is no more."""
    named = values.get("doors", {})
    kept = {}
    for table, inner in values.items():
        if isinstance(inner, dict):
            gone = {old.partition(".")[2] for old in REMOVED if old.startswith(f"{table}.")}
            if table == "policy":
                # Somebody's own policy may have the name.
                gone = {name for name in gone if not _is_named(name, named)}
            inner = {name: value for name, value in inner.items() if name not in gone}  # noqa: PLW2901
        kept[table] = inner
    return kept


def _is_named(policy: str, doors: Any) -> bool:
    if not isinstance(doors, dict):
        return False
    return any(policy in (one if isinstance(one, list) else [one]) for one in doors.values())
