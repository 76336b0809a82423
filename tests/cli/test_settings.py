"""`gossamer settings`: every setting explained, found by any word, with its value in a crawl."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.settings import CrawlSettings, check, dump
from gossamer.settings.rows import rows
from gossamer.settings.table import values

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]


def run(*words: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GOSSAMER, "settings", *words], capture_output=True, text=True, check=False,
        env={**os.environ, "COLUMNS": str(columns)},
    )  # fmt: skip


def test_every_setting_is_explained_in_80_columns() -> None:
    told = run()
    assert told.returncode == 0
    lines = told.stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    blocks = told.stdout.split("\n\n")
    assert [block.splitlines()[0] for block in blocks[:-1]] == [row.name for row in rows()]
    for block in blocks[:-1]:
        meaning, *facts = block.splitlines()[1:]
        assert meaning.strip()
        labels = {line[4:13].strip() for line in facts} - {""}
        assert {"written", "default", "change"} <= labels, block


def test_the_object_has_every_setting_with_its_range_and_default() -> None:
    told = json.loads(run("--json").stdout)["settings"]
    assert [one["name"] for one in told] == [row.name for row in rows()]
    defaults = values(CrawlSettings())
    for one, row in zip(told, rows(), strict=True):
        assert one["default"] == defaults[one["name"]]
        assert (one["minimum"], one["maximum"], one["unit"]) == (row.minimum, row.maximum, row.unit)
        assert "value" not in one


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["politeness.delay"], ["politeness.delay"]),
        (["seen"], ["seen.kind", "seen.ram", "seen.expected"]),
        (["Registered", "domain"], ["scope.kind"]),
        (["max-body"], ["fetch.max_body"]),
    ],
)
def test_words_are_sought_in_stage_name_and_meaning(words: list[str], names: list[str]) -> None:
    told = json.loads(run(*words, "--json").stdout)["settings"]
    assert [one["name"] for one in told] == names


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("contcat", "the nearest: fetch.contact"),
        ("trap", "limits.trap_budget is no setting any more"),
        ("qqqq", "gossamer settings lists all"),
    ],
)
def test_a_word_that_nothing_has_names_the_nearest(word: str, said: str) -> None:
    told = run(word)
    assert told.returncode == 2
    assert said in told.stderr
    assert told.stdout == ""


def test_the_values_of_a_crawl_are_shown_without_passwords(tmp_path: Path) -> None:
    given = {"politeness": {"delay": "5s"}, "fetch": {"headers": {"Authorization": "s3cret"}}}
    (tmp_path / "crawl.toml").write_text(dump(check(given, "test")))
    for option in (["--out", str(tmp_path)], ["--config", str(tmp_path / "crawl.toml")]):
        told = run(*option, columns=300)
        assert "    now      5s (in\n" in told.stdout or "    now      5s (in /" in told.stdout
        assert "s3cret" not in told.stdout
        (one,) = json.loads(run("politeness.delay", "--json", *option).stdout)["settings"]
        assert (one["value"], one["default"]) == ("5s", "1s")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "/none"], "/none holds no crawl: there is no such directory"),
        (["--config", "/none"], "cannot read /none"),
        (["--config", "/none", "--out", "/none"], "give one of them"),
    ],
)
def test_wrong_use(words: list[str], said: str) -> None:
    told = run(*words)
    assert told.returncode == 2
    assert said in told.stderr
