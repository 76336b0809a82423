"""The fetch log from its end: bounded looks that go on where the last one ended."""

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from gossamer.library import log_search
from gossamer.library.log_search import Found, Place, Wanted, search_log

BEGUN = 1_794_900_000


def write(log: Path, first: int, last: int) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        for at in range(first, last):
            time = datetime.fromtimestamp(BEGUN + at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            line = {
                "time": time, "url": f"http://h{at % 3}.test/{at}", "host": f"h{at % 3}.test", "ip": None,
                "outcome": "gone" if at % 5 == 0 else "fetched", "status": 404 if at % 5 == 0 else 200,
                "bytes": at, "ms": 1.0, "depth": 0, "from": None, "digest": None,
            }  # fmt: skip
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    write(tmp_path / "log" / "fetch-20261117-00000-a.jsonl", 0, 700)
    write(tmp_path / "log" / "fetch-20261117-00001-a.jsonl", 700, 1000)
    return tmp_path


def numbers(found: Found) -> list[int]:
    return [line.bytes for line in found.lines]


def everything(out: Path, wanted: Wanted, most: int) -> tuple[list[int], int]:
    """All that is found, and by how many looks."""
    before: Place | None = None
    lines: list[int] = []
    looks = 0
    while True:
        found = search_log(out, wanted, before, most)
        lines += numbers(found)
        looks += 1
        if found.next is None:
            return lines, looks
        before = found.next


@pytest.mark.parametrize("chunk", [700, 4096, 1 << 20])
@pytest.mark.parametrize("most", [1, 7, 100_000])
def test_every_line_is_found_once_newest_first(
    out: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, most: int
) -> None:
    monkeypatch.setattr(log_search, "CHUNK", chunk)
    assert everything(out, Wanted(), most)[0] == list(range(999, -1, -1))
    gone = Wanted(outcome="gone", host="h0.test")
    assert everything(out, gone, most)[0] == list(range(990, -1, -15))


def test_a_look_is_bounded_and_says_how_far_it_came(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_search, "LOOK", 20_000)
    found = search_log(out, Wanted(text="no such text"), None, 50)
    assert found.lines == []
    assert found.next is not None
    assert found.reached is not None
    assert datetime.fromisoformat(found.reached).timestamp() > BEGUN + 800
    lines, looks = everything(out, Wanted(text="/7"), 50)
    assert len(lines) == 111
    assert looks > 5


def test_a_time_is_found_without_reading_what_comes_after_it(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_search, "DISORDER", 5.0)
    monkeypatch.setattr(log_search, "CHUNK", 4096)
    monkeypatch.setattr(log_search, "LOOK", 20_000)
    found = search_log(out, Wanted(until=BEGUN + 321.0), None, 3)
    assert numbers(found) == [321, 320, 319]
    # Nor what comes before it.
    found = search_log(out, Wanted(since=BEGUN + 320.0, until=BEGUN + 321.0), None, 50)
    assert (numbers(found), found.next) == ([321, 320], None)
    assert numbers(search_log(out, Wanted(until=BEGUN - 100.0), None, 3)) == []


def test_what_is_not_committed_or_damaged_is_left_out(out: Path) -> None:
    log = out / "log" / "fetch-20261117-00001-a.jsonl"
    with log.open("ab") as file:
        file.write(b'{"time": "nonsense"}\n{"time":"2026-11-17T')
    assert numbers(search_log(out, Wanted(), None, 2)) == [999, 998]
    assert search_log(out / "nothing", Wanted(), None, 2).lines == []


def test_a_hole_and_a_time_far_off_keep_nothing_back(out: Path) -> None:
    log = out / "log" / "fetch-20261117-00001-a.jsonl"
    whole = log.read_bytes()
    half = whole.index(b"\n", len(whole) // 2) + 1
    log.write_bytes(whole[:half] + bytes(3 * log_search.LONGEST) + b"\n" + whole[half:])
    found, _ = everything(out, Wanted(until=2.0**40), 100)
    assert found == list(reversed(range(1000)))


def test_lines_that_are_none_are_looked_at_in_bounded_looks(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_search, "LOOK", 1000)
    log = out / "log" / "fetch-20261117-00002-a.jsonl"
    log.write_bytes(b'"h1.test" "fetched"\n' * 1000)
    _, looks = everything(out, Wanted(host="h1.test", outcome="fetched"), 100)
    assert looks >= 20


def test_a_look_ends_before_the_time_asked_for_also_where_no_line_fits(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_search, "DISORDER", 5.0)
    monkeypatch.setattr(log_search, "CHUNK", 4096)
    for wanted in (Wanted(host="b.example"), Wanted(outcome="dns_not_found"), Wanted(text="none")):
        asked = msgspec.structs.replace(wanted, since=BEGUN + 900.0)
        found = search_log(out, asked, None, 50)
        assert (found.lines, found.next) == ([], None)
        assert found.reached is not None
        # A chunk is some twenty lines.
        assert BEGUN + 850 < datetime.fromisoformat(found.reached).timestamp() < BEGUN + 895
    monkeypatch.setattr(log_search, "LOOK", 25_000)
    monkeypatch.setattr(log_search, "CHUNK", 1 << 20)
    found = search_log(out, Wanted(host="b.example", since=BEGUN + 900.0), None, 50)
    assert (found.lines, found.next) == ([], None)


def test_a_line_without_a_time_ends_no_look(out: Path) -> None:
    log = out / "log" / "fetch-20261117-00001-a.jsonl"
    *lines, last = log.read_text().splitlines()
    broken = json.dumps(json.loads(last) | {"time": "nonsense"}, separators=(",", ":"))
    log.write_text("\n".join([*lines, broken, ""]))
    found, _ = everything(out, Wanted(since=BEGUN + 990.0), 50)
    assert found == list(range(998, 989, -1))
