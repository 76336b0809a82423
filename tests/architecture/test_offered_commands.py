"""Commands that messages offer are built by one function, which quotes what is put into them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "gossamer"
BEGUN = re.compile(r"\b(gossamer [a-z]+|chmod \d+)( [^`;:]*)?$")
"""A command that goes on with what is put in next."""
QUOTING = {"quoted", "command"}


def put_in(text: ast.JoinedStr) -> Iterator[ast.FormattedValue]:
    """What is put into a command within a text."""
    before = ""
    for part in text.values:
        if isinstance(part, ast.Constant):
            before += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            if BEGUN.search(before):
                yield part
            before += "…"


def is_quoted(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in QUOTING
    )


def test_nothing_is_put_into_a_command_as_it_is() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.JoinedStr)
        for part in put_in(node)
        if not is_quoted(part.value)
    ]
    assert found == [], "build it with gossamer.words.command"


def test_the_rule_finds_what_it_forbids() -> None:
    bad = ast.parse('f"go on with: gossamer crawl --resume --out {out}"').body[0]
    assert isinstance(bad, ast.Expr)
    assert isinstance(bad.value, ast.JoinedStr)
    assert len(list(put_in(bad.value))) == 1
