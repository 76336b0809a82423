//! Examples and properties.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::fuzz::fuzz_robots;
use super::{MAX_BODY, MAX_REDIRECTS, Meaning, Robots, meaning, product_token};
use crate::fetch::by_status;
use crate::outcome::Outcome;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn robots(body: &str) -> Robots {
    Robots::parse(body.as_bytes(), "gossamer")
}

#[test]
fn longest_match_wins_and_allow_wins_a_tie() {
    let rules = robots("user-agent: *\ndisallow: /a\nallow: /a/b\ndisallow: /c\nallow: /c");
    assert!(!rules.allows("/a/x"));
    assert!(rules.allows("/a/b/c"));
    assert!(rules.allows("/c"));
    assert_eq!(
        rules.which_rule("/a/b").map(|rule| (rule.allow, rule.line)),
        Some((true, 3))
    );
    assert_eq!(rules.which_rule("/z"), None);
}

#[test]
fn wildcards() {
    let rules = robots(
        "user-agent: *\ndisallow: /*.gif$\ndisallow: /x*y*z\ndisallow: /end$\ndisallow: /q*?\ndisallow: /d$d\ndisallow: *secret",
    );
    for (path, allowed) in [
        ("/a.gif", false),
        ("/a.gif?x", true),
        ("/.gif.gif", false),
        ("/xyz", false),
        ("/xzy", true),
        ("/x1y2y3z4", false),
        ("/end", false),
        ("/end/", true),
        ("/q", true),
        ("/qq?a", false),
        ("/d$d", false),
        ("/a/secret/b", false),
        ("/gif", true),
    ] {
        assert_eq!(rules.allows(path), allowed, "{path}");
    }
}

#[test]
fn groups_merge_and_the_named_one_rules() {
    let body = "user-agent: gossamer\ndisallow: /a\n\nuser-agent: other\ndisallow: /b\n\nuser-agent: *\ndisallow: /\n\nuser-agent: Gossamer/2.0\ndisallow: /c";
    let rules = robots(body);
    assert!(!rules.allows("/a") && !rules.allows("/c") && rules.allows("/b") && rules.allows("/d"));
    assert!(!Robots::parse(body.as_bytes(), "third").allows("/d"));
    // A group that is named and empty is no reason to take everyone's.
    assert!(robots("user-agent: *\ndisallow: /\nuser-agent: gossamer\ndisallow:").allows("/"));
}

#[test]
fn spellings_of_escapes() {
    let rules =
        robots("user-agent: *\ndisallow: /%7euser\ndisallow: /ü\ndisallow: /a%2fb\ndisallow: /~w");
    for (path, allowed) in [
        ("/~user", false),
        ("/%7Euser", false),
        ("/%C3%BC", false),
        ("/a%2Fb", false),
        ("/a/b", true),
        ("/%7Ew", false),
        ("/~W", true),
    ] {
        assert_eq!(rules.allows(path), allowed, "{path}");
    }
}

/// What RFC 9309 says of escapes, in 2.2.2 and 2.2.3, and what real files hold.
#[test]
fn one_rule_for_all_spellings() {
    for (rule, path, matched) in [
        ("/sitecore modules/", "/sitecore%20modules/x", true),
        ("/a\tb", "/a%09b", true),
        ("/wiki/Special%3A", "/wiki/Special:Search", true),
        ("/wiki/Special:", "/wiki/Special%3ASearch", true),
        ("/wiki/Special%3a", "/wiki/Special%3ASearch", true),
        ("/wiki/Special%3A", "/wiki/SpecialSearch", false),
        ("/*?f%5B0%5D=", "/shop?f[0]=red", true),
        ("/*?f%5B0%5D=", "/shop?f%5B0%5D=red", true),
        ("/*?f[0]=", "/shop?f%5B0%5D=red", true),
        ("/*?f%5B0%5D=", "/shop?f0=red", false),
        // 2.2.3: the wildcards as letters.
        (
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-*.html",
            true,
        ),
        (
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-%2A.html",
            true,
        ),
        (
            "/path/file-with-a-%2A.html",
            "/path/file-with-a-b.html",
            false,
        ),
        ("/path/foo-%24", "/path/foo-$", true),
        ("/path/foo-%24", "/path/foo-$/x", true),
        ("/path/foo-%24", "/path/foo-", false),
        ("/path/foo-$", "/path/foo-$", false),
        ("/a$b", "/a%24b", true),
        ("/a*b$", "/a*%62", true),
        // 2.2.2, the table.
        (
            "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=https://foo.bar",
            true,
        ),
        (
            "/foo/bar?baz=https://foo.bar",
            "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
            true,
        ),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", true),
        // What parts a URL is no letter of it.
        ("/a%2Fb", "/a/b", false),
        ("/a/b", "/a%2Fb", false),
        ("/a%3Fb", "/a?b", false),
        ("/x?a=1%26b", "/x?a=1&b", false),
        ("/x?a=%2B", "/x?a=+", false),
        ("/tags/c++", "/tags/c%2B%2B", true),
        ("/100%25", "/100%25", true),
        ("/*%2F", "/x?u=a%2Fb", true),
        ("/*%", "/x%3Ay", true),
        ("/*%", "/x:y", false),
        ("/*/private", "/x?u=/private", true),
        ("/<\"{x}\">", "/%3C%22%7Bx%7D%22%3E", true),
        ("/x?{a}", "/x?%7Ba%7D", true),
    ] {
        let body = format!("user-agent: *\ndisallow: {rule}\n");
        assert_eq!(!robots(&body).allows(path), matched, "{rule} and {path}");
    }
    // How a rule is spelled does not make it more specific.
    let rules = robots("user-agent: *\ndisallow: /w/Special%3A\nallow: /w/Special:R");
    assert!(rules.allows("/w/Special:R") && rules.allows("/w/Special%3AR"));
    assert!(!rules.allows("/w/Special:A"));
    let rules = robots("user-agent: *\ndisallow: /\nallow: /open%3Ahouse\nallow: /a b/");
    assert!(rules.allows("/open:house") && rules.allows("/a%20b/c"));
    assert_eq!(
        rules.which_rule("/open:house").map(|rule| rule.pattern),
        Some("/open%3Ahouse".to_owned())
    );
}

