"""Pages as a Parquet file. Needs pyarrow, which only this uses."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gossamer.errors import UsageError
from gossamer.export.rows import PageRow

ROWS = 10_000
"""Rows in a group, and so in memory."""


def write_parquet(rows: Iterable[PageRow], target: Path) -> int:
    """Writes rows in groups; gives their number. Without pyarrow: a `UsageError` that says so."""
    try:
        import pyarrow  # noqa: PLC0415 - an optional extra
        import pyarrow.parquet  # noqa: PLC0415 - the same
    except ImportError as error:
        raise UsageError(
            "--format parquet needs pyarrow, which is not installed: "
            "pip install 'gossamer[parquet]'"
        ) from error
    schema = _schema(pyarrow)
    count = 0
    with pyarrow.parquet.ParquetWriter(target, schema, compression="zstd") as writer:
        waiting = iter(rows)
        while plain := [msgspec.to_builtins(row) for row in islice(waiting, ROWS)]:
            writer.write_table(pyarrow.Table.from_pylist(plain, schema=schema))
            count += len(plain)
    return count


def _schema(pyarrow: Any) -> Any:
    text, whole = pyarrow.string(), pyarrow.int64()
    small = {"status": pyarrow.int16(), "depth": pyarrow.int32(), "outlinks": pyarrow.int32()}
    kinds = {
        **dict.fromkeys(("bytes", "warc_offset", "warc_length"), whole),
        **dict.fromkeys(("noindex", "nofollow"), pyarrow.bool_()),
        **small,
        "ms": pyarrow.float64(),
    }
    names = [field.encode_name for field in msgspec.structs.fields(PageRow)]
    return pyarrow.schema([(name, kinds.get(name, text)) for name in names])
