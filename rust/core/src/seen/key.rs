//! The key of a URL: 16 bytes in which URLs of a host are neighbours.
//!
//! `fingerprint (8 bytes) ++ second hash (8 bytes)`, big-endian; the fingerprint is the high half
//! of the host's key and 32 bits of the URL's hash. Two URLs of one host share a key with a
//! chance of 2⁻⁹⁶: a host of 10⁹ URLs has a chance of about 10⁻¹¹ of a single clash.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Another hash than the one in the fingerprint, so that the two are independent.
const SECOND_SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The key under which a URL is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(pub [u8; 16]);

impl UrlKey {
    /// The key of a canonical URL whose host has the key `host_key`.
    #[must_use]
    pub fn new(host_key: u64, url: &str) -> UrlKey {
        let fingerprint = (host_key & 0xFFFF_FFFF_0000_0000) | (xxh3_64(url.as_bytes()) >> 32);
        let second = xxh3_64_with_seed(url.as_bytes(), SECOND_SEED);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&fingerprint.to_be_bytes());
        bytes[8..].copy_from_slice(&second.to_be_bytes());
        UrlKey(bytes)
    }

    /// 64 bits that are random even among the URLs of one host.
    #[must_use]
    pub fn spread(self) -> u64 {
        let mut half = [0; 8];
        half.copy_from_slice(&self.0[8..]);
        u64::from_be_bytes(half)
    }
}

/// The key of a host: its group in the high half, itself in the low half.
#[must_use]
pub fn host_key(group: &str, host: &str) -> u64 {
    (xxh3_64(group.as_bytes()) & 0xFFFF_FFFF_0000_0000) | (xxh3_64(host.as_bytes()) >> 32)
}

/// The authority of a canonical URL: what is between `://` and the path.
#[must_use]
pub fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_a_host_are_neighbours() {
        let host = host_key("a.example", "a.example");
        let keys = ["http://a.example/", "http://a.example/x"].map(|url| UrlKey::new(host, url));
        assert_eq!(keys[0].0[..4], keys[1].0[..4]);
        assert_ne!(keys[0], keys[1]);
        let other = UrlKey::new(host_key("b.example", "b.example"), "http://a.example/");
        assert_ne!(keys[0].0[..4], other.0[..4]);
        assert_eq!(keys[0].0[4..], other.0[4..]);
    }

    #[test]
    fn hosts_are_found() {
        assert_eq!(host_of("http://a.example:81/x?y#z"), "a.example:81");
        assert_eq!(host_of("http://[::1]:81"), "[::1]:81");
        assert_eq!(host_of("http://h?q"), "h");
        assert_eq!(host_of("odd"), "odd");
        assert_eq!(host_of(""), "");
    }
}
