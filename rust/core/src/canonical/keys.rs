//! Hashes by which URLs are kept apart and hosts are kept together.

use super::rules::Grouping;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The seed of the second half of a key. Part of the store's format: never change it.
const SECOND: u64 = 0x676f_7373_616d_6572;

/// The key under which a URL is remembered: 16 bytes in which the URLs of a host are neighbours.
///
/// `fingerprint (8 bytes) ++ second hash (8 bytes)`, big-endian; the fingerprint is the high half
/// of the host's key and 32 bits of the URL's hash. Two URLs of one host share a key with a
/// chance of 2⁻⁹⁶: a host of 10⁹ URLs has a chance of about 10⁻¹¹ of a single clash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(pub [u8; 16]);

impl UrlKey {
    /// 64 bits that are random even among the URLs of one host.
    #[must_use]
    pub fn spread(self) -> u64 {
        let mut half = [0; 8];
        half.copy_from_slice(&self.0[8..]);
        u64::from_be_bytes(half)
    }
}

/// Which of `partitions` a host belongs to: a contiguous range of host keys each. Only the high
/// half counts, which the host shares with its URLs and with all of its group.
#[must_use]
pub fn partition(host_key: u64, partitions: u32) -> u32 {
    (((host_key >> 32) * u64::from(partitions)) >> 32) as u32
}

/// The first and the last host key of a partition.
#[must_use]
pub fn partition_range(partition: u32, partitions: u32) -> (u64, u64) {
    let count = u64::from(partitions.max(1));
    let first = |of: u64| (of << 32).div_ceil(count);
    let low = first(u64::from(partition));
    let next = first(u64::from(partition) + 1);
    (low << 32, ((next - 1) << 32) | 0xffff_ffff)
}

/// The partition that grants the turns of an address: the one of the host named by it.
#[must_use]
pub fn home(address: std::net::IpAddr, partitions: u32) -> u32 {
    let name = match address {
        std::net::IpAddr::V4(address) => address.to_string(),
        std::net::IpAddr::V6(address) => format!("[{address}]"),
    };
    partition(xxh3_64(name.as_bytes()), partitions)
}

/// The group's hash in the high half, the host's in the low half. Ports of one name are a group:
/// they share an address.
pub(super) fn host_key(host: &str, hostname: &str, grouping: Grouping) -> u64 {
    let group = match grouping {
        Grouping::Host => hostname,
        Grouping::FirstLabel => first_label(hostname),
    };
    (xxh3_64(group.as_bytes()) & 0xffff_ffff_0000_0000) | (xxh3_64(host.as_bytes()) & 0xffff_ffff)
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

pub(crate) fn key(host_key: u64, text: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&fingerprint(host_key, text).to_be_bytes());
    bytes[8..].copy_from_slice(&xxh3_64_with_seed(text.as_bytes(), SECOND).to_be_bytes());
    bytes
}
