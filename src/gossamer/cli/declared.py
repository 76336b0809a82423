"""Commands that are declared in one place and done in another, so that their help loads nothing heavy."""

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any


def done_by(place: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a declaration a command. `place`: the module, loaded when the command runs, and the function in it,
    which has the same parameters.
    """
    module, _, name = place.partition(":")

    def command(declared: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(declared)
        def run(*given: Any, **named: Any) -> None:
            getattr(import_module(module), name)(*given, **named)

        run.place = place  # type: ignore[attr-defined]
        return run

    return command
