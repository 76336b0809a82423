"""The canonical form against the suites that others wrote, and by its own promises.

The counts are asserted as they are explained in docs/reference/conformance-url-robots.md: a row
lost is a regression, a row won is a line to change there.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer._native import (
    UrlRefused,
    UrlRules,
    canonical_url,
    canonical_urls,
    fingerprint,
    host,
    host_key,
    literal_address,
    partition,
    registered_domain,
    url_key,
)

SUITES = Path(__file__).resolve().parents[2] / ".." / "shared" / "suites"
# The form itself is judged here, not what a crawl is set to remove.
PLAIN = UrlRules(strip_params=[], strip_session=[], max_length=1 << 20)


def suite(name: str) -> Any:
    path = SUITES / name
    if not path.exists():
        pytest.skip(f"conformance data not found: ../shared/suites/{name}")
    return json.loads(path.read_text(encoding="utf-8"))


def rows(name: str) -> list[dict[str, Any]]:
    return [row for row in suite(name) if isinstance(row, dict)]


def scalar(text: str) -> str:
    """Lone surrogates become U+FFFD, as the standard has it before parsing."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def made(raw: str, base: str | None = None) -> str | None:
    base = None if base in (None, "", "about:blank") else scalar(str(base))
    try:
        return canonical_url(scalar(raw), base, PLAIN)
    except UrlRefused:
        return None


def wire(row: dict[str, Any]) -> str:
    """The href without what never travels: user info and fragment."""
    return str(f"{row['protocol']}//{row['host']}{row['pathname']}") + (
        "?" + row["href"].split("#")[0].split("?", 1)[1] if "?" in row["href"].split("#")[0] else ""
    )


def upper_escapes(url: str) -> str:
    return re.sub("%[0-9a-fA-F]{2}", lambda found: found[0].upper(), url)


@pytest.mark.parametrize(
    ("name", "valid", "equal", "other_case", "failures"),
    [
        ("urltestdata.json", 247, 238, 6, 267),
        ("ada_extra_urltestdata.json", 6, 5, 0, 12),
        ("ada_long_urltestdata.json", 1, 0, 0, 0),
    ],
)
def test_whatwg_rows(name: str, valid: int, equal: int, other_case: int, failures: int) -> None:
    web, same, cased, refused, left = 0, 0, 0, 0, []
    for row in rows(f"url-whatwg/{name}"):
        got = made(row["input"], row.get("base"))
        if row.get("failure"):
            assert got is None, row
            refused += 1
        elif row["protocol"] not in {"http:", "https:"}:
            assert got is None, row
        else:
            web += 1
            same += got == wire(row)
            cased += got != wire(row) and got == upper_escapes(wire(row))
            if got != upper_escapes(wire(row)):
                left.append((row["host"], got))
    assert (web, same, cased, refused) == (valid, equal, other_case, failures)
    # All that is left: hosts that no name server can know, refused on purpose.
    assert all(got is None and not in_dns(name) for name, got in left), left


def in_dns(name: str) -> bool:
    name = name.removesuffix(".")
    return len(name) <= 253 and all(1 <= len(label) <= 63 for label in name.split("."))


@pytest.mark.parametrize(
    ("name", "total", "equal"),
    [
        ("toascii.json", 87, 78),
        ("IdnaTestV2.json", 2671, 2395),
        ("IdnaTestV2-removed.json", 20, 20),
    ],
)
def test_hosts_to_ascii(name: str, total: int, equal: int) -> None:
    found, same, left = 0, 0, []
    for row in rows(f"url-whatwg/{name}"):
        found += 1
        got, output = made(f"http://{row['input']}/x"), row["output"]
        if got == (None if output is None else f"http://{output}/x"):
            same += 1
        else:
            left.append((row["input"], output, got))
    for raw, output, got in left:
        dotted = output and got == f"http://{output.removesuffix('.')}/x"
        unknown = output is not None and got is None and not in_dns(output)
        # Put into a URL, an empty host is another URL: `http:///x` is `http://x/`. And one code
        # point that Unicode has not assigned is let through by the IDNA tables of the parser.
        assert dotted or unknown or raw == "" or "\U0003e8ac" in raw, (raw, output, got)
    assert (found, same) == (total, equal)


