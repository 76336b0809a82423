"""Seeds of a command: read, checked before anything is begun, and what was not taken told."""

import sys
from pathlib import Path

from gossamer.cli.seeds_told import lines_of
from gossamer.errors import UsageError
from gossamer.library.seeds import Refused, Seed, read_seeds
from gossamer.node.start_check import seed_refusals
from gossamer.settings import CrawlSettings
from gossamer.words import count, counted, plain

SHOWN_REFUSED = 10


def take_seeds(
    urls: list[str] | None,
    file: Path | None,
    settings: CrawlSettings,
    *,
    quiet: bool = False,
    verbose: bool = False,
) -> list[str]:
    """The seeds that can be taken with these settings; UsageError if there is none.

    The others are told with their reasons (with `verbose` all of them), and also, unless `quiet`, what was guessed.
    """
    found = read_seeds(urls or [], file)
    reasons = seed_refusals(settings, found.urls)
    judged = list(zip(found.taken, reasons, strict=True))
    refused = [Refused(seed.given, why, seed.place) for seed, why in judged if why is not None]
    taken = [seed for seed, why in judged if why is None]
    tell_refused([*found.refused, *refused], left=len(taken), verbose=verbose)
    if not quiet:
        tell_guessed(taken)
    return [seed.url for seed in taken]


def tell_refused(refused: list[Refused], *, left: int, verbose: bool | None = None) -> None:
    """Names the seeds that were not taken; with none `left` there is nothing to crawl.

    `verbose`: why for each of them, else for the first and the lines of the others; None: the command has no such option.
    """
    shown = len(refused) if verbose else SHOWN_REFUSED
    for seed in refused[:shown]:
        place = f"{plain(seed.place)}: " if seed.place else ""
        print(f"seed refused: {place}{plain(seed.url)}: {plain(seed.reason, 400)}", file=sys.stderr)
    if more := refused[shown:]:
        where = lines_of(more)
        words = f"… and {counted(len(more), 'more seed')} refused{f', {where}' if where else ''}"
        print(words + ("" if verbose is None else " (-v tells why)"), file=sys.stderr)
    if refused and not left:
        raise UsageError("no seed could be taken", do="mend them, or name others")


def tell_guessed(seeds: list[Seed]) -> None:
    """Says which scheme was taken for seeds that have none."""
    guessed = [seed for seed in seeds if seed.guessed]
    if not guessed:
        return
    first = guessed[0]
    more = f", and {count(len(guessed) - 1)} more in the same way" if len(guessed) > 1 else ""
    print(
        f"{plain(first.given)} has no scheme: taken as {plain(first.url)}{more}. "
        "A site that wants https redirects there; write https:// to begin with it.",
        file=sys.stderr,
    )
