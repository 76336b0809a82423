"""The table of settings says all that the model says, and refuses what cannot change."""

import pytest

from gossamer.errors import SettingsError
from gossamer.settings import CrawlSettings
from gossamer.settings.rows import UNITS, rows
from gossamer.settings.table import changed, values


def test_every_setting_has_a_meaning_and_every_number_a_unit():
    table = rows()
    assert len({row.name for row in table}) == len(table)
    assert [row.name for row in table if not row.meaning] == []
    numbers = {row.name for row in table if row.kind in {"integer", "number"}}
    assert numbers == set(UNITS)


def test_the_live_settings_of_the_contract_are_there():
    live = {row.name for row in rows() if row.live}
    assert {
        "fetch.concurrency", "dns.concurrency", "limits.depth", "limits.dynamic_depth",
        "politeness.delay", "politeness.overrides", "scope.skip_suffixes", "fetch.types",
        "scope.kind", "scope.block", "limits.pages", "limits.pages_per_host", "store.batch_pages",
        "store.batch_wait", "frontier.order", "limits.site_depth",
    } <= live  # fmt: skip
    fixed = {row.name for row in rows() if not row.live}
    assert {"partitions", "fetch.agent", "seen.kind", "store.warc_size", "control.port"} <= fixed


def test_kinds_and_ranges():
    table = {row.name: row for row in rows()}
    assert table["politeness.delay"].kind == "duration"
    assert table["fetch.max_body"].kind == "size"
    assert table["scope.kind"].choices == ["host", "domain", "prefix", "any"]
    assert (table["dns.concurrency"].minimum, table["dns.concurrency"].maximum) == (1, 10_000)
    assert table["frontier.order"].choices == ["breadth", "deep", "arrival", "static"]
    assert table["limits.pages"].optional
    assert not table["fetch.concurrency"].optional


def test_changed_reads_back_and_refuses():
    after = changed(CrawlSettings(), {"politeness.delay": "5s", "limits.depth": 3})
    assert values(after)["politeness.delay"] == "5s"
    assert values(changed(after, {"limits.depth": None}))["limits.depth"] is None
    for name, value in {"partitions": 8, "nothing": 1, "limits.depth": -1, "fetch": 0}.items():
        with pytest.raises(SettingsError):
            changed(CrawlSettings(), {name: value})
