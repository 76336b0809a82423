"""Every grouping that a setting may name works wherever URLs are made."""

from pathlib import Path

import pytest

from gossamer._native import host_key, partition
from gossamer.audit.politeness import Politeness
from gossamer.audit.report import Report
from gossamer.export.rows import _Reader
from gossamer.settings import CrawlSettings, dump, load
from gossamer.settings.url_rules import url_rules


@pytest.mark.parametrize(("grouping", "together"), [("host", False), ("site", True)])
def test_what_is_kept_together(grouping: str, together: bool) -> None:
    rules = url_rules(load(None, {"grouping": grouping}))
    keys = [host_key(f"http://shop.{n}.example/", rules) for n in range(20)]
    assert (len({partition(key, 256) for key in keys}) == 1) is together


def test_a_crawl_by_site_can_be_judged_and_exported(tmp_path: Path) -> None:
    settings = load(None, {"grouping": "site"})
    Politeness(settings, Report())
    (tmp_path / "crawl.toml").write_text(dump(settings))
    assert _Reader.of(tmp_path).settings == settings


def test_every_value_of_the_setting_is_known() -> None:
    pattern = CrawlSettings.model_json_schema()["properties"]["grouping"]["pattern"]
    for grouping in pattern.removeprefix("^(").removesuffix(")$").split("|"):
        url_rules(load(None, {"grouping": grouping}))
