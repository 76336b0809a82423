"""One batch through the policies of its door: their answers, checked and joined.

Takes a batch and the policies; gives the columns for the native side. FailedError: one of them raised or
gave nonsense. Then the whole batch has the native default: no page is judged by half of a chain.
"""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gossamer.policy.answer import REASON_LENGTH, NonsenseError, json_hook
from gossamer.policy.batch import Batch
from gossamer.policy.doors import DOORS

TRACE_LENGTH = 10_000
"""Characters kept of the beginning of a trace, and of its end."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A policy that did not answer as it should."""

    door: str
    policy: str
    kind: str
    """`raised`, `nonsense` or `late`"""
    text: str
    """One line."""
    trace: str = ""
    """Where it was raised, for the log."""

    def __str__(self) -> str:
        return f"{self.policy} {self.kind}: {self.text}"


class FailedError(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def ask(batch: Batch, policies: Sequence[Any]) -> dict[str, list[Any]]:
    """What the policies say together."""
    first, *others = policies
    joined = _answer(batch, first)
    if others:
        joined["reason"] = [_named(first.name, text) for text in joined["reason"]]
    for policy in others:
        columns = _answer(batch, policy)
        columns["reason"] = [_named(policy.name, text) for text in columns["reason"]]
        joined = _joined(joined, columns, len(batch))
    if "fields" in joined:
        joined["fields"] = [
            None if value is None else msgspec.json.encode(value, enc_hook=json_hook).decode()
            for value in joined["fields"]
        ]
    return joined


def _answer(batch: Batch, policy: Any) -> dict[str, list[Any]]:
    door = DOORS[batch.door]
    try:
        answer = getattr(policy, door.method)(batch)
        if not isinstance(answer, door.answer):
            raise NonsenseError(  # noqa: TRY301  the same words as for every other nonsense
                f"{door.method} gave {type(answer).__name__}, not {door.answer.__name__}"
            )
        return answer.columns(len(batch))
    except NonsenseError as error:
        raise FailedError(Failure(door.name, policy.name, "nonsense", str(error))) from error
    # Whatever it is, also an exit: it is the policy's, and the crawl goes on.
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"[:500]
        trace = _bounded("".join(traceback.format_exception(error)))
        raise FailedError(Failure(door.name, policy.name, "raised", text, trace)) from error


def _bounded(trace: str) -> str:
    """The exception, which stands last, may hold a whole page; `text` has its beginning."""
    if len(trace) <= 2 * TRACE_LENGTH:
        return trace
    return f"{trace[:TRACE_LENGTH]}\n…\n{trace[-TRACE_LENGTH:]}"


def _named(name: str, reason: str | None) -> str | None:
    return None if reason is None else f"{name}: {reason}"


def _joined(
    first: dict[str, list[Any]], second: dict[str, list[Any]], rows: int
) -> dict[str, list[Any]]:
    """Later policies of a chain add to what earlier ones said; what was dropped stays dropped."""
    nothing = [None] * rows
    found = {}
    for name in {**first, **second}:
        pairs = zip(first.get(name, nothing), second.get(name, nothing), strict=True)
        found[name] = [_value(name, one, two) for one, two in pairs]
    return found


def _value(name: str, one: Any, two: Any) -> Any:
    if one is None or two is None:
        return two if one is None else one
    if name == "keep":
        return one and two
    if name == "fields":
        return {**one, **two}
    if name == "links":
        return list(dict.fromkeys([*one, *two]))
    if name == "reason":
        return f"{one}; {two}"[:REASON_LENGTH]
    return two
