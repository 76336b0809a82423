//! Hosts that are addresses rather than names.

use super::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address that the host of `url` spells, if it is no name. Odd spellings (`0x7f.1`, `127.1`,
/// full-width digits) were brought to the dotted form by parsing, so nothing slips by here.
#[must_use]
pub fn literal_address(url: &Url) -> Option<IpAddr> {
    parse(url.hostname())
}

/// Whether a canonical host name is an address: the standard lets no other name end in a number.
pub(super) fn is_address(hostname: &str) -> bool {
    match hostname.as_bytes() {
        [b'[', ..] => true,
        [.., last] if last.is_ascii_digit() => parse(hostname).is_some(),
        _ => false,
    }
}

fn parse(hostname: &str) -> Option<IpAddr> {
    if let Some(inner) = hostname
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    hostname.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}
