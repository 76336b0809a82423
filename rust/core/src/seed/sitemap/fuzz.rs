//! What must hold for every input: run by the fuzzer and by the property tests.

use super::{Kind, Limits, parse};
use crate::canonical::{Base, Rules};

/// Inputs to begin from: each meets a part of the code that random bytes hardly find.
pub const SEEDS: &[&[u8]] = &[
    b"<urlset><url><loc>https://e.org/a?b&amp;c</loc><lastmod>2005-01-01T00:00:00Z</lastmod><priority>0.5</priority></url></urlset>",
    b"<?xml version=\"1.0\" encoding=\"latin1\"?><!DOCTYPE a [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><sitemapindex><sitemap><loc>&f;<![CDATA[x]]></loc>",
    b"<rss><channel><item><link>/a</link><guid>b</guid><pubDate>05 Jan 17 13:34:55</pubDate></item></channel></rss>",
    b"<feed><entry><link rel='alternate' href='/a'/><updated>2003</updated></entry></feed>",
    b"https://e.org/a\r\nhttps://e.org/b",
];

/// Reads `data` as a sitemap.
///
/// # Panics
/// When a guarantee is broken.
pub fn fuzz_sitemap(data: &[u8]) {
    let Ok(base) = Base::parse("https://example.org/maps/sitemap.xml", None) else {
        return;
    };
    let limits = Limits {
        max_bytes: 1 << 20,
        max_entries: 50,
    };
    let map = parse(data, &base, &Rules::default(), limits);
    assert!(map.entries.len() <= limits.max_entries, "too many entries");
    assert!(
        map.kind != Kind::Unknown || map.entries.is_empty(),
        "entries of nothing known"
    );
    for entry in &map.entries {
        assert!(
            entry
                .priority
                .is_none_or(|value| (0.0..=1.0).contains(&value))
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{SEEDS, fuzz_sitemap};

    #[test]
    fn guarantees_hold_on_mutated_seeds() {
        let rounds = std::env::var("FUZZ_ROUNDS")
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(3000);
        crate::mutation::mutate(SEEDS, rounds, fuzz_sitemap);
    }
}
