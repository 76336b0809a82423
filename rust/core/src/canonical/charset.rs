//! Queries in the charset of their document: what a browser sends for a link in a page that is not UTF-8.
//!
//! Paths are always UTF-8; the query alone is spelled in the document's own encoding (WHATWG URL, "percent-encode
//! after encoding"), because the server that wrote the page reads it so.

use encoding_rs::{Encoder, EncoderResult, Encoding, ISO_2022_JP, UTF_8};

/// The encoding of this WHATWG name in which queries are sent; `None`: UTF-8, as everything else.
pub(super) fn of_queries(name: &str) -> Option<&'static Encoding> {
    // UTF-16 is never sent.
    let encoding = Encoding::for_label(name.as_bytes())?.output_encoding();
    (encoding != UTF_8).then_some(encoding)
}

/// `raw` with the characters of its query that are not ASCII escaped in `encoding`; `None` where there are
/// none.
pub(super) fn spell_query(raw: &str, encoding: &'static Encoding) -> Option<String> {
    let end = raw.find('#').unwrap_or(raw.len());
    let from = raw[..end].find('?')? + 1;
    let query = &raw[from..end];
    // ISO-2022-JP switches between its tables by controls, which a text must not do.
    let switches = |c| matches!(c, '\u{e}' | '\u{f}' | '\u{1b}');
    if query.is_ascii() && !(encoding == ISO_2022_JP && query.contains(switches)) {
        return None;
    }
    let mut out = String::with_capacity(raw.len() * 2);
    out.push_str(&raw[..from]);
    // Tabs and line ends are no part of a URL.
    let query: String = query
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    push(&mut out, &query, encoding.new_encoder());
    Some(out)
}

fn push(out: &mut String, query: &str, mut encoder: Encoder) {
    let mut buffer = [0; 1024];
    let mut rest = query;
    loop {
        let (result, read, written) =
            encoder.encode_from_utf8_without_replacement(rest, &mut buffer, true);
        for &byte in &buffer[..written] {
            // The special-query percent-encode set. Bytes of ASCII may be the second half of a character.
            if !byte.is_ascii_graphic() || matches!(byte, b'"' | b'#' | b'<' | b'>' | b'\'') {
                out.push_str(&format!("%{byte:02X}"));
            } else {
                out.push(char::from(byte));
            }
        }
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return,
            EncoderResult::OutputFull => {}
            // A character that the encoding does not have is sent as a reference.
            EncoderResult::Unmappable(character) => {
                out.push_str(&format!("%26%23{}%3B", u32::from(character)));
            }
        }
    }
}
