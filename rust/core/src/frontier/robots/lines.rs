//! The lines of a `robots.txt`, read as leniently as sites write them.

use super::MAX_BODY;
use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;

/// A longer line is cut here, as Google's reader does; no URL that we make is near as long.
const MAX_LINE: usize = 2083 * 8 - 1;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Begins a group, or adds an agent to it.
    UserAgent,
    /// A path that may be visited.
    Allow,
    /// A path that must not be visited.
    Disallow,
    /// Seconds between two visits.
    CrawlDelay,
    /// The address of a sitemap; belongs to no group.
    Sitemap,
    /// Anything else: passed over.
    Unknown,
}

/// A line with a key and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u32,
    /// The key.
    pub field: Field,
    /// The value, without comment and surrounding blanks; any bytes.
    pub value: &'a [u8],
}

/// The part of a body that is read, as UTF-8 where it says that it is UTF-16.
#[must_use]
pub fn readable(body: &[u8]) -> Cow<'_, [u8]> {
    let body = &body[..body.len().min(MAX_BODY)];
    match Encoding::for_bom(body) {
        Some((encoding, skip)) if encoding != UTF_8 => {
            let (text, _) = encoding.decode_without_bom_handling(&body[skip..]);
            Cow::Owned(text.into_owned().into_bytes())
        }
        _ => Cow::Borrowed(body),
    }
}

/// The lines of a [`readable`] body that have a key, in order.
pub fn lines(body: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut rest = without_bom(body);
    let mut number = 0;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = rest
                .iter()
                .position(|&b| b == b'\n' || b == b'\r')
                .unwrap_or(rest.len());
            let line = &rest[..end.min(MAX_LINE)];
            // A carriage return and a line feed are one line end, each alone is one too.
            let skip = if rest[end..].starts_with(b"\r\n") {
                2
            } else {
                1
            };
            rest = rest.get(end + skip..).unwrap_or_default();
            number += 1;
            if let Some((field, value)) = key_and_value(line) {
                return Some(Line {
                    number,
                    field,
                    value,
                });
            }
        }
        None
    })
}

/// A byte order mark, or the beginning of one that an editor broke.
fn without_bom(body: &[u8]) -> &[u8] {
    let mark = [0xef, 0xbb, 0xbf];
    let common = body
        .iter()
        .zip(mark)
        .take_while(|(byte, expected)| **byte == *expected)
        .count();
    &body[common..]
}

fn key_and_value(line: &[u8]) -> Option<(Field, &[u8])> {
    let line = line
        .split(|&b| b == b'#')
        .next()
        .unwrap_or(line)
        .trim_ascii();
    let (key, value) = match line.iter().position(|&b| b == b':') {
        Some(colon) => (
            line[..colon].trim_ascii_end(),
            line[colon + 1..].trim_ascii_start(),
        ),
        None => {
            // `disallow /private`: the colon was forgotten. Exactly two words, or it is prose.
            let blank = line.iter().position(u8::is_ascii_whitespace)?;
            let value = line[blank..].trim_ascii_start();
            if value.iter().any(u8::is_ascii_whitespace) {
                return None;
            }
            (&line[..blank], value)
        }
    };
    (!key.is_empty()).then(|| (field(key), value))
}

/// Misspellings that are common on the web count: who writes `dissallow` means it.
fn field(key: &[u8]) -> Field {
    let starts = |names: &[&str]| {
        names.iter().any(|name| {
            key.get(..name.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
        })
    };
    if starts(&["user-agent", "useragent", "user agent"]) {
        Field::UserAgent
    } else if starts(&["allow"]) {
        Field::Allow
    } else if starts(&[
        "disallow",
        "dissallow",
        "dissalow",
        "disalow",
        "diasllow",
        "disallaw",
    ]) {
        Field::Disallow
    } else if starts(&["crawl-delay", "crawldelay", "crawl delay"]) {
        Field::CrawlDelay
    } else if starts(&["sitemap", "site-map"]) {
        Field::Sitemap
    } else {
        Field::Unknown
    }
}

/// The product token at the head of a user agent: letters, `-` and `_`, by RFC 9309.
#[must_use]
pub fn product_token(agent: &str) -> &str {
    let end = agent
        .bytes()
        .position(|b| !(b.is_ascii_alphabetic() || b == b'-' || b == b'_'));
    &agent[..end.unwrap_or(agent.len())]
}
