"""The files of a crawl: one node's directory, or a cluster's with one directory per node."""

from pathlib import Path


def _roots(out: Path) -> list[Path]:
    nodes = out / "nodes"
    return [out, *sorted(nodes.iterdir())] if nodes.is_dir() else [out]


def warc_files(out: Path, *, unfinished: bool = True) -> list[Path]:
    """The WARC files below `out` in the order of their names, those still `.open` too if wanted."""
    patterns = ["*.warc.gz", "*.warc.gz.open"] if unfinished else ["*.warc.gz"]
    found = [
        file
        for root in _roots(out)
        for pattern in patterns
        for file in root.glob(f"warc/{pattern}")
    ]
    return sorted(found)


def log_files(out: Path) -> list[Path]:
    """The fetch logs below `out` in the order of their names."""
    return sorted(file for root in _roots(out) for file in root.glob("log/*.jsonl"))
