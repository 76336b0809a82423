"""Wrong options and arguments, told in our words."""

from typing import Any, Final, cast

from typer import BadParameter
from typer.exceptions import TyperException

from gossamer.words import plain

LONGEST: Final = 2000
_UNREADABLE: Final = " is not readable."

_WORDS: Final = {
    "int": "a whole number expected",
    "float": "a number expected",
    "greater_than_equal": "at least {ge} expected",
    "less_than_equal": "at most {le} expected",
}
"""By the beginning of the library's name for the fault."""


def tell(error: TyperException) -> int:
    """Says on standard error what is wrong; gives the exit code."""
    if isinstance(error, BadParameter) and error.__cause__ is not None:
        error.message = _words(error)
    elif error.message.endswith(_UNREADABLE):
        error.message = (
            f"{error.message.rstrip('.')}; check whose it is and its permissions, or name another"
        )
    # One line, also where an argument is quoted in it that has several; but for the help of a group of commands.
    if not error.message.startswith("Usage: "):
        error.message = plain(error.message, LONGEST)
    cast("Any", error).show()
    return error.exit_code


def _words(error: BadParameter) -> str:
    # What the library's own library found; its words are about types of Python.
    (fault, *_) = cast("Any", error.__cause__).errors()
    form = next((text for key, text in _WORDS.items() if fault["type"].startswith(key)), None)
    if form is None:
        return error.message.removeprefix("Value error, ")
    return f"{form.format_map(fault.get('ctx', {}))}; got {plain(str(fault['input']))}"
