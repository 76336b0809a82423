//! The short way for plain links: no parser, one allocation, one copy.
//!
//! It takes a link only when every byte of it is one that the standard leaves as it is, so that
//! the result is the slow path's by construction; for all else it answers `None` and the slow
//! path decides. A property test compares the two on generated links.

use super::base::{Base, Plain};
use super::rules::Rules;
use super::url::Url;
use super::{Refusal, strip};

/// Bytes that stay as they are in a path and in a query. `'` is escaped in a query, `%` needs its
/// digits looked at, `:` in the first segment may end a scheme: they are not here.
const PLAIN: u8 = 1;
/// Bytes of a host name in canonical spelling.
const NAME: u8 = 2;

const CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0usize;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() {
            table[byte] |= PLAIN;
        }
        if b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_' {
            table[byte] |= NAME;
        }
        byte += 1;
    }
    let extra = b"-._~!$&()*+,;=:@/";
    let mut at = 0;
    while at < extra.len() {
        table[extra[at] as usize] |= PLAIN;
        at += 1;
    }
    table
};

/// The link resolved, or `None` where only the slow path can tell.
pub(super) fn resolve(
    raw: &str,
    base: Option<&Base>,
    rules: &Rules,
) -> Option<Result<Url, Refusal>> {
    if let Some(rest) = raw.strip_prefix("https://") {
        return absolute("https://", rest, rules);
    }
    if let Some(rest) = raw.strip_prefix("http://") {
        return absolute("http://", rest, rules);
    }
    let base = base?.plain()?;
    if let Some(rest) = raw.strip_prefix("//") {
        let scheme = if base.text.as_bytes().get(4) == Some(&b's') {
            "https://"
        } else {
            "http://"
        };
        return absolute(scheme, rest, rules);
    }
    match raw.as_bytes().first() {
        None | Some(b'#') => join(base, base.text.len(), "", rules),
        Some(b'?') => join(base, base.path_end, raw, rules),
        Some(b'/') => join(base, base.path_at, raw, rules),
        Some(_) => relative(base, raw, rules),
    }
}

/// A link beginning with a path segment, perhaps after `./` and `../`.
fn relative(base: &Plain, raw: &str, rules: &Rules) -> Option<Result<Url, Refusal>> {
    let mut keep = base.directory_end;
    let mut rest = raw;
    loop {
        if let Some(tail) = rest.strip_prefix("../") {
            // Above the root there is the root.
            let parent = base.text.as_bytes()[base.path_at..keep - 1]
                .iter()
                .rposition(|&b| b == b'/');
            keep = parent.map_or(keep, |slash| base.path_at + slash + 1);
            rest = tail;
        } else if let Some(tail) = rest.strip_prefix("./") {
            rest = tail;
        } else {
            break;
        }
    }
    let head = rest
        .bytes()
        .take_while(|b| !matches!(b, b'/' | b'?' | b'#'));
    // A colon in the first segment may end a scheme, though only of the raw link.
    if head.clone().any(|b| b == b':')
        || (head.count() == 0 && !rest.is_empty() && !rest.starts_with('/'))
    {
        return None;
    }
    join(base, keep, rest, rules)
}

/// The first `keep` bytes of the base, then `rest` up to its fragment.
fn join(base: &Plain, keep: usize, rest: &str, rules: &Rules) -> Option<Result<Url, Refusal>> {
    let start = if base.text.as_bytes()[4] == b's' {
        8
    } else {
        7
    };
    let kept = &base.text[..keep];
    // Behind a directory a new segment begins; behind a path, a query.
    let in_path = keep == base.path_at || keep <= base.directory_end;
    let rest = plain_part(rest, in_path)?;
    let mut text = String::with_capacity(kept.len() + rest.len());
    text.push_str(kept);
    push(&mut text, rest);
    Some(finish(text, start, base.path_at, rules))
}

