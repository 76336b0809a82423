"""What every kind of seen promises, through the binding and on disk."""

import random
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer._native import (
    Seen,
    StateError,
    StateFormatError,
    StateInUseError,
    seen_kinds,
)

KINDS = tuple(seen_kinds())
SMALL = {"cache_bytes": 1024, "filter_bytes": 1 << 16, "recent_keys": 50, "bloom_bytes": 1 << 20}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_default_comes_first() -> None:
    assert KINDS == ("exact", "bloom", "trie", "table", "memory")


def test_a_url_passes_once(kind: str, tmp_path: Path) -> None:
    seen = Seen(kind, tmp_path, **SMALL)
    urls = ["http://a.example/", "http://a.example/x", "http://a.example/"]
    assert seen.admit(urls) == [True, True, False]
    assert seen.admit(urls) == [False, False, False]
    seen.commit()
    assert seen.admit([*urls, "http://b.example/"]) == [False, False, False, True]
    assert seen.admit([]) == []


def test_forgotten_passes_again(kind: str, tmp_path: Path) -> None:
    seen = Seen(kind, tmp_path, **SMALL)
    seen.admit(["http://a.example/kept"])
    seen.commit(durable=True)
    seen.admit(["http://a.example/lost"])
    seen.forget()
    assert seen.admit(["http://a.example/lost", "http://a.example/kept"]) == [True, False]


def test_restart(kind: str, tmp_path: Path) -> None:
    urls = [f"http://h{i % 9}.example/{i}" for i in range(2000)]
    seen = Seen(kind, tmp_path, **SMALL)
    for start in range(0, len(urls), 40):
        assert all(seen.admit(urls[start : start + 40]))
        seen.commit()
    seen.admit(["http://h.example/uncommitted"])
    seen.close()
    again = Seen(kind, tmp_path, **SMALL)
    assert not any(again.admit(urls))
    assert again.admit(["http://h.example/uncommitted"]) == [True]


def test_same_answers_as_a_set(kind: str, tmp_path: Path) -> None:
    draw = random.Random(4)
    seen = Seen(kind, tmp_path, **SMALL)
    known: set[str] = set()
    for _ in range(300):
        urls = [
            f"http://h{draw.randrange(20)}.example/{draw.paretovariate(0.7):.0f}" for _ in range(50)
        ]
        expected = []
        for url in urls:
            expected.append(url not in known)
            known.add(url)
        assert seen.admit(urls) == expected
        if draw.random() < 0.3:
            seen.commit()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=300), max_size=60))
def test_any_text(urls: list[str]) -> None:
    urls = ["http://a.example/" + quote(url, errors="replace") for url in urls]
    for kind in KINDS:
        seen = Seen(kind)
        fresh = seen.admit(urls)
        assert [url for url, new in zip(urls, fresh, strict=True) if new] == list(
            dict.fromkeys(urls)
        )


def test_long_urls(kind: str, tmp_path: Path) -> None:
    seen = Seen(kind, tmp_path, **SMALL)
    long = "http://a.example/" + "x" * 200_000
    assert seen.admit([long, long + "1", long + "2", long]) == [True, True, True, False]
    seen.commit()
    assert seen.admit([long + "2", long + "3"]) == [False, True]


def test_another_kind_is_refused(kind: str, tmp_path: Path) -> None:
    seen = Seen(kind, tmp_path, **SMALL)
    seen.admit(["http://a.example/"])
    seen.commit()
    seen.close()
    other = "memory" if kind != "memory" else "exact"
    with pytest.raises(StateFormatError, match=kind):
        Seen(other, tmp_path, **SMALL)


def test_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='no kind "exactly"'):
        Seen("exactly")
    seen = Seen("exact", tmp_path)
    with pytest.raises(StateInUseError):
        Seen("exact", tmp_path)
    seen.close()
    with pytest.raises(StateError, match="closed"):
        seen.admit(["http://a.example/"])


def test_only_bloom_errs_and_says_so(kind: str) -> None:
    seen = Seen(kind, bloom_bytes=10_000, cache_bytes=1024)
    urls = [f"http://a.example/{i}" for i in range(10_000)]
    held = seen.admit(urls).count(False)
    if kind == "bloom":
        assert 0 < held / len(urls) < seen.error_rate() < 0.1
    else:
        assert held == 0
        assert seen.error_rate() == 0
