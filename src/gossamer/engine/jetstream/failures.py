"""The border: errors of the NATS client become ours, by what the caller can do about them."""

import contextlib
from collections.abc import Iterator

import msgspec
import nats.errors
import nats.js.errors

from gossamer.errors import (
    ConflictError,
    EngineAwayError,
    EngineEmptyError,
    EngineError,
    EngineFullError,
    EngineRefusedError,
    NoResponderError,
)

# Numbers of JetStream's own error list.
_WRONG_LAST_SEQUENCE = {10071, 10164}
_FULL = {10023, 10047, 10077}  # no room: of the account, of the server's disk, of the stream
_FULL_WORDS = ("maximum bytes", "maximum messages", "insufficient", "no space")
_NOT_FOUND = {10059}
_NO_LEADER = {10008, 10009, 10118, 10119}
"""The servers cannot agree now, or the one that holds it is away."""


_NOT_ENABLED = {10039, 10076}
"""JetStream is off for the account, or for the server."""


class Fault(msgspec.Struct):
    """An error in an answer of JetStream."""

    code: int = 0
    err_code: int = 0
    description: str = ""

    def raised(self) -> nats.js.errors.APIError:
        return nats.js.errors.APIError(**msgspec.structs.asdict(self))


@contextlib.contextmanager
def explained(what: str) -> Iterator[None]:
    """Errors of the client as ours. `what` was tried."""
    try:
        yield
    except (TimeoutError, nats.errors.Error, OSError) as error:
        raise explain(what, error) from error


def explain(what: str, error: BaseException) -> EngineError:
    if isinstance(error, nats.js.errors.KeyWrongLastSequenceError):
        return ConflictError(f"{what}: somebody else was first")
    if isinstance(error, nats.js.errors.APIError):
        return _api(what, error)
    if isinstance(error, nats.js.errors.NoStreamResponseError):
        # Nobody holds the subject: the stream is not there, or has no leader now.
        return EngineEmptyError(f"{what}: no stream answers")
    if isinstance(error, nats.errors.MaxPayloadError):
        return EngineError(f"{what}: larger than the engine's max_payload")
    if (
        isinstance(error, nats.errors.AuthorizationError)
        or "permissions violation" in str(error).lower()
    ):
        return EngineRefusedError(f"{what}: {_words(error)}")
    if isinstance(error, nats.errors.NoRespondersError):
        return NoResponderError(f"{what}: {_words(error)}")
    return EngineAwayError(f"{what}: {_words(error)}")


def _api(what: str, error: nats.js.errors.APIError) -> EngineError:
    number, text = error.err_code or 0, (error.description or _words(error)).lower()
    if number in _WRONG_LAST_SEQUENCE:
        return ConflictError(f"{what}: somebody else was first")
    if number in _FULL or any(words in text for words in _FULL_WORDS):
        return EngineFullError(f"{what}: {text}")
    if number in _NOT_FOUND or isinstance(error, nats.js.errors.NotFoundError):
        return EngineEmptyError(f"{what}: {text}")
    if number in _NO_LEADER or error.code in {503, 408, 409}:
        return EngineAwayError(f"{what}: {text}")
    if isinstance(error, nats.js.errors.ServiceUnavailableError):
        return EngineAwayError(f"{what}: {text}")
    return EngineError(f"{what}: {text}")


def is_off(error: BaseException) -> bool:
    """Whether JetStream is not turned on: it says so, or nobody answers in its name."""
    if not isinstance(error, nats.js.errors.APIError):
        return False
    is_mute = isinstance(error, nats.js.errors.ServiceUnavailableError) and not error.err_code
    return is_mute or error.err_code in _NOT_ENABLED


def _words(error: BaseException) -> str:
    if isinstance(error, nats.errors.OutboundBufferLimitError):
        return "not connected"
    if isinstance(error, nats.errors.NoRespondersError):
        return "nobody answers there"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error).removeprefix("nats: ") or type(error).__name__