#[test]
fn utf_16() {
    let text = "User-agent: *\r\nDisallow: /für immer/\r\nSitemap: /s.xml\r\n";
    let units = text.encode_utf16();
    let little: Vec<u8> = std::iter::once(0xfeff)
        .chain(units.clone())
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = std::iter::once(0xfeff)
        .chain(units)
        .flat_map(u16::to_be_bytes)
        .collect();
    for body in [little, big] {
        let rules = Robots::parse(&body, "gossamer");
        assert!(!rules.allows("/f%C3%BCr%20immer/") && rules.allows("/"));
        assert!(rules.sitemaps().eq(["/s.xml"]));
    }
}

#[test]
fn every_sitemap_line_that_is_read_counts() {
    let lines: String = (0..20_000).map(|n| format!("Sitemap: /s/{n}\n")).collect();
    assert!(lines.len() < MAX_BODY);
    let rules = robots(&lines);
    assert_eq!(rules.sitemaps().count(), 20_000);
    assert!(rules.heap_size() < lines.len());
}

#[test]
fn odd_files() {
    assert!(!robots("\u{feff}User-Agent: *\rDisallow: /x\r").allows("/x"));
    assert!(!robots("user-agent: *\r\n\r\n\r\ndisallow: /x # no\r\n").allows("/x"));
    assert!(robots("<html><body>disallow: /</body></html>").allows("/"));
    assert!(robots("disallow: /").allows("/"));
    assert!(robots("").allows("/"));
    assert!(Robots::parse(&[0xff, 0xfe, 0, 1, 2, 0xef], "gossamer").allows("/"));
    assert!(robots("user-agent: *\ndisallow: /").allows("/robots.txt"));
    assert!(!robots("user-agent: *\ndisallow: /").allows("/robots.txt?x"));
}

#[test]
fn delay_and_sitemaps() {
    let rules = robots(
        "sitemap: https://e.org/a.xml\nuser-agent: gossamer\ncrawl-delay: 2.5\nSitemap: /b.xml\ndisallow: /x\nuser-agent: *\ncrawl-delay: 9",
    );
    assert_eq!(rules.crawl_delay(), Some(Duration::from_millis(2500)));
    let sitemaps: Vec<&str> = rules.sitemaps().collect();
    assert_eq!(sitemaps, ["https://e.org/a.xml", "/b.xml"]);
    for (value, seconds) in [
        ("1e9", None),
        ("-1", None),
        ("ten", None),
        ("99999999999999999999999999", Some(86_400)),
        ("0", Some(0)),
        ("5 s", Some(5)),
    ] {
        let rules = robots(&format!("user-agent: *\ncrawl-delay: {value}"));
        assert_eq!(
            rules.crawl_delay().map(|delay| delay.as_secs()),
            seconds,
            "{value}"
        );
    }
}

#[test]
fn at_least_500_kib_count_and_no_more() {
    let head = "user-agent: *\n";
    let fill = "#".repeat(MAX_BODY - head.len() - 40);
    assert!(!robots(&format!("{head}{fill}\ndisallow: /x\n")).allows("/x"));
    let fill = "#".repeat(MAX_BODY);
    assert!(robots(&format!("{head}{fill}\ndisallow: /x\n")).allows("/x"));
}

#[test]
fn hostile_patterns_cost_linear_time() {
    let stars = "*a".repeat(8000);
    let line = format!("disallow: /{stars}b$\n");
    let body = format!("user-agent: *\n{}", line.repeat(30));
    let rules = robots(&body);
    let path = format!("/{}", "a".repeat(2000));
    // Time of this thread: a busy machine does not count.
    let begin = crate::clock::thread_cpu();
    assert!(rules.allows(&path));
    let many: String = (0..30_000).map(|n| format!("disallow:/*{n}\n")).collect();
    assert!(robots(&format!("user-agent: *\n{many}")).allows(&path));
    let took = crate::clock::thread_cpu() - begin;
    assert!(took < Duration::from_secs(2), "took {took:?}");
}

