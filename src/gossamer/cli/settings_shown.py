"""Settings as `gossamer settings` shows them: found by words, explained from the models."""

import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.json_output import print_json
from gossamer.errors import NoCrawlError, UsageError
from gossamer.settings import CrawlSettings, load, load_saved
from gossamer.settings.nearest import nearest, unknown_setting
from gossamer.settings.removed import REMOVED
from gossamer.settings.rows import Row, rows
from gossamer.settings.table import shown, values
from gossamer.settings.words import written
from gossamer.words import plain

WIDEST = 100
LONGEST = 300
"""Characters of a value that are shown among many settings; one by itself is shown whole."""
_LABEL = 13
_FOOT = "Given with --set NAME=VALUE, or in the file of --config, which has a table for each stage."


def settings(words: list[str] | None, *, out: Path | None, config: Path | None, json: bool) -> None:
    """Explains settings; the options are declared in `gossamer.cli.settings`."""
    read = _read(out, config)
    defaults = values(CrawlSettings())
    now = None if read is None else shown(read)
    found = _found(words or [])
    if json:
        told = {"settings": [_as_json(row, defaults, now) for row in found]}
        print_json(told)
        return
    where = plain(str(out or config))
    width = min(shutil.get_terminal_size().columns, WIDEST)
    for row in found:
        print(row.name)
        print(_wrapped(row.meaning, width, ""))
        for name, text in _facts(row, defaults, now, where, whole=len(found) == 1).items():
            print(_wrapped(text, width, name))
        print()
    print(textwrap.fill(_FOOT, width))


def _read(out: Path | None, config: Path | None) -> CrawlSettings | None:
    if out is not None and config is not None:
        raise UsageError("--out and --config both name values", do="give one of them")
    if out is not None:
        file = out / "crawl.toml"
        if not file.exists():
            raise NoCrawlError.at(out, f"no {file}")
        return load_saved(file)
    return None if config is None else load(config, {})


def _found(words: list[str]) -> list[Row]:
    """The settings that have all of the words; UsageError names the nearest if there is none."""
    table = rows()
    for named in (
        [row for row in table if [row.name] == words],
        [row for row in table if [row.stage] == words],
    ):
        if named:
            return named
    sought = [_plainly(word) for word in words]
    found = [
        row
        for row in table
        if all(word in _plainly(f"{row.name} {row.meaning}") for word in sought)
    ]
    if found:
        return found
    gone = [old for old in REMOVED if any(word in _plainly(old) for word in sought)]
    if gone:
        raise UsageError("; ".join(map(unknown_setting, gone)), do="gossamer settings lists all")
    near = list(dict.fromkeys(name for word in words for name in nearest(word)))
    hint = f"the nearest: {', '.join(near)}" if near else "gossamer settings lists all"
    raise UsageError(f"no setting has {' '.join(words)!r} in its name or meaning", do=hint)


def _plainly(text: str) -> str:
    return re.sub(r"[-_\s]+", " ", text).lower()


def _as_json(row: Row, defaults: dict[str, Any], now: dict[str, Any] | None) -> dict[str, Any]:
    """As the control API tells it; without `value` if no crawl is named."""
    values_of = {"default": defaults[row.name]} | ({} if now is None else {"value": now[row.name]})
    return row._asdict() | {"written": written(row)} | values_of


def _facts(
    row: Row, defaults: dict[str, Any], now: dict[str, Any] | None, where: str, *, whole: bool
) -> dict[str, str]:
    default = defaults[row.name]
    facts = {
        "written": written(row) + ("; may be absent" if row.optional else ""),
        "default": _value(default, whole=whole),
    }
    if now is not None:
        value = now[row.name]
        facts["now"] = "the same" if value == default else _value(value, whole=whole)
        facts["now"] += f" (in {where})"
    while_running = "while the crawl runs, with gossamer set"
    facts["change"] = while_running if row.live else "fixed when the crawl is started"
    return facts


def _wrapped(text: str, width: int, label: str) -> str:
    indent = _LABEL if label else 4
    return textwrap.fill(
        text,
        width,
        initial_indent=f"    {label}".ljust(indent),
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )


def _value(value: Any, *, whole: bool) -> str:
    if value is None:
        return "absent"
    text = value if isinstance(value, str) and value else msgspec.json.encode(value).decode()
    if isinstance(value, list):
        text = text.replace('","', '", "')
    text = plain(text, len(text))
    return text if whole or len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(value)} in all)"
