"""The stored page of a URL, between the native node's account of it and the API."""

from pathlib import Path
from typing import Any

from gossamer.control.schemas import StoredPage
from gossamer.control.service import NotKnownError
from gossamer.library.stored_text import StoredText, warc_name


def name_stored(directory: Path, account: dict[str, Any]) -> None:
    """Adds the name of the WARC file to what is known of a URL's last visit."""
    last = account.get("last_visit")
    if last is not None and last.get("warc_file") is not None:
        last["warc_name"] = warc_name(directory, last["warc_file"])


def stored_place(account: dict[str, Any]) -> tuple[int, int]:
    """Number of the WARC file, and the byte; `NotKnownError`: nothing is stored."""
    last = account.get("last_visit") or {}
    if "url" not in account or last.get("warc_file") is None:
        raise NotKnownError("not_stored", "nothing of this URL is stored")
    return last["warc_file"], last["warc_offset"]


def stored_page(url: str, node: str, text: StoredText | None) -> StoredPage:
    if text is None:
        raise NotKnownError(
            "not_stored",
            "its record is not in the files of the node that owns it now: see `gossamer export`",
        )
    return StoredPage(
        url=url, node=node, file=text.file, offset=text.offset, kind=text.kind,
        media_type=text.media_type, head=text.head, text=text.text, cut=text.cut, note=text.note,
    )  # fmt: skip
