"""Numbers, foreign text and commands as people read them, the same everywhere.

Text from elsewhere (the web, arguments, names of files) never reaches a terminal raw.
"""

import shlex
from pathlib import Path
from typing import Final

_KEPT: Final = frozenset("\n\t")


def count(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def counted_are(number: int, noun: str) -> str:
    """A number of things, of which more is said."""
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'}"


def size(number: float, places: int = 1) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            return f"{number:.{0 if unit == 'B' else places}f} {unit}"
        number /= 1024
    raise AssertionError


def span(seconds: float) -> str:
    """A span of time in its two largest units."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600:02} h"


def short_span(seconds: float) -> str:
    """A span that may be a part of a second."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 10 else span(seconds)


def harmless(text: str) -> str:
    """Text that a terminal only shows: what it would obey, or what hides other text, is escaped. Lines stay lines."""
    if text.isprintable():
        return text
    return "".join(one if one in _KEPT else _escaped(one) for one in text)


def plain(text: str, limit: int = 200) -> str:
    """The same for foreign text within a line of ours: one line, bounded."""
    shown = text[:limit]
    if not shown.isprintable():
        shown = "".join(map(_escaped, shown))
    return shown + ("…" if len(text) > limit else "")


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def command(*words: str | Path) -> str:
    """A command of ours as it is copied into a shell. `words`: what follows `gossamer`."""
    return " ".join(["gossamer", *map(quoted, words)])


def quoted(word: str | Path) -> str:
    """A word as a shell takes it for one word, and for this one. A path is never taken for an option."""
    text = str(word)
    if isinstance(word, Path) and text.startswith("-"):
        text = f"./{text}"
    if text.isprintable():
        return shlex.quote(text)
    # As bash and zsh write it: what a terminal would obey, and bytes that are no text.
    return "$'" + "".join(map(_in_quotes, text)) + "'"


def _in_quotes(character: str) -> str:
    if character.isprintable():
        return f"\\{character}" if character in "'\\" else character
    # Bytes of an argument that are no text come as lone surrogates.
    spelt = character.encode(
        "utf-8", "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
    )
    return "".join(f"\\x{byte:02x}" for byte in spelt)


def with_directory(text: str, directory: Path) -> str:
    """Words with commands in which DIR stands for a crawl's directory, for this one."""
    return text.replace(" DIR", f" {quoted(directory)}")
