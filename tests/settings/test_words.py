"""What is said of wrong settings: in our words, with the name that was meant, over all stages."""

import json
from pathlib import Path
from typing import Any

import pytest

from gossamer.errors import SettingsError
from gossamer.settings import CrawlSettings, check, load
from gossamer.settings.assignments import assignments
from gossamer.settings.rows import rows
from gossamer.settings.table import changed, values
from gossamer.settings.words import written

WRONG: list[Any] = [
    None, True, -1, 1.5, 10**30, float("nan"), "", "no such value", "-3s", "5 parsecs", [], [None], [[1]],
    {}, {"a": None}, {"a": {"b": 1}}, "x" * 2000, "a b", [{"name": "r", "match": 3}],
]  # fmt: skip
FOREIGN = [
    "Input should", "String should", "List should", "Dictionary should", "should be", "should have", "valid dict",
    "unable to parse", "Value error", "ydantic", "Extra inputs", "Field required", "does not take this value",
]  # fmt: skip


def said_of(table: dict[str, Any]) -> str:
    try:
        check(table, "test")
    except SettingsError as error:
        return str(error)
    return ""


def nested(name: str, value: Any) -> dict[str, Any]:
    stage, _, last = name.rpartition(".")
    return {stage: {last: value}} if stage else {last: value}


@pytest.mark.parametrize("name", [row.name for row in rows()])
def test_whatever_is_wrong_is_told_in_our_words(name: str) -> None:
    refused = 0
    for value in WRONG:
        text = said_of(nested(name, value))
        refused += bool(text)
        assert not [words for words in FOREIGN if words in text], text
        assert not text or name.partition(".")[0] in text
    assert refused


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"rule": [{"match": {}}]}, "rule 1: name: it must be given"),
        ({"rule": [{"name": "a", "per_host": 99}]}, "rule 'a': per_host: at most 64 expected; got 99"),
        ({"rule": [{"name": "a", "hosts": 1}]}, "rule 'a': hosts"),
        ({"rule": [{"name": "a", "match": {"hots": 1}}]}, "match.hots (did you mean host?)"),
        ({"rule": 3}, "rule: a list of tables expected; got 3"),
        ({"politeness": 5}, "politeness: a table of settings expected; got 5"),
        ({"politeness": {"per_host": 0}}, "politeness.per_host: a whole number from 1 to 64 (connections) expected; got 0"),
        ({"fetch": {"connect_timeout": "2d"}}, "from 1ms to 1d expected; got 2d"),
        ({"scope": {"kind": "hots"}}, 'scope.kind: one of host, domain, prefix, any expected; got "hots"'),
        ({"fetch": {"cookies": "perhaps"}}, 'fetch.cookies: true or false expected; got "perhaps"'),
        ({"politeness": {"overrides": {"a.example": "x"}}}, "politeness.overrides.a.example: a time expected"),
        ({"control": {"address": "x"}}, "control.address: an IP address such as 127.0.0.1"),
        ({"fetch": {"agent": "a b"}}, "fetch.agent: letters, - and _ without blanks expected"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(table: dict[str, Any], said: str) -> None:
    assert said in said_of(table)


def test_what_may_be_a_password_is_not_repeated() -> None:
    for name in ("fetch.headers", "credentials", "policy.mine"):
        assert "s3cret" not in said_of(nested(name, "s3cret"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("contact", "unknown setting contact (did you mean fetch.contact?)"),
        ("fetch.contract", "did you mean fetch.contact?"),
        ("scope.trap_budget", "limits.trap_budget is no setting any more: "),
        ("trap_budget", "limits.doubted_visits"),
        ("politeness.dely", "did you mean politeness.delay?"),
        ("polite.delay", "did you mean politeness.delay?"),
        ("concurrency", "did you mean fetch.concurrency or dns.concurrency?"),
        ("fetch.user_agent", "did you mean fetch.agent?"),
        ("fetch.timeout", "dns.timeout"),
        ("scope.depth", "did you mean limits.depth?"),
        ("politenes", "did you mean politeness?"),
        ("zzz.qqq", "gossamer settings lists all"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_of_all_stages(name: str, said: str) -> None:
    with pytest.raises(SettingsError) as loaded:
        load(None, {name: 5})
    assert said in str(loaded.value)
    with pytest.raises(SettingsError) as live:
        changed(CrawlSettings(), {name: 5})
    assert said in str(live.value)


@pytest.mark.parametrize("text", ["scope.exclude=/api/", 'scope.exclude=["/api/"]'])
def test_a_single_value_is_a_list_of_one(tmp_path: Path, text: str) -> None:
    assert load(None, assignments([text])).scope.exclude == ["/api/"]
    file = tmp_path / "c.toml"
    file.write_text('[scope]\nexclude = "/api/"\nblock = "A.example"\n')
    settings = load(file, {})
    assert (settings.scope.exclude, settings.scope.block) == (["/api/"], ["a.example"])
    after = changed(CrawlSettings(), {"fetch.types": "text/html"})
    assert values(after)["fetch.types"] == ["text/html"]


def test_times_without_a_unit_are_seconds_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text("[politeness]\ndelay = 5\nretry_wait = 0.5\n[fetch]\nmax_body = 1000\n")
    settings = load(file, {})
    assert (settings.politeness.delay, settings.politeness.retry_wait) == (5.0, 0.5)
    assert settings.fetch.max_body == 1000
    assert load(None, {"politeness.delay": "5"}).politeness.delay == 5.0
    assert load(None, assignments(["politeness.delay=5"])).politeness.delay == 5.0
    assert load(None, assignments(["limits.bytes=1000"])).limits.bytes == 1000


def test_a_number_is_a_text_where_a_text_is_taken() -> None:
    given = assignments(["cluster.name=2026", "fetch.contact=1.10", "fetch.headers.X=1"])
    settings = load(None, given)
    assert settings.cluster.name == "2026"
    assert settings.fetch.contact == "1.10"
    assert settings.fetch.headers == {"X": "1"}
    # The other way round too.
    assert load(None, assignments(["alias.differences=0.10"])).alias.differences == 0.1


def test_how_each_setting_is_written_is_told() -> None:
    for row in rows():
        assert written(row)
        assert "None" not in written(row)
    table = {row.name: written(row) for row in rows()}
    assert table["politeness.per_host"] == "a whole number from 1 to 64 (connections)"
    assert table["scope.kind"] == "one of host, domain, prefix, any"
    assert table["fetch.connect_timeout"].endswith("(without a unit: seconds), from 1ms to 1d")
    assert json.dumps(table)
