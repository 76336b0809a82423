"""The examples of docs/how-to/write-a-policy.md are policies."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.contract.policies import check_class

from gossamer.policy.doors import DOORS
from gossamer.settings.model import DoorsSettings

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "write-a-policy.md").read_text()
EXAMPLES = [
    (heading.lower(), code)
    for heading, body in re.findall(r"^### (\w+)\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL)
    for code in re.findall(r"```python\n(.*?)```", body, re.DOTALL)
]


def test_there_is_an_example_for_each_door() -> None:
    assert {door for door, _ in EXAMPLES} == set(DOORS)


@pytest.mark.parametrize(("door", "code"), EXAMPLES)
def test_the_example_is_a_policy(door: str, code: str) -> None:
    names: dict[str, Any] = {}
    exec(code, names)
    classes = [one for one in names.values() if isinstance(one, type) and hasattr(one, "name")]
    assert len(classes) == 1
    check_class(door, classes[0], {})


def test_the_table_names_the_methods_and_answers() -> None:
    rows = re.findall(r"^\| (\w+) \| `(\w+)` \|.*\| `(\w+)`", TEXT, re.MULTILINE)
    assert rows == [(one.name, one.method, one.answer.__name__) for one in DOORS.values()]


def test_the_settings_are_settings() -> None:
    blocks = [tomllib.loads(text) for text in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)]
    (doors,) = [block["doors"] for block in blocks if "doors" in block]
    DoorsSettings.model_validate(doors)