/// `cargo test --release -p gossamer-core --lib robots::tests::cost -- --ignored --nocapture`
#[test]
#[ignore = "a benchmark"]
fn cost() {
    let stars = |count: usize| -> String {
        let lines = (0..count).map(|n| format!("Disallow: /dir{n}/*/x{n}$\n"));
        std::iter::once("User-agent: *\n".to_owned())
            .chain(lines)
            .collect()
    };
    let hostile: String = (0..36_000).map(|n| format!("disallow:*{n}\n")).collect();
    let long = format!("/{}", "a".repeat(2000));
    for (name, body, path) in [
        ("1,000 rules", stars(1000), "/dir7/abc/def"),
        (
            "500 KiB of stars, long path",
            format!("user-agent:*\n{hostile}"),
            long.as_str(),
        ),
    ] {
        let begin = Instant::now();
        let rules = robots(&body);
        let read = begin.elapsed();
        let begin = Instant::now();
        for _ in 0..100 {
            std::hint::black_box(rules.allows(std::hint::black_box(path)));
        }
        let (matched, heap) = (begin.elapsed() / 100, rules.heap_size());
        println!(
            "{name}: {} bytes, read {read:?}, match {matched:?}, heap {heap}",
            body.len()
        );
    }
}

#[test]
fn answers() {
    for (status, expected) in [
        (200, Meaning::Rules),
        (204, Meaning::Rules),
        (301, Meaning::Follow),
        (308, Meaning::Follow),
        (304, Meaning::Unreachable),
        (401, Meaning::AllowAll),
        (403, Meaning::AllowAll),
        (404, Meaning::AllowAll),
        (410, Meaning::AllowAll),
        (429, Meaning::Unreachable),
        (500, Meaning::Unreachable),
        (503, Meaning::Unreachable),
        (600, Meaning::Unreachable),
        (100, Meaning::Unreachable),
    ] {
        assert_eq!(meaning(by_status(status), 0), expected, "{status}");
    }
    let redirect = |before| meaning(Outcome::Redirected, before);
    assert_eq!(redirect(MAX_REDIRECTS - 1), Meaning::Follow);
    assert_eq!(redirect(MAX_REDIRECTS), Meaning::AllowAll);
}

/// Only what the RFC names lets a page be visited.
#[test]
fn no_other_outcome_opens_a_site() {
    use Outcome::{Fetched, Gone, Redirected, Refused, Truncated};
    for &outcome in Outcome::ALL {
        let opens = matches!(
            meaning(outcome, MAX_REDIRECTS),
            Meaning::Rules | Meaning::AllowAll
        );
        let may = [Fetched, Truncated, Redirected, Gone, Refused].contains(&outcome);
        assert_eq!(opens, may, "{outcome:?}");
    }
}

#[test]
fn product_tokens() {
    assert_eq!(product_token("gossamer/0.1 (+https://e.org)"), "gossamer");
    assert_eq!(product_token("Foo_Bar-Baz"), "Foo_Bar-Baz");
    assert_eq!(product_token("ツ"), "");
}

/// The plain meaning of a pattern, by trying everything.
fn matches_by_search(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skip| matches_by_search(rest, &path[skip..])),
        [byte, rest @ ..] => path.first() == Some(byte) && matches_by_search(rest, &path[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn matching_agrees_with_search(pattern in "/[ab*$]{0,8}", path in "/[ab$]{0,10}") {
        let expected = matches_by_search(pattern.as_bytes(), path.as_bytes());
        prop_assert_eq!(super::pattern::matches(&pattern, &path), expected);
    }

    /// Of all characters but comments, wildcards and what parts a URL.
    #[test]
    fn a_rule_holds_for_each_spelling_of_its_characters(
        text in "[!\"'(),.0-9:;<>@A-Z\\[\\]^_`a-z{|}~-]( {0,2}[!\"'(),.0-9:;<>@A-Z\\[\\]^_`a-z{|}~-]){0,3}",
        bits in any::<u16>(),
    ) {
        let spelled = |bits: u16| text.bytes().enumerate().fold(String::from("/"), |mut out, (at, byte)| {
            if byte == b' ' || bits >> at & 1 == 1 {
                out.push_str(&format!("%{byte:02X}"));
            } else {
                out.push(char::from(byte));
            }
            out
        });
        for rule in [format!("/{text}"), spelled(bits)] {
            let rules = robots(&format!("user-agent: *\ndisallow: {rule}\n"));
            prop_assert!(!rules.allows(&spelled(0)));
            prop_assert!(!rules.allows(&spelled(!bits)));
        }
    }

    #[test]
    fn guarantees_hold(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz_robots(&data);
    }

    #[test]
    fn guarantees_hold_on_likely_files(path in "[a-z%/*$~E7]{0,10}", body in "((user-agent|Disallow|allow|crawl-delay|sitemap): ?(\\*|gossamer|/[a-z%/*$~E7]{0,8}|[0-9.]{1,4})?[\r\n#]{1,2}){0,8}") {
        let mut data = path.into_bytes();
        data.push(0);
        data.extend_from_slice(body.as_bytes());
        fuzz_robots(&data);
    }
}
