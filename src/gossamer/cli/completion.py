"""`gossamer completion`: a script for a shell, whole in itself: completing starts no Python."""

from enum import StrEnum
from typing import Annotated

import typer

from gossamer.cli.commands import COMMANDS
from gossamer.cli.completion_table import Completed, read


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell.", metavar="bash|zsh|fish")],
) -> None:
    """Print a script that completes commands and options in your shell."""
    write = {Shell.BASH: _bash, Shell.ZSH: _zsh, Shell.FISH: _fish}[shell]
    print("\n".join(write(read())))


def _quoted(text: str) -> str:
    """For bash and zsh: nothing is special between single quotes but they themselves."""
    return "'" + text.replace("'", "'\\''") + "'"


def _branches(table: Completed, actions: dict[str, str], words: str) -> list[str]:
    """Branches of a `case` over `command option`: what is done for the option's value."""
    lines = []
    for command, options in table["commands"].items():
        for option, takes in options.items():
            if takes:
                action = actions.get(takes) or words.format(takes)
                lines.append(f"        {_quoted(f'{command} {option}')}) {action}; return ;;")
    return lines


def _lists(table: Completed, words: str) -> list[str]:
    """Branches of a `case` over the command: its options."""
    return [
        f"        {_quoted(command)}) {words.format(' '.join(options))} ;;"
        for command, options in table["commands"].items()
    ]


def _bash(table: Completed) -> list[str]:
    """For `eval "$(gossamer completion bash)"` in .bashrc."""
    # A line is a name: names of files may have blanks.
    names = 'mapfile -t COMPREPLY < <(compgen {} -- "$word"); compopt -o filenames'
    actions = {
        "value": ":",
        "file": names.format("-f"),
        "dir": names.format("-d"),
        "setting": 'COMPREPLY=($(compgen -W "$settings" -S = -- "$word")); compopt -o nospace',
    }
    offer = 'COMPREPLY=($(compgen -W {} -- "$word"))'
    own_commands, own_settings = '"$inner"', '"$settings"'
    groups = [
        f"        {name}) inner={_quoted(' '.join(words))} ;;"
        for name, words in table["groups"].items()
    ]
    arguments = [
        f"    {_quoted(command)}) {offer.format(_quoted(words))} ;;"
        for command, words in table["arguments"].items()
    ]
    return [
        '# Completion of gossamer for bash: eval "$(gossamer completion bash)"',
        "_gossamer() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '    local command="${COMP_WORDS[1]}" inner=""',
        f"    local settings={_quoted(' '.join(table['settings']))}",
        "    COMPREPLY=()",
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f"        {offer.format(_quoted(' '.join([*COMMANDS, '--help', '--version'])))}; return",
        "    fi",
        "    # --option=value is three words to bash.",
        '    if [ "$word" = = ]; then word=""',
        '    elif [ "$before" = = ]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi',
        '    case "$command" in',
        *groups,
        "    esac",
        '    if [ -n "$inner" ]; then',
        '        if [ "$COMP_CWORD" -eq 2 ] && [ "${word:0:1}" != - ]; then',
        f"            {offer.format(own_commands)}; return",
        "        fi",
        '        case " $inner " in *" ${COMP_WORDS[2]} "*) command="$command ${COMP_WORDS[2]}" ;; esac',
        "    fi",
        '    case "$command $before" in',
        *_branches(table, actions, offer.format("'{}'")),
        "    esac",
        '    if [ "${word:0:1}" = - ]; then',
        '        case "$command" in',
        *_lists(table, offer.format("'{}'")),
        "        esac",
        "        return",
        "    fi",
        '    case "$command" in',
        *arguments,
        f"    set|settings) {offer.format(own_settings)} ;;",
        "    esac",
        "}",
        "complete -o default -F _gossamer gossamer",
    ]


