"""A NATS credentials file: who we are (a JWT), and the key that proves it.

Takes: the file. Gives: its content in the form that the client wants, anew at each connection, so that a
renewed file counts without a restart. Guarantees: a file that cannot be used is named with its fault when
the line is opened; one that becomes bad later (half written, removed) does not count, the last good one
does.
"""

import base64
import contextlib
import re
from pathlib import Path

import msgspec
import nkeys
from nats.aio.client import RawCredentials

from gossamer.errors import SettingsError

_JWT = re.compile(r"-BEGIN NATS USER JWT-+\s+([\w.-]+)\s+-+END NATS USER JWT-", re.ASCII)
_SEED = re.compile(r"-BEGIN USER NKEY SEED-+\s+(\w+)\s+-+END USER NKEY SEED-", re.ASCII)
_FORM = """\
-----BEGIN NATS USER JWT-----
{jwt}
------END NATS USER JWT------
-----BEGIN USER NKEY SEED-----
{seed}
------END USER NKEY SEED------
"""


class Credentials(RawCredentials):
    """Looks like text to the client, and is read when it looks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last = _read(file)

    @property
    def data(self) -> str:  # type: ignore[override]
        with contextlib.suppress(SettingsError):
            self._last = _read(self._file)
        return self._last


def _read(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cluster.credentials: cannot read {file}: {error}") from error
    # Looked for here: the client itself would look for ever.
    jwt, seed = _JWT.search(text), _SEED.search(text)
    if jwt is None or seed is None:
        missing = "user JWT" if jwt is None else "user key (NKEY SEED)"
        raise SettingsError(
            f"cluster.credentials: {file} has no {missing}: not a credentials file?"
        )
    if _owner(jwt[1]) != _public(seed[1]):
        raise SettingsError(
            f"cluster.credentials: JWT and key in {file} are damaged, or do not belong together"
        )
    return _FORM.format(jwt=jwt[1], seed=seed[1])


def _owner(jwt: str) -> str | None:
    """The public key that the JWT is about. Whether it is to be trusted is for the server to say."""
    try:
        part = jwt.split(".")[1]
        claims = msgspec.json.decode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return str(claims["sub"])
    except (ValueError, LookupError, TypeError):
        return None


def _public(seed: str) -> str:
    try:
        return str(nkeys.from_seed(bytearray(seed, "ascii")).public_key.decode())
    except Exception:  # noqa: BLE001  whatever the library makes of a damaged key
        return ""
