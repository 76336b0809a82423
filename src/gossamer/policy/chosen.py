"""The policies of a crawl: those that its settings name, made with their settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gossamer.errors import PolicyError, SettingsError
from gossamer.policy.doors import DOORS
from gossamer.policy.hosts.parameters import Parameters
from gossamer.policy.hosts.patterns import Patterns
from gossamer.policy.loader import find, load
from gossamer.policy.order.formula import Formula
from gossamer.policy.pages.duplicates import Duplicates
from gossamer.policy.pages.noarchive import Noarchive
from gossamer.settings import CrawlSettings
from gossamer.settings.removed import replacement

T = TypeVar("T")

DECLARED = ("duplicates", "noarchive", "parameters", "patterns")
"""Declared policies with a table of their own."""


@dataclass(frozen=True, slots=True)
class Policies:
    """Objects by door, in the order in which they are asked."""

    called: Mapping[str, list[Any]] = field(default_factory=dict)
    """Only doors that have one."""
    formula: Formula | None = None
    """The order, if a package declares it; None: that of `frontier.order`."""

    def columns(self) -> dict[str, list[str]]:
        """What the policies of each door ask for."""
        asked = {
            door: {column for policy in policies for column in policy.columns}
            for door, policies in self.called.items()
        }
        return {
            door: [column for column in DOORS[door].columns if column in columns]
            for door, columns in asked.items()
        }


def choose(settings: CrawlSettings) -> Policies:
    """Makes the policies that the settings name; PolicyError says which cannot be had, and why."""
    check_tables(settings)
    patterns(settings)
    parameters(settings)
    duplicates(settings)
    noarchive(settings)
    called = {}
    declared = None
    for door, names in named(settings).items():
        made = [load(door, name, settings.policy.get(name, {})) for name in names]
        called[door] = [policy for policy in made if formula_of(policy) is None]
        if door == "order" and not called[door]:
            declared = formula_of(made[0])
    return Policies({door: policies for door, policies in called.items() if policies}, declared)


def named(settings: CrawlSettings) -> dict[str, list[str]]:
    """The names by door."""
    doors = settings.doors
    single = {"order": doors.order, "refresh": doors.refresh, "hosts": doors.hosts}
    return {"pages": list(doors.pages)} | {door: [name] for door, name in single.items() if name}


def formula_of(policy: Any) -> Formula | None:
    found = getattr(policy, "formula", None)
    return found if isinstance(found, Formula) else None


def formula(settings: CrawlSettings, policies: Policies) -> Formula:
    """The declared order, which is also what counts where a called one does not answer."""
    name = settings.frontier.order.value
    shipped = {cls.name: cls.formula for cls in DOORS["order"].shipped}  # type: ignore[attr-defined]
    return policies.formula or shipped[name]


def check_change(before: CrawlSettings, after: CrawlSettings) -> None:
    """Refuses a change of live settings that the policies would make ineffective: SettingsError.

    It may load the package of a policy. A control node need not have it; then nothing is known, and
    nothing refused.
    """
    name = after.doors.order
    if name is None or after.frontier.order is before.frontier.order:
        return
    try:
        declared = formula_of(find("order", name))
    except PolicyError:
        return
    if declared is not None:
        raise SettingsError(
            f"frontier.order has no effect in this crawl: doors.order names {name}, whose formula is "
            "the order"
        )


def patterns(settings: CrawlSettings) -> Patterns:
    return _declared(Patterns.read, "patterns", settings)


def parameters(settings: CrawlSettings) -> Parameters:
    return _declared(Parameters.read, "parameters", settings)


def duplicates(settings: CrawlSettings) -> Duplicates:
    return _declared(Duplicates.read, "duplicates", settings)


def noarchive(settings: CrawlSettings) -> Noarchive:
    return _declared(Noarchive.read, "noarchive", settings)


def _declared(read: Callable[[Mapping[str, Any]], T], name: str, settings: CrawlSettings) -> T:
    try:
        return read(settings.policy.get(name, {}))
    except ValueError as error:
        raise PolicyError(f"policy.{name}: {error}") from error


def check_tables(settings: CrawlSettings) -> None:
    """A table for a policy that nobody asked for is a mistake, not a wish."""
    asked = {name for names in named(settings).values() for name in names}
    unknown = sorted(set(settings.policy) - asked - set(DECLARED))
    if unknown:
        if gone := replacement(f"policy.{unknown[0]}"):
            raise PolicyError(gone)
        raise PolicyError(
            f"policy.{unknown[0]}: no door names this policy; named are "
            f"{', '.join(sorted(asked | set(DECLARED)))}"
        )