def _zsh(table: Completed) -> list[str]:
    """For `eval "$(gossamer completion zsh)"` in .zshrc, or as the file _gossamer of $fpath."""
    actions = {
        "value": ":",
        "file": "_files",
        "dir": "_files -/",
        "setting": "compadd -S = -- $settings",
    }
    offer = "compadd -- {}"
    commands = [
        f"        {_quoted(_described(name, command.help))}" for name, command in COMMANDS.items()
    ]
    groups = [
        f"        {name}) inner=({' '.join(words)}) ;;" for name, words in table["groups"].items()
    ]
    arguments = [
        f"    {_quoted(command)}) {offer.format(words)} ;;"
        for command, words in table["arguments"].items()
    ]
    return [
        "#compdef gossamer",
        "_gossamer() {",
        '    local word="${words[CURRENT]}" before="${words[CURRENT-1]}" command="${words[2]}"',
        "    local -a inner commands settings",
        f"    settings=({' '.join(table['settings'])})",
        "    commands=(",
        *commands,
        "    )",
        "    if (( CURRENT == 2 )); then",
        '        if [[ "$word" == -* ]]; then compadd -- --help --version; else _describe command commands; fi',
        "        return",
        "    fi",
        "    # --option=value: the value is completed.",
        '    if [[ "$word" == --*=* ]]; then before="${word%%=*}"; word="${word#*=}"; compset -P "*="; fi',
        '    case "$command" in',
        *groups,
        "    esac",
        "    if (( $#inner )); then",
        '        if (( CURRENT == 3 )) && [[ "$word" != -* ]]; then compadd -- $inner; return; fi',
        '        if (( $inner[(Ie)$words[3]] )); then command="$command $words[3]"; fi',
        "    fi",
        '    case "$command $before" in',
        *_branches(table, actions, offer),
        "    esac",
        '    if [[ "$word" == -* ]]; then',
        '        case "$command" in',
        *_lists(table, offer),
        "        esac",
        "        return",
        "    fi",
        '    case "$command" in',
        *arguments,
        "    set|settings) compadd -- $settings ;;",
        "    *) _files ;;",
        "    esac",
        "}",
        'if [ "$funcstack[1]" = _gossamer ]; then _gossamer "$@"; else compdef _gossamer gossamer; fi',
    ]


def _described(name: str, text: str) -> str:
    """A word and what it is, as zsh separates them."""
    return name + ":" + text.replace(":", "\\:")


def _fish(table: Completed) -> list[str]:
    """For `gossamer completion fish > ~/.config/fish/completions/gossamer.fish`."""
    takes_of = {
        "": "",
        "value": " -x",
        "file": " -r -F",
        "dir": " -x -a '(__fish_complete_directories)'",
        "setting": f" -x -a {_quoted(' '.join(f'{name}=' for name in table['settings']))}",
    }
    first = "complete -c gossamer -n __gossamer_first -f"
    lines = [*_fish_functions(table), f"{first} -l help", f"{first} -l version"]
    for name, command in COMMANDS.items():
        lines.append(f"{first} -a {name} -d {_quoted_for_fish(command.help)}")
    for name, inner in table["groups"].items():
        lines.append(f"{_fish_in(name)} -f -a {_quoted(' '.join(inner))}")
    for command_words, options in table["commands"].items():
        for option, takes in options.items():
            spelt = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            taken = takes_of.get(takes, f" -x -a {_quoted(takes)}")
            lines.append(f"{_fish_in(command_words)} {spelt}{taken}")
    settings = " ".join(table["settings"])
    for name, words in {**table["arguments"], "set": settings, "settings": settings}.items():
        lines.append(f"{_fish_in(name)} -f -a {_quoted(words)}")
    return lines


def _fish_in(command_words: str) -> str:
    return f"complete -c gossamer -n '__gossamer_in \"{command_words}\"'"


def _fish_functions(table: Completed) -> list[str]:
    """The command is the first word, with those that have commands of their own the first two; the same word further
    on, such as the name of a directory, is none.
    """
    groups = [
        line
        for name, inner in table["groups"].items()
        for line in (
            f"        case {name}",
            f'            contains -- "$words[3]" {" ".join(inner)}; and set name "$words[2] $words[3]"',
        )
    ]
    return [
        "# Completion of gossamer for fish",
        "function __gossamer_first",
        "    test (count (commandline -opc)) -eq 1",
        "end",
        "function __gossamer_in",
        "    set -l words (commandline -opc)",
        '    set -l name "$words[2]"',
        '    switch "$words[2]"',
        *groups,
        "    end",
        '    test "$name" = "$argv[1]"',
        "end",
    ]


def _quoted_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
