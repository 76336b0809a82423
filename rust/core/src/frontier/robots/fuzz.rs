//! What must hold for every input: run by the fuzzer and by the property tests.

use super::{Field, Robots, lines, readable};

/// Inputs to begin from: each meets a part of the code that random bytes hardly find.
pub const SEEDS: &[&[u8]] = &[
    b"a/b%7Ec?d\0User-agent: gossamer\nDisallow: /a*b$\nAllow: /%7ea\r\nCrawl-delay: 1.5\nSitemap: /s.xml",
    b"wiki/Special:A*b$?f[0]=%2F\0User-agent: *\nDisallow: /wiki/Special%3A\nAllow: /*?f%5B0%5D=/\nDisallow: /a b%2A%24",
    b"a\0\xff\xfeu\0s\0e\0r\0-\0a\0g\0e\0n\0t\0:\0*\0\n\0a\0l\0l\0o\0w\0:\0/\0a\0",
    b"x\0\xef\xbb\xbfuseragent *\rdissallow /x # y\ruser-agent: foo\nallow:",
];

/// Reads `data` as a path up to the first NUL, and behind it a `robots.txt`.
///
/// # Panics
/// When a guarantee is broken.
pub fn fuzz_robots(data: &[u8]) {
    let split = data.iter().position(|&b| b == 0).unwrap_or(0);
    let path = format!("/{}", String::from_utf8_lossy(&data[..split]));
    let body = &data[split..];
    let robots = Robots::parse(body, "gossamer");
    assert!(
        robots.allows("/robots.txt"),
        "robots.txt itself is always allowed"
    );
    let rule = robots.which_rule(&path);
    assert_eq!(
        robots.allows(&path),
        rule.as_ref().is_none_or(|rule| rule.allow) || path == "/robots.txt"
    );
    if let Some(rule) = rule {
        let cut = readable(body);
        let field = if rule.allow {
            Field::Allow
        } else {
            Field::Disallow
        };
        assert!(
            lines(&cut).any(|line| line.number == rule.line && line.field == field),
            "the rule stands on the line it names"
        );
    }
    assert!(
        robots
            .crawl_delay()
            .is_none_or(|delay| delay.as_secs() <= 86_400)
    );
    assert!(
        robots.heap_size() <= 16 * (body.len() + 1),
        "kept more than was read"
    );
}

#[cfg(test)]
mod tests {
    use super::{SEEDS, fuzz_robots};

    #[test]
    fn guarantees_hold_on_mutated_seeds() {
        let rounds = std::env::var("FUZZ_ROUNDS")
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(3000);
        crate::mutation::mutate(SEEDS, rounds, fuzz_robots);
    }
}
