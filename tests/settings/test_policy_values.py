"""Tables of policies: what is taken comes back the same from TOML and from JSON; the rest is refused by name."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cluster.shared_settings import read_settings, write_settings
from gossamer.errors import SettingsError
from gossamer.settings import check, dump, load

SCALARS = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
TABLES = st.dictionaries(
    st.text(),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
    ),
)


@given(TABLES)
def test_what_is_taken_comes_back_the_same(tmp_path_factory: Any, table: dict[str, Any]) -> None:
    settings = check({"policy": {"topic": table}}, "test")
    file = tmp_path_factory.mktemp("kept") / "crawl.toml"
    file.write_text(dump(settings))
    assert load(file, {}).policy == {"topic": table}
    assert read_settings(write_settings(settings)).policy == {"topic": table}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("most = inf", "policy.topic.most: a finite number expected"),
        ("most = nan", "policy.topic.most: a finite number expected"),
        ("since = 2026-11-16", "policy.topic.since: a number, a text"),
        ("since = 2026-11-16T10:00:00Z", "policy.topic.since: a number, a text"),
        ("since = 10:00:00", "write a date as text"),
        ("in = { side = [1, 2026-11-16] }", "policy.topic.in: side.1: a number, a text"),
        ("much = 99999999999999999999", "policy.topic.much: a whole number of 64 bits"),
    ],
)
def test_what_could_not_be_kept_is_refused_by_name(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "c.toml"
    file.write_text(f"[policy.topic]\n{line}\n")
    with pytest.raises(SettingsError) as caught:
        load(file, {})
    assert said in str(caught.value)


@pytest.mark.parametrize("value", [None, [None], {"a": None}, "\ud800", {"\ud800": 1}])
def test_what_a_command_line_can_give_besides(value: object) -> None:
    with pytest.raises(SettingsError, match=r"policy\.topic\.a: "):
        load(None, {"policy.topic.a": value})
