"""Settings of earlier versions: who gives one is told what took its place; saved ones are ignored."""

from pathlib import Path

import pytest

from gossamer.errors import PolicyError, SettingsError
from gossamer.policy.chosen import choose
from gossamer.settings import CrawlSettings, check, load, load_saved
from gossamer.settings.removed import REMOVED
from gossamer.settings.rows import rows
from gossamer.settings.table import changed

OLD = "[parse]\nmax_links = 2000\n[limits]\npages = 7\ntrap_budget = 100\n[policy.traps]\nsegments = 8\n"
GIVEN = {
    "parse.max_links": "parse.links_bytes",
    "limits.trap_budget": "limits.doubted_visits",
    "policy.traps": "policy.patterns",
}


def test_a_saved_file_is_read_without_them(tmp_path: Path) -> None:
    file = tmp_path / "crawl.toml"
    file.write_text(OLD)
    settings = load_saved(file)
    assert settings == check({"limits": {"pages": 7}}, "test")
    choose(settings)
    with pytest.raises(SettingsError, match=r"parse\.max_links is no setting any more"):
        load_saved(file, {"parse.max_links": 5})


def test_a_policy_of_ones_own_keeps_its_table(tmp_path: Path) -> None:
    file = tmp_path / "crawl.toml"
    file.write_text(f'{OLD}[doors]\nhosts = "traps"\n')
    assert load_saved(file).policy == {"traps": {"segments": 8}}


@pytest.mark.parametrize("name", REMOVED)
def test_who_gives_one_is_told_what_took_its_place(tmp_path: Path, name: str) -> None:
    value: object = {"segments": 8} if name == "policy.traps" else 5
    with pytest.raises((SettingsError, PolicyError)) as given:
        choose(load(None, {name: value}))
    assert f"{name} is no setting any more" in str(given.value)
    assert GIVEN[name] in str(given.value)
    with pytest.raises(SettingsError, match="is no setting any more"):
        changed(CrawlSettings(), {name: value})
    assert name not in {row.name for row in rows()}
    file = tmp_path / "mine.toml"
    file.write_text(OLD)
    with pytest.raises(SettingsError, match="is no setting any more"):
        load(file, {})
