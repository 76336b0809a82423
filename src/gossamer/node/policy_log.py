"""Failures of policies in the log, with the trace of what they raised."""

from gossamer.logging import logger
from gossamer.policy.ask import Failure

_log = logger("policy")


def log_failure(failure: Failure) -> None:
    """Called from the threads of the doors. The log writes the same failure once a minute, with a count."""
    trace = {"exception": failure.trace} if failure.trace else {}
    _log.warning(
        "policy failed",
        door=failure.door,
        policy=failure.policy,
        kind=failure.kind,
        error=failure.text,
        **trace,
    )
