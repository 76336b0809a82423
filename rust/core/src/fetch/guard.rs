//! The address guard: which addresses a crawler of the public internet does not visit.
//!
//! Asked after resolution, for each address, and the connection then goes to exactly the address
//! that was judged: a name that changes its answer in between gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not visited; none when it may be.
#[must_use]
pub fn forbidden(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => forbidden_v4(ip),
        IpAddr::V6(ip) => forbidden_v6(ip),
    }
}

fn forbidden_v4(ip: Ipv4Addr) -> Option<&'static str> {
    Some(match ip.octets() {
        [0, ..] => "this network",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [100, 64..=127, ..] => "shared (carrier NAT)",
        [127, ..] => "loopback",
        // Holds 169.254.169.254 and the other metadata services of clouds.
        [169, 254, ..] => "link-local",
        [192, 0, 0, _] => "protocol assignments",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "documentation",
        [192, 88, 99, _] => "6to4 relay",
        [198, 18..=19, ..] => "benchmarking",
        // Outside the reserved ranges, yet the metadata and platform service of a cloud.
        [168, 63, 129, 16] => "cloud metadata",
        [224..=239, ..] => "multicast",
        [240..=255, ..] => "reserved or broadcast",
        _ => return None,
    })
}

fn forbidden_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        forbidden_v4(Ipv4Addr::new(a, b, c, d))
    };
    Some(match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        // Forms that carry an IPv4 address are judged by it.
        [0, 0, 0, 0, 0, 0xffff, high, low] => return embedded(high, low),
        // IPv4-compatible and IPv4-translated: obsolete, no public host has one.
        [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => "IPv4-compatible",
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return embedded(high, low),
        [0x64, 0xff9b, 1, ..] => "local NAT64",
        [0x100, 0, 0, 0, ..] => "discard",
        [0x2001, 0, ..] => "Teredo",
        [0x2001, 2, 0, ..] => "benchmarking",
        [0x2001, 0x10..=0x2f, ..] => "ORCHID",
        [0x2001, 0..=0x1ff, ..] => "protocol assignments",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "documentation",
        [0x2002, high, low, ..] => return embedded(high, low),
        [0x5f00, ..] => "segment routing",
        [0xfc00..=0xfdff, ..] => "unique local",
        [0xfe80..=0xfebf, ..] => "link-local",
        [0xfec0..=0xfeff, ..] => "site-local",
        [0xff00..=0xffff, ..] => "multicast",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::forbidden;

    fn refused(text: &str) -> bool {
        forbidden(text.parse().unwrap()).is_some()
    }

    #[test]
    fn addresses_that_are_not_of_the_public_internet() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.13",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "100.100.100.200",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
            "::ffff:169.254.169.254",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::1",
            "2002:c0a8:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "100::1",
        ] {
            assert!(refused(text), "{text} must be refused");
        }
    }

    #[test]
    fn their_public_neighbours_are_visited() {
        for text in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "8.8.8.8",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2a00:1450::1",
            "2001:4860:4860::8888",
            "fbff::1",
        ] {
            assert!(!refused(text), "{text} must be visited");
        }
    }
}
