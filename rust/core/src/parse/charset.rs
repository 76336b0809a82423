//! The charset of a document: byte order mark, header, `meta`, then detection.
//!
//! Guarantees: bytes that are valid already are not copied; decoding never fails (what cannot be
//! read becomes U+FFFD).

use super::prescan::{PRESCAN, prescan};
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;

/// Detection, and the search for a declaration that comes late, read no more of a document.
const DETECT: usize = 64 * 1024;

/// The encoding of a document, and the length of its byte order mark.
#[must_use]
pub fn find(
    body: &[u8],
    header: Option<&str>,
    markup: bool,
    url: &str,
) -> (&'static Encoding, usize) {
    if let Some(found) = Encoding::for_bom(body) {
        return found;
    }
    let in_markup = |most| markup.then(|| prescan(body, most)).flatten();
    let encoding = header
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .or_else(|| in_markup(PRESCAN))
        // Valid UTF-8 (ASCII among it) is what nobody writes by accident.
        .or_else(|| std::str::from_utf8(body).is_ok().then_some(UTF_8))
        // A browser that meets a declaration late begins again.
        .or_else(|| in_markup(DETECT))
        .unwrap_or_else(|| detect(body, url));
    (encoding, 0)
}

/// The text of `body` and the name of its encoding.
#[must_use]
pub fn decode<'a>(
    body: &'a [u8],
    header: Option<&str>,
    markup: bool,
    url: &str,
) -> (Cow<'a, str>, &'static str) {
    let (encoding, skip) = find(body, header, markup, url);
    let (text, _) = encoding.decode_without_bom_handling(&body[skip..]);
    (text, encoding.name())
}

fn detect(body: &[u8], url: &str) -> &'static Encoding {
    let sample = &body[..body.len().min(DETECT)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, true);
    detector.guess(top_level(url).map(str::as_bytes), Utf8Detection::Deny)
}

/// The last label of the host, in the form the detector asks for: lower case, letters only.
fn top_level(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#', ':']).next()?;
    let label = host.trim_end_matches('.').rsplit('.').next()?;
    (!label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase())).then_some(label)
}
