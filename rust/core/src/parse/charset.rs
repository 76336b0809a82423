//! The charset of a document: byte order mark, header, `meta`, then detection.
//!
//! Guarantees: bytes that are valid already are not copied; decoding never fails (what cannot be
//! read becomes U+FFFD).

use super::prescan::prescan;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::borrow::Cow;

/// Detection reads no more than this much of a document.
const DETECT: usize = 64 * 1024;

/// The encoding that the document declares, and the length of its byte order mark.
#[must_use]
pub fn declared(
    body: &[u8],
    header: Option<&str>,
    markup: bool,
) -> Option<(&'static Encoding, usize)> {
    if let Some(found) = Encoding::for_bom(body) {
        return Some(found);
    }
    let by_header = header.and_then(|label| Encoding::for_label(label.as_bytes()));
    by_header
        .or_else(|| markup.then(|| prescan(body)).flatten())
        .map(|encoding| (encoding, 0))
}

/// The text of `body` and the name of its encoding.
#[must_use]
pub fn decode<'a>(
    body: &'a [u8],
    header: Option<&str>,
    markup: bool,
    url: &str,
) -> (Cow<'a, str>, &'static str) {
    let (encoding, skip) = declared(body, header, markup).unwrap_or_else(|| {
        // Valid UTF-8 (ASCII among it) is what nobody writes by accident.
        if std::str::from_utf8(body).is_ok() {
            (UTF_8, 0)
        } else {
            (detect(body, url), 0)
        }
    });
    let (text, _) = encoding.decode_without_bom_handling(&body[skip..]);
    (text, encoding.name())
}

fn detect(body: &[u8], url: &str) -> &'static Encoding {
    let sample = &body[..body.len().min(DETECT)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, true);
    let guess = detector.guess(top_level(url).map(str::as_bytes), Utf8Detection::Allow);
    if guess == UTF_8 && sample.is_ascii() {
        WINDOWS_1252
    } else {
        guess
    }
}

/// The last label of the host, in the form the detector asks for: lower case, letters only.
fn top_level(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#', ':']).next()?;
    let label = host.trim_end_matches('.').rsplit('.').next()?;
    (!label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase())).then_some(label)
}
