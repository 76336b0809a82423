"""What can be completed: commands, options and their values, as `completion.json` beside this file.

Collected once from the commands themselves by `python -m gossamer.cli.completion_table`, and compared with them by a
test, so that a script for a shell is written, and works, without loading any of them.
"""

import enum
import json
from pathlib import Path
from typing import Any, Final, TypedDict

FILE: Final = Path(__file__).with_name("completion.json")


class Completed(TypedDict):
    """`commands`: by their words, such as `nodes list`, each option and what it takes. `groups`: the commands of a
    command. `arguments`: by the words of a command, what may stand there beside options, where that is one of several
    words. `settings`: their names.

    An option takes `""` nothing, `value` what cannot be completed, `file`, `dir`, `setting`, or one of several words.
    """

    commands: dict[str, dict[str, str]]
    groups: dict[str, list[str]]
    arguments: dict[str, str]
    settings: list[str]


def read() -> Completed:
    table: Completed = json.loads(FILE.read_text())
    return table


def collect() -> Completed:
    """The table from the commands themselves. All of them are loaded."""
    import typer  # noqa: PLC0415

    from gossamer.cli.commands import COMMANDS  # noqa: PLC0415
    from gossamer.cli.main import make_app  # noqa: PLC0415
    from gossamer.settings.rows import rows  # noqa: PLC0415

    names = [row.name for row in rows()]
    table = Completed(commands={}, groups={}, arguments={}, settings=names)
    for name, command in COMMANDS.items():
        whole: Any = typer.main.get_command(make_app(command))
        one = whole.commands[name]
        table["commands"][name] = _options(one)
        inner = getattr(one, "commands", {})
        if inner:
            table["groups"][name] = list(inner)
        table["commands"] |= {f"{name} {word}": _options(of) for word, of in inner.items()}
        if words := " ".join(_arguments(one)):
            table["arguments"][name] = words
    return table


def _options(command: Any) -> dict[str, str]:
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    return {word: _takes(one) for one in options for word in one.opts} | {"-h": "", "--help": ""}


def _arguments(command: Any) -> list[str]:
    kinds = [
        one.type_descriptor.annotation
        for one in command.params
        if one.param_type_name == "argument"
    ]
    return [word for kind in kinds if _is_choice(kind) for word in _choices(kind)]


def _is_choice(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def _choices(kind: Any) -> list[str]:
    return [one.value for one in kind]


def _takes(option: Any) -> str:
    annotation = option.type_descriptor.annotation
    if option.is_flag:
        return ""
    if option.opts[0] == "--set":
        return "setting"
    if _is_choice(annotation):
        return " ".join(_choices(annotation))
    if annotation is Path:
        return "dir" if option.opts[0] == "--out" else "file"
    return "value"


if __name__ == "__main__":
    FILE.write_text(json.dumps(collect(), indent=1) + "\n")
