"""From what the command line says to the settings in effect, for all commands that begin something."""

from pathlib import Path
from typing import Any

from gossamer.cli.loudness import Loudness, loudness
from gossamer.errors import SettingsError
from gossamer.model.choices import Level, ScopeKind
from gossamer.node.directory import SETTINGS
from gossamer.settings import CrawlSettings, load, load_saved


def crawl_overrides(
    *,
    scope: ScopeKind | None,
    max_pages: int | None,
    max_depth: int | None,
    delay: str | None,
    per_host: int | None,
    allow_private: bool,
) -> dict[str, Any]:
    values = {
        "scope.kind": scope.value if scope else None,
        "limits.pages": max_pages,
        "limits.depth": max_depth,
        "politeness.delay": delay,
        "politeness.per_host": per_host,
        "fetch.allow_private": True if allow_private else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def cluster_overrides(
    engine: str | None, snapshots: str | None, crawl: str | None
) -> dict[str, Any]:
    values = {
        "cluster.engine": engine.split(",") if engine else None,
        "cluster.snapshots": snapshots,
        "cluster.name": crawl,
    }
    return {name: value for name, value in values.items() if value is not None}


def saved(out: Path) -> Path | None:
    file = out / SETTINGS
    if not file.exists() and (out / "state").exists():
        raise SettingsError(f"{file} is missing; give the crawl's settings with --config")
    return file if file.exists() else None


def effective_settings(
    config: Path | None, out: Path, overrides: dict[str, Any], *, resume: bool
) -> CrawlSettings:
    """From the file that is named; else, of a crawl that goes on, from its own."""
    own = saved(out) if resume and config is None else None
    return load(config, overrides) if own is None else load_saved(own, overrides)


def least_level(log_level: Level, *, quiet: bool, verbose: bool) -> Level:
    """The least that is logged, by the three options that say so."""
    loud = loudness(quiet=quiet, verbose=verbose)
    return {Loudness.QUIET: Level.ERROR, Loudness.VERBOSE: Level.DEBUG}.get(loud, log_level)
