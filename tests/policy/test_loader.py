"""Policies by name: what is installed, what fits, and what is said when it does not."""

from pathlib import Path
from typing import Any

import pytest

from gossamer.errors import PolicyError, SettingsError
from gossamer.policy import Formula
from gossamer.policy.chosen import check_change, choose, formula
from gossamer.policy.doors import DOORS
from gossamer.policy.loader import find, installed, load, misfits
from gossamer.settings import CrawlSettings, check, dump
from gossamer.settings.model import Order
from gossamer.settings.table import changed


def package(directory: Path, name: str, group: str, points: dict[str, str], code: str) -> None:
    """A package as pip leaves it: a module, and the metadata that names its entry points."""
    (directory / f"{name}.py").write_text(code)
    info = directory / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{point} = {value}\n" for point, value in points.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def settings(**values: Any) -> CrawlSettings:
    return check(values, "test")


def test_the_shipped_orders_are_those_of_the_setting() -> None:
    assert set(installed("order")) >= {order.value for order in Order}
    for order in Order:
        assert isinstance(find("order", order.value).formula, Formula)  # type: ignore[attr-defined]


def test_a_wrong_name_is_answered_with_the_nearest_and_the_list() -> None:
    with pytest.raises(PolicyError, match=r"no policy intervall .*did you mean interval\?.*inst"):
        find("refresh", "intervall")
    with pytest.raises(PolicyError, match=r"doors\.hosts: no policy x is installed; none is"):
        find("hosts", "x")


def test_a_policy_of_a_package_is_found(site: Path) -> None:
    code = """
class Topic:
    name = "topic"
    columns = ("anchor", "url")
    def __init__(self, settings):
        self.words = settings["words"]
    def score(self, batch): ...
"""
    package(site, "topical", "gossamer.order", {"topic": "topical:Topic"}, code)
    assert "topic" in installed("order")
    assert load("order", "topic", {"words": ["a"]}).words == ["a"]
    crawl = settings(doors={"order": "topic"}, policy={"topic": {"words": ["b"]}})
    assert choose(crawl).called["order"][0].words == ["b"]
    # In the order of the door, whatever the order of asking.
    assert choose(crawl).columns() == {"order": ["url", "anchor"]}
    assert formula(crawl, choose(crawl)) == find("order", "breadth").formula  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match=r"policy\.topic: KeyError: 'words'"):
        choose(settings(doors={"order": "topic"}))


def test_a_policy_that_changes_its_settings_changes_nothing_else(site: Path) -> None:
    code = """
class Greedy:
    name = "greedy"
    columns = ("url",)
    def __init__(self, settings):
        self.words = settings.pop("words")
        self.words.append("more")
        settings["nested"]["deep"].clear()
    def score(self, batch): ...
"""
    package(site, "greedy", "gossamer.order", {"greedy": "greedy:Greedy"}, code)
    table = {"words": ["one"], "nested": {"deep": [1, 2]}}
    ours = settings(doors={"order": "greedy"}, policy={"greedy": table})
    before = dump(ours)
    (policy,) = choose(ours).called["order"]
    assert policy.words == ["one", "more"]
    assert dump(ours) == before


def test_a_package_may_declare_a_formula(site: Path) -> None:
    code = """
from gossamer import Formula
class Near:
    name = "near"
    formula = Formula(base=0.1, parent=0.9)
"""
    package(site, "nearness", "gossamer.order", {"near": "nearness:Near"}, code)
    crawl = settings(doors={"order": "near"})
    assert formula(crawl, choose(crawl)) == Formula(base=0.1, parent=0.9)
    assert choose(crawl).called == {}


def test_a_change_of_the_order_is_refused_where_a_package_declares_it(site: Path) -> None:
    code = """
from gossamer import Formula, Scores
class Near:
    name = "near"
    formula = Formula(base=0.2)
class Called:
    name = "called"
    columns = ("url",)
    def __init__(self, settings): ...
    def score(self, batch): ...
"""
    points = {"near": "nearest:Near", "called": "nearest:Called"}
    package(site, "nearest", "gossamer.order", points, code)

    def change(order: str | None) -> None:
        before = settings(doors={"order": order})
        check_change(before, changed(before, {"frontier.order": "deep"}))

    with pytest.raises(SettingsError, match=r"frontier\.order has no effect .* names near"):
        change("near")
    # Where a called policy does not answer, the formula of frontier.order counts.
    for order in (None, "called", "not-installed-here"):
        change(order)


def test_what_cannot_be_imported_is_said(site: Path) -> None:
    package(site, "broken_one", "gossamer.pages", {"b": "broken_one:B"}, "import not_there_at_all")
    with pytest.raises(PolicyError, match=r"policy b .*cannot be imported: ModuleNotFoundError"):
        find("pages", "b")


def test_one_name_of_two_packages_is_refused(site: Path) -> None:
    for name in ("first_one", "second_one"):
        package(site, name, "gossamer.hosts", {"same": f"{name}:X"}, "class X: ...")
    with pytest.raises(PolicyError, match="more than one package: first_one, second_one"):
        find("hosts", "same")


class Empty:
    pass


class Wrong:
    name = "wrong"
    columns = ("url", "smell")

    def __init__(self) -> None: ...

    async def score(self, batch: object) -> None: ...


def test_what_does_not_fit_is_named() -> None:
    assert misfits(Empty, DOORS["hosts"]) == [
        "`name` is missing: a text",
        "`columns` is missing: a tuple of those it asks for",
        "`__init__(self, settings)` is missing",
        "`judge(self, batch)` is missing",
    ]
    wrong = misfits(Wrong, DOORS["order"])
    assert any("asks for smell; there are url, host" in text for text in wrong)
    assert any("__init__" in text and "other arguments" in text for text in wrong)
    assert any("coroutine" in text for text in wrong)
    assert misfits("text", DOORS["order"]) == ["a class expected, not 'text'"]


def test_a_table_that_nobody_reads_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"policy\.topc: no door names this policy"):
        choose(settings(policy={"topc": {}}))
    with pytest.raises(PolicyError, match=r"policy\.patterns: .*long_pth"):
        choose(settings(policy={"patterns": {"long_pth": 3}}))
