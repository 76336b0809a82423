//! What must hold for every input: run by the fuzzer and by the property tests.

use super::{Kind, Limits, parse};
use crate::canonical::{Base, Rules};

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
        assert!(!entry.loc.as_str().contains("root:"), "a file was read");
        assert!(
            entry
                .priority
                .is_none_or(|value| (0.0..=1.0).contains(&value))
        );
    }
}
