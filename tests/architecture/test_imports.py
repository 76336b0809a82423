"""Import contracts: which package may import which. Broken rules name the file and line."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "gossamer"


def imports(file: Path) -> Iterator[tuple[str, int]]:
    package = ["gossamer", *file.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, node.module or ""]).strip(".")
            yield module, node.lineno
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def broken(rule) -> list[str]:
    return [
        f"{file.relative_to(SOURCE)}:{line} imports {name}"
        for file in sorted(SOURCE.rglob("*.py"))
        for name, line in imports(file)
        if rule(file.relative_to(SOURCE), name)
    ]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_only_engine_imports_nats():
    assert broken(lambda file, name: within(name, "nats") and file.parts[0] != "engine") == []


def test_model_imports_nothing_of_ours():
    def rule(file: Path, name: str) -> bool:
        return (
            file.parts[0] == "model"
            and within(name, "gossamer")
            and not within(name, "gossamer.model")
        )

    assert broken(rule) == []


def test_the_library_imports_nothing_that_runs_a_crawl():
    """Files are read without a node, a control node or an engine."""
    running = ["node", "cluster", "control", "engine", "cli"]

    def rule(file: Path, name: str) -> bool:
        return file.parts[0] == "library" and any(
            within(name, f"gossamer.{package}") for package in running
        )

    assert broken(rule) == []


def test_policy_imports_nothing_that_runs_a_crawl():
    """Judgement is asked; it does not know by whom."""
    running = ["node", "cluster", "control", "engine", "cli"]

    def rule(file: Path, name: str) -> bool:
        return file.parts[0] == "policy" and any(
            within(name, f"gossamer.{package}") for package in running
        )

    assert broken(rule) == []


def test_simweb_is_independent_of_the_crawler():
    """The truth must come from outside the code under test."""
    crawler = ["library", "policy", "node", "cluster", "control"]

    def rule(file: Path, name: str) -> bool:
        return file.parts[0] == "simweb" and any(
            within(name, f"gossamer.{package}") for package in crawler
        )

    assert broken(rule) == []


def test_the_rules_can_fail():
    assert broken(lambda file, name: within(name, "pydantic")) != []