def test_names_that_dns_cannot_hold_are_refused() -> None:
    for row in rows("url-whatwg/verifydnslength_tests.json"):
        assert (made(row["input"]) is None) == bool(row.get("failure")), row


def test_percent_encoding_is_utf_8() -> None:
    for row in rows("url-whatwg/percent-encoding.json"):
        assert made(f"http://h/?{row['input']}") == f"http://h/?{row['output']['utf-8']}"


def test_queries_are_in_the_charset_of_their_page() -> None:
    found = 0
    for row in rows("url-whatwg/percent-encoding.json"):
        for charset, output in row["output"].items():
            raw = f"http://h/ü?{row['input']}#ü"
            ((url, _),) = canonical_urls([raw], "http://h/", None, charset)
            assert url == f"http://h/%C3%BC?{output}", charset
            found += 1
    assert found == 16


@pytest.mark.parametrize(
    ("name", "web", "equal"),
    [("rfc3986_resolution.json", 41, 40), ("cpython_urljoin.json", 144, 144)],
)
def test_resolution(name: str, web: int, equal: int) -> None:
    cases = [row for row in suite(f"url-rfc3986/{name}") if row["expected"].startswith("http")]
    left = [row for row in cases if made(row["ref"], row["base"]) != made(row["expected"])]
    assert (len(cases), len(cases) - len(left)) == (web, equal)
    # `http:g` is relative by the standard, a scheme with nothing by the RFC.
    assert all(row["ref"] == "http:g" for row in left), left


def test_equivalence() -> None:
    cases = suite("url-rfc3986/rfc3986_equivalence.json")
    pairs = [[re.sub("(?i)^example:", "http:", row[side]) for side in "ab"] for row in cases]
    same = [pair for pair in pairs if made(pair[0]) == made(pair[1])]
    # `%63` stays: the standard does not undo escapes.
    assert (len(pairs), len(same)) == (5, 4)


def test_odd_addresses_are_seen_as_what_they_are() -> None:
    for spelling, address in suite("security-ssrf/funky_ipv4.json").items():
        url = made(f"http://{spelling}/")
        assert (url and literal_address(url)) == address, spelling


def test_batches_give_url_or_reason() -> None:
    got = canonical_urls(["b?utm_source=x", "mailto:a@b", "http://"], "https://E.org/a")
    assert got == [("https://e.org/b", None), (None, "scheme"), (None, "host")]
    with pytest.raises(UrlRefused) as caught:
        canonical_url("javascript:alert(1)", "https://e.org/")
    assert caught.value.args == ("scheme", "the scheme is neither http nor https")


def test_keys_follow_the_host() -> None:
    one, two = "https://a.example.co.uk/1", "https://a.example.co.uk/2"
    assert host(one) == "a.example.co.uk"
    assert registered_domain(one) == "example.co.uk"
    assert registered_domain("http://127.0.0.1/") is None
    assert host_key(one) == host_key(two)
    assert fingerprint(one) >> 32 == fingerprint(two) >> 32 == host_key(one) >> 32
    assert url_key(one)[:8] == fingerprint(one).to_bytes(8, "big")
    assert partition(host_key(one), 256) == host_key(one) >> 56
    site = UrlRules(grouping="first_label")
    assert host_key(one, site) >> 32 == host_key("http://a.other/", site) >> 32
    with pytest.raises(ValueError, match="first_label"):
        UrlRules(grouping="domain")
    with pytest.raises(ValueError, match="partition"):
        partition(0, 0)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["https://e.org/a/b?c", "http://[::1]:8/", None]))
def test_idempotent(raw: str, base: str | None) -> None:
    try:
        url = canonical_url(raw, base)
    except UrlRefused:
        return
    assert canonical_url(url) == url
    assert canonical_url(url, "http://other.example/") == url
