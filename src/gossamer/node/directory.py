"""The directory of a crawl: who may begin or go on in it, and what is written before the state.

Takes: the directory, the settings, the seeds. Guarantees: a crawl that was begun can be resumed,
whenever it was killed; nothing of a directory that is refused is changed.

`crawl.toml` is there before the state, so a state never goes on with settings it does not know.
`seeds.new` holds the seeds until the state has them.
"""

from pathlib import Path

import msgspec

from gossamer.disk import write_whole
from gossamer.errors import FileError, UsageError
from gossamer.settings import CrawlSettings, dump

SETTINGS = "crawl.toml"
SEEDS = "seeds.new"
_UNFINISHED = {SEEDS, f"{SEEDS}.new", f"{SETTINGS}.new"}
"""All that a crawl can leave which was killed before it had begun."""


def prepare(
    out: Path, settings: CrawlSettings, seeds: list[str], *, resume: bool, cleared: bool = False
) -> list[str]:
    """Makes the directory of a new crawl, or checks that there is one to resume.

    `cleared`: a crawl was here, so whatever else is in the directory may stay. Gives the seeds that the state does
    not have yet.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is not a directory", do="choose another --out")
    begun = (out / SETTINGS).exists() or (out / "state").exists()
    if resume:
        if not begun:
            raise UsageError(
                f"{out} holds no crawl to resume (no {out / SETTINGS})",
                do="begin one without --resume",
            )
        return _kept_seeds(out) + seeds
    if begun:
        raise UsageError(
            f"{out} holds a crawl already", do="go on with --resume, or choose another --out"
        )
    if out.exists() and not cleared and any(file.name not in _UNFINISHED for file in out.iterdir()):
        raise UsageError(f"{out} is not empty and holds no crawl", do="choose another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / SEEDS, msgspec.json.encode(seeds))
    except OSError as error:
        raise FileError(f"cannot begin a crawl in {out}: {error.strerror}") from error
    save_settings(out, settings)
    return seeds


def save_settings(out: Path, settings: CrawlSettings) -> None:
    """Keeps the effective settings. On a resume only after the state is ours."""
    file, text = out / SETTINGS, dump(settings).encode()
    try:
        if not file.exists() or file.read_bytes() != text:
            write_whole(file, text)
    except OSError as error:
        raise FileError(f"cannot write {file}: {error.strerror}") from error


def seeds_are_safe(out: Path) -> None:
    """The state has the seeds; they need not be kept beside it any longer."""
    (out / SEEDS).unlink(missing_ok=True)


def _kept_seeds(out: Path) -> list[str]:
    try:
        return msgspec.json.decode((out / SEEDS).read_bytes(), type=list[str])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError) as error:
        raise FileError(f"cannot read {out / SEEDS}: {error}") from error
