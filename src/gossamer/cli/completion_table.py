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
    command. `settings`: their names.

    An option takes `""` nothing, `value` what cannot be completed, `file`, `dir`, `setting`, or one of several words.
    """

    commands: dict[str, dict[str, str]]
    groups: dict[str, list[str]]
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

    table = Completed(commands={}, groups={}, settings=[row.name for row in rows()])
    for name, command in COMMANDS.items():
        whole: Any = typer.main.get_command(make_app(command))
        one = whole.commands[name]
        table["commands"][name] = _options(one)
        inner = getattr(one, "commands", {})
        if inner:
            table["groups"][name] = list(inner)
        table["commands"] |= {f"{name} {word}": _options(of) for word, of in inner.items()}
    return table


def _options(command: Any) -> dict[str, str]:
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    return {word: _takes(one) for one in options for word in one.opts} | {"-h": "", "--help": ""}


def _takes(option: Any) -> str:
    annotation = option.type_descriptor.annotation
    if option.is_flag:
        return ""
    if option.opts[0] == "--set":
        return "setting"
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return " ".join(one.value for one in annotation)
    if annotation is Path:
        return "dir" if option.opts[0] == "--out" else "file"
    return "value"


if __name__ == "__main__":
    FILE.write_text(json.dumps(collect(), indent=1) + "\n")
