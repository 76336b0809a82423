"""The page about rules says what the program does: every example compiles, every field is there."""

import re
import tomllib
from pathlib import Path

import pytest

from gossamer._native import Rules
from gossamer.errors import SettingsError
from gossamer.node.native_settings import to_native
from gossamer.policy.rules import read_secrets
from gossamer.settings import CrawlSettings, check, dump
from gossamer.settings.rows import rows
from gossamer.settings.rules import Match, Rule, depth_range, status_range
from gossamer.settings.table import changed, shown, values

PAGE = (Path(__file__).parents[2] / "docs/reference/rules.md").read_text()
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_example_compiles_and_reads_back(block: str) -> None:
    settings = check(tomllib.loads(block), "the page")
    assert settings.rule
    Rules(to_native(settings))
    assert check(tomllib.loads(dump(settings)), "again") == settings
    again = changed(CrawlSettings(credentials=settings.credentials), {
        "rule": values(settings)["rule"],
    })  # fmt: skip
    assert again.rule == settings.rule


def test_every_condition_and_effect_is_in_the_tables_and_in_an_example() -> None:
    examples = "\n".join(BLOCKS)
    for name in Match.model_fields:
        assert f"\n| `{name}` |" in PAGE, name
        assert f"match.{name} = " in examples, name
    for name in set(Rule.model_fields) - {"name", "match"}:
        assert re.search(rf"\n\| `{name} = ", PAGE), name
        assert re.search(rf"^{name} = ", examples, re.MULTILINE), name


def test_hosts_have_what_the_example_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTRANET_TOKEN", "x")
    settings = check(tomllib.loads(BLOCKS[-1]), "the page")
    rules = Rules(to_native(settings, secrets=read_secrets(settings)))
    assert rules.host("wiki.intranet.example") == (0.0, 8, None)
    assert rules.host("old.example.org:8080") == (10.0, None, 500)
    assert rules.host("example.org") == (None, None, None)


def test_forms_of_ranges() -> None:
    assert [depth_range(text) for text in ("2..5", "3..", "..2", "4")] == [
        (2, 5), (3, 65535), (0, 2), (4, 4),
    ]  # fmt: skip
    assert [status_range(text) for text in ("404", "4xx", "500-503")] == [
        (404, 404), (400, 499), (500, 503),
    ]  # fmt: skip
    for text in ("", "..", "5..2", "a", "1..70000"):
        with pytest.raises(ValueError, match="range"):
            depth_range(text)
    for text in ("40", "4x", "503-500", "0xx"):
        with pytest.raises(ValueError, match=r"status|ends"):
            status_range(text)


def test_one_value_is_a_list_of_one() -> None:
    rule = Rule.model_validate(
        {"name": "x", "match": {"host": "a", "status": 404, "depth": 2}, "store": False}
    )
    assert rule.model_dump(mode="json") == {
        "name": "x",
        "match": {"host": ["a"], "status": ["404"], "depth": "2"},
        "store": False,
    }


def test_the_value_of_a_secret_is_not_shown() -> None:
    settings = check(
        {"credentials": {"c": {"headers": {"Cookie": "s3cret", "X": "env:NOT_THERE"}}}}, "x"
    )
    assert "s3cret" not in str(shown(settings))
    assert "s3cret" not in to_native(settings)
    with pytest.raises(SettingsError, match="NOT_THERE"):
        read_secrets(settings)
    for name in ("Host", "User-Agent", "a b"):
        with pytest.raises(SettingsError):
            check({"credentials": {"c": {"headers": {name: "x"}}}}, "x")
    row = next(row for row in rows() if row.name == "rule")
    assert (row.kind, row.live) == ("tables", True)
    assert not next(row for row in rows() if row.name == "credentials").live