/// `rest` begins with the authority.
fn absolute(scheme: &str, rest: &str, rules: &Rules) -> Option<Result<Url, Refusal>> {
    let bytes = rest.as_bytes();
    let host_end = bytes
        .iter()
        .position(|b| matches!(b, b'/' | b'?' | b'#'))
        .unwrap_or(bytes.len());
    if !plain_authority(&bytes[..host_end], scheme.len() == 8) {
        return None;
    }
    let tail = &rest[host_end..];
    let needs_slash = !tail.starts_with('/');
    let tail = plain_part(tail, true)?;
    let mut text = String::with_capacity(scheme.len() + rest.len() + 1);
    text.push_str(scheme);
    text.push_str(&rest[..host_end]);
    let path_at = text.len();
    if needs_slash {
        text.push('/');
    }
    push(&mut text, tail);
    Some(finish(text, scheme.len(), path_at, rules))
}

fn finish(mut text: String, start: usize, path_at: usize, rules: &Rules) -> Result<Url, Refusal> {
    strip::strip(&mut text, path_at, rules);
    if text.len() > rules.max_length {
        return Err(Refusal::TooLong);
    }
    Url::assemble(text, start, path_at, rules.grouping)
}

/// Copies `part`, its escapes in upper case.
fn push(text: &mut String, part: &str) {
    if !part.as_bytes().contains(&b'%') {
        text.push_str(part);
        return;
    }
    let mut digits = 0;
    for byte in part.bytes() {
        let out = if digits > 0 {
            byte.to_ascii_uppercase()
        } else {
            byte
        };
        digits = if byte == b'%' {
            2
        } else {
            digits - i32::from(digits > 0)
        };
        text.push(char::from(out));
    }
}

/// `part` without its fragment, if nothing in it needs the parser: only plain bytes, whole
/// escapes, and no segment that could be a dot segment.
fn plain_part(part: &str, mut in_path: bool) -> Option<&str> {
    let bytes = part.as_bytes();
    let mut segment_start = in_path;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if segment_start {
            segment_start = false;
            if byte == b'.' || (byte == b'%' && bytes.get(at + 1) == Some(&b'2')) {
                return None;
            }
        }
        if CLASS[usize::from(byte)] & PLAIN != 0 {
            segment_start = byte == b'/' && in_path;
            at += 1;
            continue;
        }
        match byte {
            b'#' => return Some(&part[..at]),
            b'?' => {
                in_path = false;
                at += 1;
            }
            b'%' if bytes.len() > at + 2
                && bytes[at + 1].is_ascii_hexdigit()
                && bytes[at + 2].is_ascii_hexdigit() =>
            {
                at += 3;
            }
            _ => return None,
        }
    }
    Some(part)
}

/// Whether the authority is canonical as it stands: a plain name or a dotted address, and no
/// port or one that is not the default.
fn plain_authority(authority: &[u8], https: bool) -> bool {
    let (name, port) = match authority.iter().position(|&b| b == b':') {
        Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
        None => (authority, None),
    };
    port.is_none_or(|digits| plain_port(digits, https)) && (plain_name(name) || plain_address(name))
}

fn plain_port(digits: &[u8], https: bool) -> bool {
    if !(1..=5).contains(&digits.len())
        || digits[0] == b'0'
        || !digits.iter().all(u8::is_ascii_digit)
    {
        return false;
    }
    let port = digits
        .iter()
        .fold(0u32, |sum, &digit| sum * 10 + u32::from(digit - b'0'));
    port <= 65535 && port != if https { 443 } else { 80 }
}

/// Lower-case labels; the last begins with a letter, so it is no number; none in punycode, which
/// would have to be checked.
fn plain_name(name: &[u8]) -> bool {
    if name.len() > 253 {
        return false;
    }
    let mut last_letter = false;
    for label in name.split(|&b| b == b'.') {
        let plain = (1..=63).contains(&label.len())
            && label.iter().all(|&b| CLASS[usize::from(b)] & NAME != 0)
            && !label.starts_with(b"xn--");
        if !plain {
            return false;
        }
        last_letter = label[0].is_ascii_lowercase();
    }
    last_letter
}

/// Four decimal numbers without leading zeros.
fn plain_address(name: &[u8]) -> bool {
    let mut parts = 0;
    for part in name.split(|&b| b == b'.') {
        parts += 1;
        let digits = (1..=3).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        if !digits || (part.len() > 1 && part[0] == b'0') {
            return false;
        }
        if part
            .iter()
            .fold(0u32, |sum, &d| sum * 10 + u32::from(d - b'0'))
            > 255
        {
            return false;
        }
    }
    parts == 4
}
