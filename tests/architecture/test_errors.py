"""Whatever is raised says what to do: the error's class, or the place that raises it."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import gossamer
from gossamer.control.service import ServiceError
from gossamer.errors import GossamerError

SOURCE = Path(__file__).parents[2] / "src" / "gossamer"


def kinds() -> Iterator[type[GossamerError]]:
    """Every class of ours, wherever it is."""
    for module in pkgutil.walk_packages(gossamer.__path__, "gossamer."):
        if module.name.startswith(("gossamer.cli", "gossamer.control", "gossamer.cluster")) or (
            module.name.count(".") == 1
        ):
            importlib.import_module(module.name)
    waiting = [GossamerError]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        yield kind


def silent_kinds() -> set[str]:
    """Names of the classes that do not say themselves what to do."""
    # Those of the control API have a code and a detail, which its schema describes.
    return {kind.__name__ for kind in kinds() if not kind.remedy and not issubclass(kind, ServiceError)}  # fmt: skip


def says(call: ast.Call) -> bool:
    for given in call.keywords:
        if given.arg == "do":
            return not (isinstance(given.value, ast.Constant) and len(str(given.value.value)) <= 10)
    return False


def test_every_error_that_is_raised_says_what_to_do() -> None:
    silent = silent_kinds()
    assert {"GossamerError", "UsageError"} <= silent
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno} {node.func.id}"
        for file in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in silent
        and not says(node)
    ]
    assert found == []


def test_what_is_said_at_the_place_stands_for_what_the_kind_says() -> None:
    class LostError(GossamerError):
        remedy = "look for it"

    assert LostError("lost").in_words() == "lost; look for it"
    assert LostError("lost", do="take another").in_words() == "lost; take another"
    assert str(LostError("lost", do="take another")) == "lost; take another"
    assert GossamerError("lost").in_words() == "lost"
    assert inspect.signature(GossamerError).parameters["do"].kind is inspect.Parameter.KEYWORD_ONLY
