"""A crawl is clean, and each violation planted in a copy of it is named."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.audit.crawls import Crawl, gossamer
from tests.crawl.pages import crawl as crawl_to_the_end
from tests.crawl.pages import moved, serving
from warcio.archiveiterator import ArchiveIterator

from gossamer.audit import KINDS, Report, audit_crawl
from gossamer.words import count

Line = dict[str, Any]


def shifted(line: Line, milliseconds: float) -> None:
    time = datetime.fromisoformat(line["time"]) + timedelta(milliseconds=milliseconds)
    line["time"] = time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_page(line: Line) -> bool:
    return line["outcome"] == "fetched" and not line["url"].endswith("/robots.txt")


def pages(lines: list[Line]) -> list[Line]:
    return [line for line in lines if is_page(line)]


def kinds(crawl: Crawl) -> set[str]:
    return set(audit_crawl(crawl.out).counts)


def offsets(crawl: Crawl) -> list[tuple[str, str, int, int]]:
    """Type, URL, offset and length of each record, by an independent reader."""
    found = []
    with crawl.warc().open("rb") as file:
        records = ArchiveIterator(file)
        for record in records:
            record.raw_stream.read()
            url = record.rec_headers.get_header("WARC-Target-URI") or ""
            length = records.get_record_length()
            found.append((record.rec_type, url, records.get_record_offset(), length))
    return found


def test_a_real_crawl_is_clean(finished: Crawl) -> None:
    report = audit_crawl(finished.out)
    assert report.violations == []
    assert report.notes == []
    lines = finished.lines()
    assert report.lines == len(lines)
    visits = [line for line in lines if line.get("visited", True)]
    assert report.visits == len(visits)
    assert report.pages == sum(
        line["outcome"] in {"fetched", "truncated", "duplicate"} and "purpose" not in line
        for line in visits
    )
    assert report.records == len(offsets(finished))
    assert report.hosts == 6
    assert report.gaps >= 2 * (report.visits - report.hosts)
    # The crawl is worth auditing: it has all that is judged.
    outcomes = {line["outcome"] for line in lines}
    assert {"throttled", "duplicate", "robots_refused", "redirected", "gone"} <= outcomes


def test_the_command_says_so(finished: Crawl) -> None:
    done = gossamer("audit", finished.out)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(gossamer("audit", finished.out, "--json").stdout)
    assert found["clean"] is True
    assert found["counts"] == {}
    missing = sum(found["not_fetched"].values())
    assert found["pages"] > 0
    last = f"no violations; {count(found['pages'])} pages, {count(missing)} URLs not fetched\n"
    assert done.stdout.endswith(last)


def test_what_was_not_fetched_is_told_by_reason(finished: Crawl) -> None:
    last: dict[str, str] = {}
    for line in finished.lines():
        is_page = "purpose" not in line and line.get("soft_404") != "probe"
        if is_page:
            last[line["url"]] = line["outcome"]
    had = {"fetched", "truncated", "duplicate", "redirected", "not_modified"}
    expected = Counter(outcome for outcome in last.values() if outcome not in had)
    assert {"robots_refused", "gone"} <= set(expected)
    report = audit_crawl(finished.out)
    assert report.not_fetched == dict(expected)
    said = gossamer("audit", finished.out).stdout
    for outcome, number in expected.items():
        assert f"{count(number):>12}  {outcome}: " in said


def test_outcomes_of_earlier_versions_are_known(finished: Crawl, tmp_path: Path) -> None:
    crawl = finished.copy(tmp_path / "copy")

    def age(lines: list[Line]) -> None:
        refused = next(line for line in lines if line["outcome"] == "robots_refused")
        refused["outcome"] = "trap_suspected"

    crawl.change(age)
    report = audit_crawl(crawl.out)
    assert report.clean
    assert report.not_fetched["trap_suspected"] == 1
    assert "trap_suspected: an earlier version" in gossamer("audit", crawl.out).stdout


def test_a_crawl_without_a_page_says_so(tmp_path: Path) -> None:
    """A redirect is no page, wherever it leads."""
    with serving({"/": moved("/")}) as served:
        crawl_to_the_end(f"http://127.0.0.1:{served.port}/", out=tmp_path / "out", code=1)
    done = gossamer("audit", tmp_path / "out")
    assert done.returncode == 0
    assert done.stdout.endswith("no violations; 0 pages\n")


def test_no_crawl_is_wrong_use(tmp_path) -> None:
    done = gossamer("audit", tmp_path / "nothing")
    assert done.returncode == 2
    assert "holds no crawl" in done.stderr


def gap(lines: list[Line], line: Line) -> tuple[Line, float]:
    """The last visit to the same host, and the milliseconds since its end: as many as are due, or
    more where the machine was busy.
    """
    earlier = lines[: lines.index(line)]
    before = [one for one in earlier if one["host"] == line["host"] and one["ip"] is not None][-1]
    passed = datetime.fromisoformat(line["time"]) - datetime.fromisoformat(before["time"])
    return before, passed / timedelta(milliseconds=1) - before["ms"]


def early(lines: list[Line]) -> None:
    # It still begins after the last visit to its host.
    line = pages(lines)[5]
    _, passed = gap(lines, line)
    shifted(line, 30 - passed)


def overlapping(lines: list[Line]) -> None:
    before, passed = gap(lines, pages(lines)[5])
    before["ms"] += passed + 20


def other_address(lines: list[Line]) -> None:
    mine = pages(lines)[5]
    others = [line for line in pages(lines) if line["host"] != mine["host"]]
    for line in others:
        line["ip"] = mine["ip"]


def robots_later(lines: list[Line]) -> None:
    host = pages(lines)[-1]["host"]
    (robots,) = [
        line for line in lines if line["host"] == host and line["url"].endswith("/robots.txt")
    ]
    lines.remove(robots)
    lines.append(robots)


def forbidden(lines: list[Line]) -> None:
    refused = next(line for line in lines if line["outcome"] == "robots_refused")
    like = pages(lines)[-1]
    refused |= {name: like[name] for name in ("ip", "status", "bytes", "ms", "digest")}
    refused["outcome"] = "fetched"


def throttled_again(lines: list[Line]) -> None:
    # A host that said "not for a second" is visited after the ordinary gap.
    for line in [line for line in lines if line["outcome"] == "throttled"]:
        later = [
            one
            for one in lines[lines.index(line) + 1 :]
            if one["host"] == line["host"] and one["ip"] is not None
        ]
        # Not one that is throttled itself: it must keep the time of its record.
        if later and later[0]["outcome"] != "throttled":
            _, passed = gap(lines, later[0])
            shifted(later[0], 200 - passed)


def twice(lines: list[Line]) -> None:
    lines.append(dict(pages(lines)[3]))


def no_line(lines: list[Line]) -> None:
    """Of a page that no other page refers to: its content is there once."""
    times = Counter(line["digest"] for line in lines)
    lines.remove(next(page for page in pages(lines)[3:] if times[page["digest"]] == 1))


def another_digest(lines: list[Line]) -> None:
    pages(lines)[3]["digest"] = "sha1:" + "A" * 32


def another_status(lines: list[Line]) -> None:
    pages(lines)[3]["status"] = 404


def unknown_outcome(lines: list[Line]) -> None:
    pages(lines)[3]["outcome"] = "stolen"


def another_host(lines: list[Line]) -> None:
    pages(lines)[3]["host"] = "example.org"


PLANTED: list[tuple[Callable[[list[Line]], None], set[str]]] = [
    (early, {"early_host"}),
    (overlapping, {"overlap_host"}),
    (other_address, {"overlap_address", "early_address"}),
    (robots_later, {"robots_first"}),
    (forbidden, {"robots_forbidden", "record_missing"}),
    (throttled_again, {"retry_after"}),
    (twice, {"fetched_twice", "record_missing"}),
    (no_line, {"record_foreign"}),
    (another_digest, {"record_differs"}),
    (another_status, {"record_differs"}),
    (unknown_outcome, {"log_damaged", "record_foreign"}),
    (another_host, {"log_damaged"}),
]


@pytest.mark.parametrize(
    ("plant", "wanted"), PLANTED, ids=lambda value: getattr(value, "__name__", "")
)
def test_what_is_planted_in_the_log_is_named(planted: Crawl, plant, wanted: set[str]) -> None:
    planted.change(plant)
    found = kinds(planted)
    assert found & wanted, found
    if len(wanted) == 2 and plant is not other_address:
        assert wanted <= found


def test_the_exit_code_is_1_and_the_violation_is_told(planted: Crawl) -> None:
    planted.change(early)
    done = gossamer("audit", planted.out)
    assert done.returncode == 1
    assert "early_host: 1, " in done.stderr
    assert "0.050 s are due (politeness.delay)" in done.stderr or "Crawl-delay" in done.stderr
    found = json.loads(gossamer("audit", planted.out, "--json").stdout)
    assert found["clean"] is False
    assert {"early_host"} <= set(found["counts"])


def test_a_dropped_record_is_named(planted: Crawl) -> None:
    url = pages(planted.lines())[3]["url"]
    cut = [
        (offset, length)
        for kind, target, offset, length in offsets(planted)
        if target == url and kind in {"response", "request"}
    ]
    text = planted.warc().read_bytes()
    for offset, length in sorted(cut, reverse=True):
        text = text[:offset] + text[offset + length :]
    planted.warc().write_bytes(text)
    report = audit_crawl(planted.out)
    # A page that others are copies of is missed by its copies too.
    assert set(report.counts) - {"revisit"} == {"record_missing"}
    assert any(url in violation.text for violation in report.violations)


def test_the_original_of_a_copy_is_missed(planted: Crawl) -> None:
    with planted.warc().open("rb") as file:
        wanted = next(
            record.rec_headers.get_header("WARC-Refers-To-Target-URI")
            for record in ArchiveIterator(file)
            if record.rec_type == "revisit"
        )
    (place,) = [
        (offset, length)
        for kind, url, offset, length in offsets(planted)
        if url == wanted and kind == "response"
    ]
    text = planted.warc().read_bytes()
    planted.warc().write_bytes(text[: place[0]] + text[sum(place) :])
    assert {"revisit", "record_missing"} <= kinds(planted)


def test_a_flipped_byte_costs_one_record(planted: Crawl) -> None:
    responses = [row for row in offsets(planted) if row[0] == "response"]
    _, url, offset, length = responses[len(responses) // 2]
    text = bytearray(planted.warc().read_bytes())
    text[offset + length // 2] ^= 0x10
    planted.warc().write_bytes(text)
    report = audit_crawl(planted.out)
    assert report.counts["warc_damaged"] == 1
    assert report.counts["record_missing"] == 1
    assert any(url in violation.text for violation in report.violations)


def test_a_body_that_is_not_the_one_hashed(planted: Crawl) -> None:
    # A whole, well-formed record with another body: only the digest tells.
    _, _, offset, length = next(
        row for row in offsets(planted) if row[0] == "response" and row[1].endswith("/robots.txt")
    )
    text = planted.warc().read_bytes()
    member = gzip.decompress(text[offset : offset + length])
    assert b"isallow" in member
    changed = gzip.compress(member.replace(b"isallow", b"isAllow"))
    planted.warc().write_bytes(text[:offset] + changed + text[offset + length :])
    assert kinds(planted) == {"digest"}


def test_a_file_cut_short(planted: Crawl) -> None:
    text = planted.warc().read_bytes()
    planted.warc().write_bytes(text[:-20])
    assert "warc_damaged" in kinds(planted)
    # An unfinished file may end like that: the crawl was killed.
    planted.warc().rename(planted.warc().with_name(planted.warc().name + ".open"))
    report = audit_crawl(planted.out)
    assert report.clean
    assert any("half a record" in note for note in report.notes)


def test_records_ahead_of_the_log_are_no_violation_while_a_file_is_open(planted: Crawl) -> None:
    def cut(lines: list[Line]) -> None:
        # Whatever else was last: lines of URLs that were not visited have no records.
        del lines[lines.index(pages(lines)[-6]) :]

    planted.change(cut)
    assert kinds(planted) == {"record_foreign"}
    planted.warc().rename(planted.warc().with_name(planted.warc().name + ".open"))
    report = audit_crawl(planted.out)
    assert report.clean
    assert any("not committed yet" in note for note in report.notes)


def test_half_a_line_at_the_end_does_not_count(planted: Crawl) -> None:
    with planted.log_file().open("ab") as file:
        file.write(b'{"time":"2026')
    report = audit_crawl(planted.out)
    assert report.clean
    assert len(report.notes) == 1


def test_wrong_settings_are_named_and_the_rest_is_still_checked(planted: Crawl) -> None:
    (planted.out / "crawl.toml").write_text("[politeness]\ndelays = '1s'\n")
    planted.change(no_line)
    assert kinds(planted) == {"settings", "record_foreign"}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        # Much stricter, so that gaps that a busy machine made longer are too short too.
        ('delay = "50ms"', 'delay = "900ms"\naddress_delay = "50ms"', "early_host"),
        ('delay = "50ms"', 'delay = "50ms"\naddress_delay = "900ms"', "early_address"),
        ('kind = "any"', 'kind = "host"', "out_of_scope"),
        ("block = []", 'block = ["127.1.1.2"]', "out_of_scope"),
        ('grouping = "host"', 'grouping = "host"', ""),
    ],
)
def test_stricter_settings_find_the_same_crawl_wanting(
    planted: Crawl, old: str, new: str, kind: str
) -> None:
    file = planted.out / "crawl.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    found = kinds(planted)
    assert found == ({kind} if kind else set())


def test_a_clock_set_back_is_no_violation(planted: Crawl) -> None:
    def set_back(lines: list[Line]) -> None:
        for line in lines[len(lines) // 2 :]:
            shifted(line, -3_600_000)

    planted.change(set_back)
    report = audit_crawl(planted.out)
    # The records still have the old times; of politeness there is nothing to say.
    assert set(report.counts) == {"record_missing", "record_foreign"}
    assert sum("clock was set back" in note for note in report.notes) == 1


def test_one_line_from_the_past_is_not_a_clock_set_back(planted: Crawl) -> None:
    def alone(lines: list[Line]) -> None:
        shifted(pages(lines)[8], -5_000)

    planted.change(alone)
    report = audit_crawl(planted.out)
    assert "overlap_host" in report.counts
    assert report.notes == []


def test_a_long_list_is_cut_and_counted(planted: Crawl) -> None:
    def all_early(lines: list[Line]) -> None:
        lines *= 3

    planted.change(all_early)
    done = gossamer("audit", planted.out, "--most", "2")
    assert done.returncode == 1
    assert "more" in done.stderr
    assert done.stderr.count("\n") < 60


def test_only_known_kinds_can_be_reported() -> None:
    report = Report()
    with pytest.raises(ValueError):
        report.violation("nonsense", "", "")
    assert all(meaning for meaning in KINDS.values())


def test_every_kind_is_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "audit.md"
    text = page.read_text()
    assert [kind for kind in KINDS if f"`{kind}`" not in text] == []
