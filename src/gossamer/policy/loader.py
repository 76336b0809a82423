"""Policies by name: those shipped, and those that packages add by entry points.

Takes a door and a name; gives the class, or the object made with its settings. Guarantees: a wrong name
is answered with the nearest one and with what is installed; a class that does not fit its door is
refused with what is missing. Nothing is imported but what is named.
"""

import copy
import difflib
import inspect
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gossamer.errors import PolicyError
from gossamer.policy.doors import DOORS, Door
from gossamer.policy.order.formula import Formula


def installed(door: str) -> list[str]:
    """The names that can be given for a door."""
    return sorted(_offered(DOORS[door]))


def find(door: str, name: str) -> type:
    """The class of a policy, checked against its door."""
    offered = _offered(DOORS[door])
    if name not in offered:
        raise PolicyError(_not_found(door, name, sorted(offered)))
    found = offered[name]
    if isinstance(found, list):
        found = _loaded(door, name, found)
    missing = misfits(found, DOORS[door])
    if not missing and found.name != name:
        missing = [f"the class calls itself {found.name}"]
    if missing:
        raise PolicyError(f"doors.{door}: policy {name} does not fit: {'; '.join(missing)}")
    cls: type = found
    return cls


def load(door: str, name: str, settings: Mapping[str, Any]) -> Any:
    """The policy, made with its settings: the table `[policy.NAME]`."""
    cls = find(door, name)
    if _formula_of(cls) is not None:
        if settings:
            raise PolicyError(f"policy.{name}: a formula has no settings")
        return cls
    try:
        # Its own: what it changes there is not changed in the crawl's settings.
        return cls(copy.deepcopy(dict(settings)))
    except Exception as error:
        raise PolicyError(f"policy.{name}: {type(error).__name__}: {error}") from error


def misfits(cls: Any, door: Door) -> list[str]:
    """What keeps a class from being a policy of the door, for people."""
    if not isinstance(cls, type):
        return [f"a class expected, not {cls!r:.80}"]
    wrong = []
    if not isinstance(getattr(cls, "name", None), str) or not cls.name:  # type: ignore[attr-defined]
        wrong.append("`name` is missing: a text")
    if door.name == "order" and hasattr(cls, "formula"):
        if _formula_of(cls) is None:
            wrong.append("`formula` is not a gossamer.policy.Formula")
        return wrong
    columns = getattr(cls, "columns", None)
    if not isinstance(columns, tuple | list) or not columns:
        wrong.append("`columns` is missing: a tuple of those it asks for")
    else:
        unknown = [str(name) for name in columns if name not in door.columns]
        if unknown:
            wrong.append(
                f"`columns` asks for {', '.join(unknown)}; there are {', '.join(door.columns)}"
            )
    wrong += _signature(cls, "__init__", "settings")
    wrong += _signature(cls, door.method, "batch")
    return wrong


def _signature(cls: type, method: str, argument: str) -> list[str]:
    function = getattr(cls, method, None)
    wanted = f"`{method}(self, {argument})`"
    if not inspect.isfunction(function):
        return [f"{wanted} is missing"]
    if inspect.iscoroutinefunction(function):
        return [f"{wanted} is a coroutine; it is called in a thread of its own and may block there"]
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return [f"{wanted} takes other arguments: {method}{inspect.signature(function)}"]
    return []


def _formula_of(cls: type) -> Formula | None:
    formula = getattr(cls, "formula", None)
    return formula if isinstance(formula, Formula) else None


def _offered(door: Door) -> dict[str, Any]:
    """Classes of ours, and entry points of others, by name; ours cannot be replaced."""
    offered: dict[str, Any] = {}
    for point in entry_points(group=door.group):
        offered.setdefault(point.name, []).append(point)
    return offered | {cls.name: cls for cls in door.shipped}  # type: ignore[attr-defined]


def _loaded(door: str, name: str, points: list[EntryPoint]) -> Any:
    # The same package can be found twice on the path; then both name the same object.
    if len({point.value for point in points}) > 1:
        owners = ", ".join(sorted({point.dist.name if point.dist else "?" for point in points}))
        raise PolicyError(f"doors.{door}: {name} is offered by more than one package: {owners}")
    point = points[0]
    try:
        return point.load()
    except Exception as error:
        raise PolicyError(
            f"doors.{door}: policy {name} ({point.value}) cannot be imported: "
            f"{type(error).__name__}: {error}"
        ) from error


def _not_found(door: str, name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    has = f"installed: {', '.join(names)}" if names else "none is installed"
    return (
        f"doors.{door}: no policy {name} is installed{hint}; {has}. "
        f"Packages add policies by the entry point {DOORS[door].group}"
    )
