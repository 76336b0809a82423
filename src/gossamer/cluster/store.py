"""The object store that snapshots and files go to: a directory, or S3 and the like.

Takes: an address, and keys from the environment alone. Gives: a store, and what went wrong with it in a
line. Guarantees: keys are in no setting, no list of processes and no message.
"""

import os
import re
from pathlib import Path

from obstore.store import LocalStore, ObjectStore, from_url

from gossamer.errors import SettingsError

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


def open_store(url: str) -> ObjectStore:
    """`s3://bucket/prefix` and the like, `file:///directory`, or a plain directory.

    Nothing is asked of an object store yet: keys that are wrong are found by the first use.
    """
    try:
        if "://" in url and not url.startswith("file://"):
            _check_s3(url)
            return from_url(url)
        directory = Path(url.removeprefix("file://")).absolute()
        return LocalStore(directory, mkdir=True)
    except SettingsError:
        raise
    except Exception as error:
        raise SettingsError(f"cluster.snapshots: cannot use {url}: {words(error)}") from error


def _check_s3(url: str) -> None:
    """What the library itself would tell in riddles."""
    if not url.startswith("s3://"):
        return
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    if endpoint.startswith("http://") and not os.environ.get("AWS_ALLOW_HTTP"):
        raise SettingsError(
            f"cluster.snapshots: cannot use {url}: {endpoint} is without TLS; set AWS_ALLOW_HTTP=true "
            "if that is meant"
        )


def words(error: Exception) -> str:
    """An error of the library in one line: its inner structure is left out."""
    text = str(error).partition("\n\nDebug source")[0]
    text, xml, answer = text.partition("<?xml")
    if xml:
        told = [
            re.search(f"<{tag}>(.*?)</{tag}>", answer, re.DOTALL) for tag in ("Code", "Message")
        ]
        text += ", ".join(found[1] for found in told if found)
    text = " ".join(text.split())
    if "/latest/api/token" in text:
        text += "; no keys were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    return text


def refused(error: Exception) -> bool:
    """Whether listing failed for what trying again does not mend: a wrong key, no such bucket."""
    text = words(error)
    return any(f"status code: {code} " in text for code in (401, 403, 404))
