"""No cycle between packages: the import graph of the real code, and the contracts of the layout.

A package is a folder or a module directly under `gossamer`. All `import` statements count, also those
inside functions; those under `TYPE_CHECKING` are looked at apart, because they do not run.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "gossamer"

Graph = dict[str, dict[str, str]]
"""Package → package that it imports → one place where it does."""


class Imports(ast.NodeVisitor):
    """Every import of a file: the module's full name, the line, and whether it is for types only."""

    def __init__(self, package: list[str]) -> None:
        self._package = package
        self._typing = 0
        self.found: list[tuple[str, int, bool]] = []

    def visit_If(self, node: ast.If) -> None:
        names = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
        names |= {one.attr for one in ast.walk(node.test) if isinstance(one, ast.Attribute)}
        only_types = "TYPE_CHECKING" in names
        self._typing += only_types
        for child in node.body:
            self.visit(child)
        self._typing -= only_types
        for child in node.orelse:
            self.visit(child)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._note(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = self._package[: len(self._package) - node.level + 1] if node.level else []
        module = ".".join([*base, node.module or ""]).strip(".")
        for alias in node.names:
            # `from gossamer import errors` names a package in its second half.
            self._note(f"{module}.{alias.name}", node)

    def visit_Call(self, node: ast.Call) -> None:
        """`import_module("gossamer.x")`, where the name is written out."""
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        if name in {"import_module", "__import__"} and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                self._note(first.value, node)
        self.generic_visit(node)

    def _note(self, name: str, node: ast.stmt | ast.expr) -> None:
        self.found.append((name, node.lineno, self._typing > 0))


def files(source: Path) -> Iterator[tuple[str, Path]]:
    """Each file with the package that it is of. The root's own file is the face of all packages."""
    for file in sorted(source.rglob("*.py")):
        parts = file.relative_to(source).parts
        if parts != ("__init__.py",):
            yield parts[0].removesuffix(".py"), file


def graph(source: Path = SOURCE, *, types: bool = False) -> Graph:
    packages = {package for package, _ in files(source)}
    found: Graph = {package: {} for package in packages}
    for package, file in files(source):
        parts = file.relative_to(source).parts
        imports = Imports([source.name, *parts[:-1]])
        imports.visit(ast.parse(file.read_text()))
        for name, line, only_types in imports.found:
            root, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if root == source.name and other in packages - {package} and (types or not only_types):
                found[package].setdefault(other, f"{file.relative_to(source)}:{line}")
    return found


def cycles(found: Graph) -> list[str]:
    """One cycle for each group of packages that reach each other, with the places that close it."""
    reach = {package: _reachable(found, package) for package in found}
    groups = {
        frozenset(other for other in reach[package] if package in reach[other]) | {package}
        for package in found
        if package in reach[package]
    }
    return sorted(_named(found, group) for group in groups)


def _reachable(found: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    todo = list(found[start])
    while todo:
        package = todo.pop()
        if package not in seen:
            seen.add(package)
            todo += found[package]
    return seen


def _named(found: Graph, group: frozenset[str]) -> str:
    edges = [
        f"{package} imports {other} ({place})"
        for package in sorted(group)
        for other, place in sorted(found[package].items())
        if other in group
    ]
    return "; ".join(edges)


@pytest.mark.parametrize("types", [False, True], ids=["what runs", "types too"])
def test_no_cycle_between_packages(types: bool) -> None:
    assert cycles(graph(types=types)) == []


def test_the_graph_is_that_of_the_real_code() -> None:
    found = graph()
    assert {"control", "cluster", "engine", "node", "cli", "errors"} <= set(found)
    assert {"cluster", "engine", "errors"} <= set(found["control"])
    assert "engine" in found["cluster"]


NEVER = {
    "engine": {"cluster", "control", "node", "policy", "cli", "library"},
    "cluster": {"control", "node", "policy", "cli"},
    "control": {"node", "cli", "simweb"},
    "node": {"control", "cli", "simweb"},
    "policy": {"control", "cluster", "engine", "cli"},
    "settings": {"control", "cluster", "engine", "node", "cli"},
    "errors": {"control", "cluster", "engine", "node", "cli", "settings", "policy"},
}
"""What a package must not know of. `control` never imports `node`: it is not on the data's path."""


def test_packages_know_only_what_is_below_them() -> None:
    found = graph(types=True)
    broken = [
        f"{package} imports {other} ({found[package][other]})"
        for package, others in NEVER.items()
        for other in sorted(others & set(found.get(package, {})))
    ]
    assert broken == []


@pytest.mark.parametrize(
    ("text", "types", "found"),
    [
        ("from made.b import x", False, True),
        ("def f():\n    import made.b.deep", False, True),
        ("from made import b", False, True),
        ("from .. import b", False, True),
        ("from ..b import x", False, True),
        ("import importlib\nimportlib.import_module('made.b')", False, True),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.b import x",
            False,
            False,
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from made.b import x",
            True,
            True,
        ),
        ("import made", False, False),
        ("x = 'made.b'", False, False),
    ],
)
def test_a_cycle_is_found_and_named(tmp_path: Path, text: str, types: bool, found: bool) -> None:
    source = tmp_path / "made"
    for package in ("a", "b", "c"):
        (source / package).mkdir(parents=True)
        (source / package / "__init__.py").touch()
    (source / "a" / "one.py").write_text(text)
    (source / "b" / "two.py").write_text("from made.c import y")
    (source / "c" / "three.py").write_text("from made.a.one import z")
    named = cycles(graph(source, types=types))
    assert bool(named) is found
    if found:
        assert "b imports c (b/two.py:1); c imports a (c/three.py:1)" in named[0]
