"""What the native module holds: classes for tests and benchmarks are not in what users get."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "src" / "gossamer" / "_native.pyi"
MARK = "# --- only in builds for tests"


def _names_for_tests() -> set[str]:
    text = STUB.read_text()
    after = text[: text.index(MARK)].count("\n") + 1
    named = (ast.ClassDef, ast.FunctionDef)
    body = ast.parse(text).body
    return {node.name for node in body if isinstance(node, named) and node.lineno > after}


def test_a_wheel_is_built_without_the_classes_for_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "testing" not in " ".join(project["tool"]["maturin"]["features"])
    crate = tomllib.loads((ROOT / "rust" / "python" / "Cargo.toml").read_text())
    assert "testing" in crate["features"]
    assert "testing" not in crate["features"].get("default", [])


def test_the_package_uses_none_of_them() -> None:
    names = _names_for_tests()
    assert {"Seen", "MemoryFrontier", "CrawlRehearsal", "Fetcher", "parse_rounds"} <= names
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "gossamer._native":
                used = names & {alias.name for alias in node.names}
                assert not used, f"{file}: {used}"
