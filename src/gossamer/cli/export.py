"""`gossamer export`: pages, links or an index of a crawl, for other programs."""

import contextlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import msgspec
import typer

from gossamer._native import StateError
from gossamer.cli.loudness import Loudness, Quiet, Verbose, loudness
from gossamer.cli.reading import told
from gossamer.errors import FileError, GossamerError, NoCrawlError, UsageError
from gossamer.export import link_rows, page_rows, write_parquet
from gossamer.library import export_cdxj, log_files, warc_files
from gossamer.library.fetch_log import LogDamagedError
from gossamer.words import command, counted, plain

# Ends of lines in Unicode, and controls of terminals: valid in JSON, but one row must be one line
# for every reader.
_UNSAFE = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")


def _escape(found: re.Match[bytes]) -> bytes:
    return f"\\u{ord(found[0].decode()):04x}".encode()


Row = Any
Counting = Callable[[Iterable[Row]], Iterator[Row]]


class Format(StrEnum):
    JSONL = "jsonl"
    PARQUET = "parquet"
    CDXJ = "cdxj"
    LINKS = "links"


def export(
    directory: Annotated[Path, typer.Argument(help="The crawl.", metavar="DIR")],
    *,
    format: Annotated[  # noqa: A002 - the name of the option
        Format,
        typer.Option(
            help="What is known of each page (jsonl, parquet), an index (cdxj), or links as JSON lines."
        ),
    ] = Format.JSONL,
    html: Annotated[
        bool,
        typer.Option(
            "--html", help="With each page its HTML, or other text, decoded (jsonl, parquet)."
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="File to write; standard output if absent.")
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write the pages, the links or the index of a crawl in a form that other programs read."""
    loud = loudness(quiet=quiet, verbose=verbose)
    if not warc_files(directory) and not log_files(directory):
        raise NoCrawlError.at(directory, "no log and no WARC files")
    if format is Format.PARQUET and output is None:
        raise UsageError("--format parquet cannot go to standard output", do="give --output FILE")
    if html and format not in {Format.JSONL, Format.PARQUET}:
        raise UsageError(
            f"--format {format.value} has no pages", do="give --html with --format jsonl or parquet"
        )
    try:
        with _counted(loud) as counting:
            if output is None:
                number = _write(directory, format, sys.stdout.buffer, counting, html=html)
                sys.stdout.flush()
            else:
                number = _to_file(directory, format, output, counting, html=html)
        if output is not None and loud is not Loudness.QUIET:
            print(f"{plain(str(output))}: {counted(number, 'row')}", file=sys.stderr)
    except (StateError, LogDamagedError) as error:
        raise GossamerError(str(error), do=f"`{command('audit', directory)}` tells more") from error
    except BrokenPipeError:
        # The reader has seen enough.
        sys.stderr.close()
        raise typer.Exit(0) from None


@contextlib.contextmanager
def _counted(loud: Loudness) -> Iterator[Counting]:
    """Counts rows that pass; with `--verbose` it is told how many."""
    # A bar would stand among the rows where both go to a terminal.
    how = loud if loud is Loudness.VERBOSE else Loudness.QUIET
    with told("exporting", "rows", how) as tell:

        def counting(rows: Iterable[Row]) -> Iterator[Row]:
            for number, row in enumerate(rows, 1):
                yield row
                tell(0, 0, number)

        yield counting


def _to_file(
    directory: Path,
    kind: Format,
    output: Path,
    counting: Counting,
    *,
    html: bool,
) -> int:
    """Writes beside the target and renames: a file under its name is whole."""
    unfinished = output.with_name(output.name + ".new")
    try:
        if kind is Format.PARQUET:
            number = write_parquet(counting(page_rows(directory, html=html)), unfinished, html=html)
        elif kind is Format.CDXJ:
            number = export_cdxj(directory, unfinished)
        else:
            with unfinished.open("wb") as file:
                number = _write(directory, kind, file, counting, html=html)
        unfinished.replace(output)
    except OSError as error:
        raise FileError(f"cannot write {output}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return number


def _write(
    directory: Path,
    kind: Format,
    file: BinaryIO,
    counting: Counting,
    *,
    html: bool,
) -> int:
    if kind is Format.CDXJ:
        with tempfile.TemporaryDirectory() as place:
            target = Path(place) / "index.cdxj"
            number = export_cdxj(directory, target)
            with target.open("rb") as index:
                while block := index.read(1 << 20):
                    file.write(block)
        return number
    rows: Iterable[msgspec.Struct] = (
        link_rows(directory) if kind is Format.LINKS else page_rows(directory, html=html)
    )
    encode = msgspec.json.Encoder().encode
    number = 0
    for row in counting(rows):
        file.write(_UNSAFE.sub(_escape, encode(row)) + b"\n")
        number += 1
    return number
