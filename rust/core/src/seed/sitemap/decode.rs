//! From bytes to text: unpacked under a limit, then decoded.

use encoding_rs::{Encoding, UTF_8};
use flate2::bufread::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// The text of `body`, and whether something of it was cut off.
pub(super) fn text_of(body: &[u8], max_bytes: usize) -> (String, bool) {
    let (bytes, cut) = match body {
        [0x1f, 0x8b, ..] => unpack(body, max_bytes),
        _ => (
            Cow::Borrowed(&body[..body.len().min(max_bytes)]),
            body.len() > max_bytes,
        ),
    };
    let encoding = Encoding::for_bom(&bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| declared(&bytes))
        .unwrap_or(UTF_8);
    (encoding.decode(&bytes).0.into_owned(), cut)
}

/// Reads until the end, the limit or the first fault, and keeps what came.
fn unpack(body: &[u8], max_bytes: usize) -> (Cow<'_, [u8]>, bool) {
    let mut out = Vec::new();
    let limit = u64::try_from(max_bytes)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let failed = MultiGzDecoder::new(body)
        .take(limit)
        .read_to_end(&mut out)
        .is_err();
    let over = out.len() > max_bytes;
    out.truncate(max_bytes);
    (Cow::Owned(out), failed || over)
}

/// The encoding named by the XML declaration, looked for in the first bytes.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(256))?.trim_ascii_start();
    let head = head.strip_prefix(b"<?xml")?;
    let head = &head[..head.iter().position(|&b| b == b'>')?];
    let name = head.windows(8).position(|window| window == b"encoding")?;
    let value = head[name + 8..]
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let quote = *value.first()?;
    let label = value[1..].split(|&b| b == quote).next()?;
    // A document that could be read this far is not in UTF-16, whatever it says.
    Encoding::for_label(label).filter(|encoding| encoding.is_ascii_compatible())
}
