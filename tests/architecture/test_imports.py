"""Import contracts: which package may import which. Broken rules name the file and line."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "gossamer"
STAGES = {
    "seed", "canonical", "seen", "frontier", "fetch", "parse", "store", "links", "exchange",
}  # fmt: skip


# Who may use the stages: the wiring, the commands, and what reads a crawl's files back.
READERS = {"path", "node", "cli", "audit", "export"}


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


def test_no_stage_imports_another():
    def rule(file: Path, name: str) -> bool:
        if file.parts[0] != "path" or len(file.parts) < 3:
            return False
        others = STAGES - {file.parts[1]}
        return any(within(name, f"gossamer.path.{stage}") for stage in others)

    assert broken(rule) == []


def test_only_engine_imports_nats():
    assert broken(lambda file, name: within(name, "nats") and file.parts[0] != "engine") == []


def test_control_does_not_import_the_stages():
    def rule(file: Path, name: str) -> bool:
        return file.parts[0] == "control" and within(name, "gossamer.path")

    assert broken(rule) == []


def test_model_imports_nothing_of_ours():
    def rule(file: Path, name: str) -> bool:
        return (
            file.parts[0] == "model"
            and within(name, "gossamer")
            and not within(name, "gossamer.model")
        )

    assert broken(rule) == []


def test_only_node_and_cli_wire_the_stages_together():
    def rule(file: Path, name: str) -> bool:
        return within(name, "gossamer.path") and file.parts[0] not in READERS

    assert broken(rule) == []


def test_simweb_is_independent_of_the_crawler():
    """The truth must come from outside the code under test."""

    def rule(file: Path, name: str) -> bool:
        return file.parts[0] == "simweb" and (
            within(name, "gossamer.path") or within(name, "gossamer.node")
        )

    assert broken(rule) == []


def test_stage_folders_are_the_stages_of_the_ring():
    folders = {path.name for path in (SOURCE / "path").iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == STAGES


def test_the_rules_can_fail():
    assert broken(lambda file, name: within(name, "pydantic")) != []
