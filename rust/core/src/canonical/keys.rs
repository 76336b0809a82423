//! Hashes by which URLs are kept apart and hosts are kept together.

use super::rules::Grouping;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The seed of the second half of a key. Part of the store's format: never change it.
const SECOND: u64 = 0x676f_7373_616d_6572;

/// Which of `partitions` a host belongs to: a contiguous range of host keys each.
#[must_use]
pub fn partition(host_key: u64, partitions: u32) -> u32 {
    let scaled = (u128::from(host_key) * u128::from(partitions)) >> 64;
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

/// The grouping key's hash in the high half, the host's in the low half.
pub(super) fn host_key(host: &str, hostname: &str, grouping: Grouping) -> u64 {
    let own = xxh3_64(host.as_bytes());
    match grouping {
        Grouping::Host => own,
        Grouping::FirstLabel => {
            let group = xxh3_64(first_label(hostname).as_bytes());
            (group & 0xffff_ffff_0000_0000) | (own & 0xffff_ffff)
        }
    }
}

/// An address has no labels to speak of: all of 127.0.0.0/8 is not one site.
fn first_label(hostname: &str) -> &str {
    if super::address::is_address(hostname) {
        return hostname;
    }
    hostname.split('.').next().unwrap_or(hostname)
}

pub(super) fn fingerprint(host_key: u64, text: &str) -> u64 {
    (host_key & 0xffff_ffff_0000_0000) | (xxh3_64(text.as_bytes()) & 0xffff_ffff)
}

pub(super) fn key(host_key: u64, text: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&fingerprint(host_key, text).to_be_bytes());
    bytes[8..].copy_from_slice(&xxh3_64_with_seed(text.as_bytes(), SECOND).to_be_bytes());
    bytes
}
