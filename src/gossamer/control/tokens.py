"""Tokens: who may look and who may operate. Generated, in files that only their owner can read.

Takes the control directory; gives the access that a presented token has. Guarantees: a token never
leaves its file but to be compared; comparing takes the same time whatever is presented.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.control.schemas import Access, Role
from gossamer.errors import FileError, GossamerError, SettingsError
from gossamer.words import quoted

FILES: Final = {Role.OPERATE: "token", Role.READ: "token-read"}
ELSEWHERE: Final = "tokens"
"""A file in the control directory: where the tokens are, for those who look for them there."""
_LEAST = 32
_MOST = 512


class Tokens:
    """The tokens of one crawl, as hashes."""

    def __init__(self, tokens: dict[Role, str]) -> None:
        self._known = [
            (_digest(token), Access(role=role, token_id=token_id(token)))
            for role, token in tokens.items()
        ]

    def access(self, token: str) -> Access | None:
        """What this token allows; `None`: nothing."""
        presented = _digest(token)
        found: Access | None = None
        for known, access in self._known:
            # All are compared, so that time tells nothing.
            if hmac.compare_digest(known, presented):
                found = access
        return found


def token_id(token: str) -> str:
    """A name for a token that does not give it away."""
    return hashlib.sha256(token.encode()).hexdigest()[:8]


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()


def ensure_tokens(directory: Path, *, shared: bool = False) -> Tokens:
    """Reads the token files, making those that are not there.

    A control directory is made its owner's alone. One that the settings name (`shared`) is not ours
    to change: it is refused if it is open to others.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not shared:
            directory.chmod(0o700)
        mode = directory.stat().st_mode
    except OSError as error:
        raise FileError(f"no tokens can be in {directory}: {error.strerror}") from error
    if mode & 0o077:
        raise SettingsError(
            f"control.tokens: {directory} is open to others; make it yours alone "
            f"(chmod 700 {quoted(directory)}), or name another"
        )
    return Tokens({role: _ensure(directory / name) for role, name in FILES.items()})


def token_file(directory: Path) -> Path:
    """The file with the token to operate, of whoever serves from this control directory."""
    try:
        place = Path((directory / ELSEWHERE).read_text().strip())
    except OSError:
        place = directory
    return place / FILES[Role.OPERATE]


def read_token(file: Path) -> str:
    """A token from its file; refused if others can read it."""
    try:
        with _opened(file, os.O_RDONLY) as handle:
            mode = os.fstat(handle.fileno()).st_mode
            text = handle.read(_MOST + 1).decode("ascii", errors="replace").strip()
    except OSError as error:
        raise FileError(f"cannot read the token in {file}: {error.strerror}") from error
    if mode & 0o077:
        raise GossamerError(
            f"{file} can be read by others", do=f"make it yours alone: chmod 600 {quoted(file)}"
        )
    if not _LEAST <= len(text) <= _MOST or not text.isprintable() or " " in text:
        raise GossamerError(f"{file} holds no token", do="remove it to have a new one made")
    return text


def _ensure(file: Path) -> str:
    if not file.exists():
        try:
            with _opened(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as handle:
                handle.write(secrets.token_urlsafe(32).encode() + b"\n")
                handle.flush()
                os.fsync(handle.fileno())
        except FileExistsError:
            pass
        except OSError as error:
            raise FileError(f"cannot make {file}: {error.strerror}") from error
    return read_token(file)


def _opened(file: Path, flags: int) -> BinaryIO:
    # A link could lead to a file of somebody else.
    handle = os.open(file, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    file_object: BinaryIO = os.fdopen(handle, "wb" if flags & os.O_WRONLY else "rb")
    return file_object
