"""Lines of a seeds file in few words: their numbers, and neighbours as ranges."""

from collections.abc import Iterable
from itertools import groupby

from gossamer.library.seeds import Refused
from gossamer.words import count, plain

MOST_RANGES = 40
"""Numbers and ranges that are named; more would fill a terminal."""


def lines_of(refused: Iterable[Refused]) -> str:
    """In which lines of which file they are; nothing if all were arguments."""
    found: dict[str, list[int]] = {}
    for seed in refused:
        name, _, number = seed.place.rpartition(":")
        if number.isdecimal():
            found.setdefault(name, []).append(int(number))
    return "; ".join(f"in {plain(name)}: {ranges(numbers)}" for name, numbers in found.items())


def ranges(numbers: Iterable[int]) -> str:
    """Lines by number, `3-7` for neighbours; of very many the first, how many more, and the last."""
    ordered = sorted(set(numbers))
    parts: list[list[int]] = []
    # In a run of neighbours, number and position differ by the same.
    for _, run in groupby(enumerate(ordered), lambda item: item[1] - item[0]):
        group = [number for _, number in run]
        parts += [group] if len(group) > 2 else [[number] for number in group]
    words = ", ".join(
        f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts[:MOST_RANGES]
    )
    if left := sum(map(len, parts[MOST_RANGES:])):
        words += f" and {count(left)} more, the last {ordered[-1]}"
    return f"{'line' if len(ordered) == 1 else 'lines'} {words}"
