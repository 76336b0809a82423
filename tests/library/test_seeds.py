"""Seeds from arguments and files, as people write them."""

import codecs
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gossamer.errors import UsageError
from gossamer.library import SeedList, read_seeds


def of_file(tmp_path: Path, data: bytes) -> SeedList:
    file = tmp_path / "seeds"
    file.write_bytes(data)
    return read_seeds([], file)


def test_comments_may_be_indented_and_fragments_stay(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_text("# all\n  # indented\n\n http://a.example/#part \nb.example\n")
    assert read_seeds([" c.example "], file).urls == [
        "http://c.example",
        "http://a.example/#part",
        "http://b.example",
    ]


@pytest.mark.parametrize(
    "data",
    [
        "http://a.example/\r\n\r\nhttp://b.example/\r\n".encode("utf-8-sig"),
        codecs.BOM_UTF16_LE + "http://a.example/\r\nhttp://b.example/".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "http://a.example/\nhttp://b.example/".encode("utf-16-be"),
        b"http://a.example/   # first\n\thttp://b.example/\t# second, see #2\n",
        b"   \n http://a.example/\rhttp://b.example/\r",
    ],
)
def test_files_of_all_editors_are_read_as_meant(tmp_path: Path, data: bytes) -> None:
    found = of_file(tmp_path, data)
    assert found.urls == ["http://a.example/", "http://b.example/"]
    assert found.refused == []


def test_bad_lines_are_told_with_their_numbers_and_the_others_are_taken(tmp_path: Path) -> None:
    found = of_file(
        tmp_path,
        b"# list\nhttp://a.example/\nnotaurl\nhttp://b.example/ my note\n\xff\xfe.example\nc.example\n",
    )
    assert found.urls == ["http://a.example/", "http://c.example"]
    places = {one.place.rpartition(":")[2]: one for one in found.refused}
    assert set(places) == {"3", "4", "5"}
    assert "names no site; a seed is written as example.org" in places["3"].reason
    assert "a note after it begins with #" in places["4"].reason
    assert "not UTF-8" in places["5"].reason
    assert all(one.place.startswith(str(tmp_path / "seeds")) for one in found.refused)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("example.org", "http://example.org"),
        ("example.org:8080/a?b=c:d", "http://example.org:8080/a?b=c:d"),
        ("example.org:443/a", "https://example.org:443/a"),
        ("localhost:8000", "http://localhost:8000"),
        ("127.0.0.1", "http://127.0.0.1"),
        ("[::1]:8000/", "http://[::1]:8000/"),
        ("bücher.example/straße", "http://bücher.example/straße"),
        ("https://intranet/", "https://intranet/"),
    ],
)
def test_a_scheme_is_guessed(given: str, url: str) -> None:
    (seed,) = read_seeds([given], None).taken
    assert seed.url == url
    assert seed.guessed == ("://" not in given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("notaurl", "names no site"),
        ("notaurl/page.html", "names no site"),
        (".", "names no site"),
        ("/a/page.html", "names no site"),
        ("a..example", "names no site"),
        ("[::1", "names no site"),
        ("[1::2::3]", "names no site"),
        ("example.org:99999999", "names no site"),
        ("http://a.example/two words", "there is a blank in it"),
        ("mailto:me@example.org", "mailto: is nothing that is crawled"),
        ("http:/a.example", "http: is followed by two slashes"),
        ("tel:+49", "tel: is nothing that is crawled"),
        ("a.example/\x1b[2J", "control characters"),
    ],
)
def test_what_is_no_seed_is_refused_with_a_hint(given: str, reason: str) -> None:
    found = read_seeds([given], None)
    assert found.taken == []
    assert reason in found.refused[0].reason


def test_a_file_given_as_a_seed_is_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    monkeypatch.chdir(tmp_path)
    (refused,) = read_seeds(["seeds.txt"], None).refused
    assert "--seeds seeds.txt" in refused.reason


def test_standard_input_is_read_in_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    data = codecs.BOM_UTF8 + b"a.example # note\r\nnotaurl\r\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    found = read_seeds([], Path("-"))
    assert found.urls == ["http://a.example"]
    assert found.refused[0].place == "standard input:2"


def test_no_seed_at_all_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no seed given"):
        of_file(tmp_path, b"   # nothing\n")


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08\0\0", codecs.BOM_UTF16_LE + b"\x00\xd8a"])
def test_a_file_that_is_no_text_is_named(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UsageError, match=r"the seeds in .*seeds are no"):
        of_file(tmp_path, data)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read the seeds in .*none: No such file"):
        read_seeds([], tmp_path / "none")
