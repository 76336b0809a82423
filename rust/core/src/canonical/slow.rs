//! The whole standard, by way of the `url` crate, and then our additions.

use super::base::Base;
use super::rules::Rules;
use super::url::Url;
use super::whatwg::parse;
use super::{Refusal, strip};
use ::url::{Host, Position};

/// Parses, resolves and normalises anything.
pub(super) fn resolve(raw: &str, base: Option<&Base>, rules: &Rules) -> Result<Url, Refusal> {
    let parsed = parse(raw, base.map(Base::parsed))?;
    from_parsed(&parsed.url, parsed.host(base), rules)
}

fn from_parsed(parsed: &::url::Url, host: Option<&str>, rules: &Rules) -> Result<Url, Refusal> {
    let scheme = match parsed.scheme() {
        "http" => "http://",
        "https" => "https://",
        _ => return Err(Refusal::Scheme),
    };
    let host = host.ok_or(Refusal::Host)?;
    let host = match parsed.host() {
        Some(Host::Domain(_)) => host.strip_suffix('.').unwrap_or(host),
        _ => host,
    };
    if !in_dns(host) {
        return Err(Refusal::HostName);
    }
    let mut text = String::with_capacity(parsed.as_str().len());
    text.push_str(scheme);
    text.push_str(host);
    if let Some(port) = parsed.port() {
        text.push(':');
        text.push_str(&port.to_string());
    }
    let path_at = text.len();
    text.push_str(&parsed[Position::BeforePath..Position::AfterQuery]);
    let mut bytes = text.into_bytes();
    upper_escapes(&mut bytes[path_at..]);
    // Only ASCII letters were changed, so this cannot fail; the check costs little here.
    let mut text = String::from_utf8(bytes).map_err(|_| Refusal::Malformed)?;
    strip::strip(&mut text, path_at, rules);
    if text.len() > rules.max_length {
        return Err(Refusal::TooLong);
    }
    Url::assemble(text, scheme.len(), path_at, rules.grouping)
}

/// Whether a name server could know the name: no empty label, none too long.
fn in_dns(host: &str) -> bool {
    if host.starts_with('[') {
        return true;
    }
    host.len() <= 253 && host.split('.').all(|label| (1..=63).contains(&label.len()))
}

/// `%7b` and `%7B` are one spelling.
pub(super) fn upper_escapes(bytes: &mut [u8]) {
    let mut at = 0;
    while at + 2 < bytes.len() {
        if bytes[at] == b'%'
            && bytes[at + 1].is_ascii_hexdigit()
            && bytes[at + 2].is_ascii_hexdigit()
        {
            bytes[at + 1].make_ascii_uppercase();
            bytes[at + 2].make_ascii_uppercase();
            at += 3;
        } else {
            at += 1;
        }
    }
}
