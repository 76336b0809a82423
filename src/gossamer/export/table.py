"""Pages as a Parquet file. Needs pyarrow, which only this uses."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gossamer.errors import UsageError
from gossamer.export.rows import HtmlRow, PageRow

ROWS = 10_000
ROWS_WITH_HTML = 200
"""Rows in a group, and so in memory."""


def write_parquet(rows: Iterable[PageRow], target: Path, *, html: bool = False) -> int:
    """Writes rows in groups; gives their number. Without pyarrow: a `UsageError` that says so."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - the same
    except ImportError as error:
        raise UsageError(
            "--format parquet needs pyarrow, which is not installed",
            do="pip install 'gossamer[parquet]'",
        ) from error
    schema = _schema(pa, HtmlRow if html else PageRow)
    count = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        waiting = iter(rows)
        while plain := [
            msgspec.to_builtins(row) for row in islice(waiting, ROWS_WITH_HTML if html else ROWS)
        ]:
            writer.write_table(pa.Table.from_pylist(plain, schema=schema))
            count += len(plain)
    return count


def _schema(pa: Any, row: type[PageRow]) -> Any:
    text, whole = pa.string(), pa.int64()
    small = {"status": pa.int16(), "depth": pa.int32(), "outlinks": pa.int32()}
    kinds = {
        **dict.fromkeys(("bytes", "warc_offset", "warc_length"), whole),
        **dict.fromkeys(("noindex", "nofollow", "noarchive", "soft_404"), pa.bool_()),
        **small,
        "ms": pa.float64(),
    }
    names = [field.encode_name for field in msgspec.structs.fields(row)]
    return pa.schema([(name, kinds.get(name, text)) for name in names])
