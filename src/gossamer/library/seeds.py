"""Reading seeds from arguments and files, as people write them.

Every seed is taken, or refused with a reason and the line that it stands on. A seed needs no scheme: then `http://`
is meant (`https://` with port 443). A site that has TLS redirects there, and the target of a seed's redirect is a
seed; a site that has none would be lost with the other guess.
"""

import codecs
import ipaddress
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from gossamer.errors import UsageError

FORM: Final = "a seed is written as example.org or https://example.org/page"
_AS_TEXT: Final = "a URL per line is expected, in UTF-8"
STANDARD_INPUT: Final = "standard input"
_COMMENT = re.compile(r"(^|\s)#.*", re.DOTALL)
"""A `#` at the beginning or after a blank. Elsewhere it is part of the URL."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))")
"""A name and a colon that no port follows."""
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^/?#:\[\]]+)(?::(?P<port>\d{1,5}))?(?=[/?#]|$)")
_ENDS = re.compile(rb"\r\n|\n|\r")
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, and the coding that each tells."""


class Refused(NamedTuple):
    """A seed that was not taken, and why. `place`: `file:line`, or nothing for an argument."""

    url: str
    reason: str
    place: str = ""


class Seed(NamedTuple):
    """A seed with a scheme. `given`: as it was written."""

    url: str
    given: str
    place: str = ""

    @property
    def guessed(self) -> bool:
        return self.url != self.given


class SeedList(NamedTuple):
    """The seeds in their order, and those that are none."""

    taken: list[Seed]
    refused: list[Refused]

    @property
    def urls(self) -> list[str]:
        return [seed.url for seed in self.taken]


def read_seeds(arguments: list[str], file: Path | None) -> SeedList:
    """All seeds in order. A file has a URL per line; `-` is standard input.

    In a file a `#` at the beginning of a line or after a blank begins a comment.
    """
    given = [(argument.strip(), "") for argument in arguments]
    found = SeedList([], [])
    if file is not None:
        given.extend(_lines(file, found.refused))
    for text, place in given:
        if not text:
            continue
        reason = _wrong(text, place)
        if reason is None:
            found.taken.append(Seed(with_scheme(text), text, place))
        else:
            found.refused.append(Refused(text, reason, place))
    if not found.taken and not found.refused:
        raise UsageError("no seed given", do="name a URL, or a file of URLs with --seeds")
    return found


def _wrong(text: str, place: str) -> str | None:
    """Why this cannot be a seed, as far as its form tells."""
    if re.search(r"\s", text):
        hint = "; a note after it begins with #" if place else ""
        return f"there is a blank in it: write it as %20, or give each seed by itself{hint}"
    if not text.isprintable():
        return "there are control characters in it"
    if "://" in text:
        return None
    if scheme := _SCHEME.match(text):
        if scheme[1].lower() in {"http", "https"}:
            return f"{scheme[1]}: is followed by two slashes; {FORM}"
        return f"{scheme[1]}: is nothing that is crawled; {FORM}"
    if not place and _is_file(text):
        return f"it is a file here; if its lines are the seeds: --seeds {text}"
    match = _HOST.match(text)
    if match is None or not _is_host(match["host"]):
        return f"it names no site; {FORM}"
    return None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:
        # Longer than any name of a file.
        return False


def _is_host(name: str) -> bool:
    """Whether a name without a scheme is meant as a host: an address, localhost, or one with a dot."""
    if name.startswith("["):
        try:
            ipaddress.IPv6Address(name[1:-1])
        except ValueError:
            return False
        return True
    labels = name.rstrip(".").split(".")
    return all(labels) and (len(labels) > 1 or labels[0].lower() == "localhost")


def with_scheme(text: str) -> str:
    """A URL as people write it, with the scheme that is meant."""
    if "://" in text:
        return text
    match = _HOST.match(text)
    if match is None or not _is_host(match["host"]):
        return text
    return f"{'https' if match['port'] == '443' else 'http'}://{text}"


def _lines(file: Path, refused: list[Refused]) -> Iterator[tuple[str, str]]:
    """The text of each line without its comment, and where it is; what is no text is refused."""
    name = STANDARD_INPUT if str(file) == "-" else str(file)
    try:
        data = sys.stdin.buffer.read() if name == STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read the seeds in {file}: {error.strerror}",
            do="name a file of URLs, a line each",
        ) from error
    for number, line in enumerate(_ENDS.split(_as_utf8(data, name)), 1):
        place = f"{name}:{number}"
        try:
            text = line.decode()
        except UnicodeDecodeError:
            shown = line.decode(errors="backslashreplace").strip()
            refused.append(Refused(shown, "it is not UTF-8 text", place))
            continue
        yield _COMMENT.sub("", text, count=1).strip(), place


def _as_utf8(data: bytes, name: str) -> bytes:
    """Without a byte order mark, which editors and spreadsheets put before the first line."""
    for mark, coding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(coding).encode()
            except UnicodeError as error:
                if coding == "utf-8":
                    # Which line it is that is wrong will be told.
                    return data[len(mark) :]
                raise UsageError(
                    f"the seeds in {name} are no valid UTF-16 text", do=_AS_TEXT
                ) from error
    if b"\0" in data:
        raise UsageError(f"the seeds in {name} are no text", do=_AS_TEXT)
    return data
