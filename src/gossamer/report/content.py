"""Types and languages of pages, which only the WARC files tell.

By default the beginning of each file is read, `SAMPLE` bytes in all: seconds, whatever the crawl's size, and of a
small crawl everything. Reading all of a large one takes about two minutes for each 5 GB of WARC files.
"""

from collections import Counter
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Final

import msgspec

from gossamer._native import StateError, WarcReader, WarcRecord, decode_body, parse_page
from gossamer.library.files import warc_files
from gossamer.library.http import field, fields

SAMPLE: Final = 48 << 20
HEAD: Final = 64 << 10
"""Bytes of a page in which its language is looked for."""
BODY: Final = 8 << 20
"""Bytes of a larger body are not looked at."""
KINDS: Final = 1000
"""Types, and languages, that are told apart."""
OTHERS: Final = "others"
"""As which the rest is counted."""


class Content(msgspec.Struct, frozen=True):
    """`whole`: every record was read, not only the beginnings of files."""

    records: int
    whole: bool
    types: dict[str, int]
    languages: dict[str, int]
    languages_of: int
    """HTML pages whose language was looked for; those in no language are those that do not say it."""
    cut: bool = False
    """There are more types or languages than are told apart."""


def read_content(
    out: Path,
    *,
    whole: bool = False,
    others: Container[tuple[str, str]] = frozenset(),
    committed: Mapping[Path, int] | None = None,
) -> Content:
    """Of responses with status 200. `others`: URL and time of those that are no pages, as the log tells.

    `committed`: the bytes that count of files of which not all does.
    """
    files = warc_files(out)
    total = sum(file.stat().st_size for file in files)
    share = None if whole or total <= SAMPLE else max(1 << 20, SAMPLE // max(1, len(files)))
    if share is not None:
        files = files[:: max(1, len(files) * share // SAMPLE)]
    records, pages, cut = 0, 0, False
    types: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for file in files:
        try:
            reader = WarcReader(file, body_limit=BODY)
        except (StateError, OSError):
            # It may not be read: the audit tells.
            continue
        while True:
            try:
                record = next(reader, None)
            except StateError:
                # Half a record at the end of an open file, or damage: the audit tells.
                break
            if record is None or (share is not None and record.offset > share):
                break
            if committed is not None and record.offset >= committed.get(file, record.offset + 1):
                break
            if record.kind != "response" or record.status != 200:
                continue
            if (record.uri or "", record.date) in others:
                continue
            records += 1
            mime = (record.mime or "not said").lower()
            cut |= _add(types, mime[:60])
            if "html" in mime:
                pages += 1
                if language := _language(record):
                    cut |= _add(languages, language)
    return Content(
        records,
        share is None,
        dict(types.most_common()),
        dict(languages.most_common()),
        pages,
        cut=cut,
    )


def _add(counts: Counter[str], name: str) -> bool:
    """Whether it counts among the others: sites name types and languages as they like, and counts are bounded."""
    is_other = name not in counts and len(counts) >= KINDS
    counts[OTHERS if is_other else name] += 1
    return is_other


def _language(record: WarcRecord) -> str | None:
    """As the page says: its main part, `en` of `en-GB`."""
    head, body = fields(record.head), record.body or b""
    if coding := field(head, "content-encoding"):
        body = decode_body(body, coding, HEAD)[0]
    page = parse_page(
        body[:HEAD],
        record.uri or "http://x/",
        field(head, "content-type"),
        links_bytes=1,
        simhash=False,
    )
    said = (page.lang or "").strip().lower().replace("_", "-").partition("-")[0]
    return said[:12] if said.isalpha() else None
