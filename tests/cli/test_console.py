"""What draws on a terminal steers it itself; the text in the drawing does not."""

import io
import json
import sys

import pytest
from rich.table import Table
from rich.text import Text

from gossamer.cli.console import SafeConsole
from gossamer.cli.json_output import print_json
from gossamer.cli.terminal import drawn_on, harmless_streams

EVIL = "a\x1b[2J\u202eb"
SHOWN = "a\\x1b[2J\\u202eb"


def test_text_in_a_drawing_is_shown_and_its_colours_are_ours() -> None:
    stream = io.StringIO()
    console = SafeConsole(file=stream, force_terminal=True, color_system="standard", width=80)
    table = Table("head")
    table.add_row(Text(EVIL))
    console.print(Text(EVIL, style="red"), table)
    said = stream.getvalue()
    assert SHOWN in said
    assert "\x1b[31m" in said
    assert "\x1b[2J" not in said
    assert "\u202e" not in said


def test_prints_are_gated_and_drawings_go_past_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with harmless_streams():
        print(EVIL, "b\nc")
        below = drawn_on(sys.stdout)
        below.write("\x1b[0m")
    assert below is before
    assert sys.stdout is before
    assert capsys.readouterr().out == f"{SHOWN} b\nc\n\x1b[0m"


def test_json_has_the_same_values_in_its_own_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"a": EVIL, "b": "é\U000e0001\x7f\u2028\u00a0"}
    print_json(value)
    said = capsys.readouterr().out
    assert said.rstrip("\n").isprintable()
    assert json.loads(said) == value
