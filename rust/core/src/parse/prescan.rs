//! The prescan of the standard: an encoding declared by `meta` (or an XML declaration) within the
//! first 1,024 bytes.

use super::tokenizer::is_space;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// How far the standard looks before it begins to parse.
pub const PRESCAN: usize = 1024;

/// The encoding declared within the first `most` bytes, if there is one.
#[must_use]
pub fn prescan(body: &[u8], most: usize) -> Option<&'static Encoding> {
    let bytes = &body[..body.len().min(most)];
    // An XML declaration in UTF-16 without a byte order mark.
    if bytes.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if bytes.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    in_meta(bytes).or_else(|| in_declaration(bytes))
}

/// What a label in the document itself means: a document whose declaration could be read is not
/// in UTF-16.
fn readable(label: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label(label).map(|encoding| {
        if encoding == UTF_16LE || encoding == UTF_16BE {
            UTF_8
        } else if encoding == X_USER_DEFINED {
            WINDOWS_1252
        } else {
            encoding
        }
    })
}

fn in_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let end = memchr::memchr(b'>', bytes)?;
    let inside = bytes.get(..end)?.strip_prefix(b"<?xml")?;
    let at = memchr::memmem::find(inside, b"encoding")?;
    let rest = inside[at + 8..].trim_ascii_start().strip_prefix(b"=")?;
    let rest = rest.trim_ascii_start();
    let quote = *rest.first().filter(|b| matches!(b, b'"' | b'\''))?;
    let label = rest[1..].split(|b| *b == quote).next()?;
    (label.len() + 1 < rest.len()).then(|| readable(label))?
}

fn in_meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'<', bytes.get(at..)?) {
        at += offset;
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            // The dashes of the opening may be those of the ending.
            at += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
        } else if rest.len() > 5
            && rest[..5].eq_ignore_ascii_case(b"<meta")
            && (is_space(rest[5]) || rest[5] == b'/')
        {
            at += 5;
            if let Some(found) = meta(bytes, &mut at) {
                return Some(found);
            }
        } else if rest.get(1).is_some_and(|b| b.is_ascii_alphabetic())
            || (rest.get(1) == Some(&b'/') && rest.get(2).is_some_and(|b| b.is_ascii_alphabetic()))
        {
            while bytes.get(at).is_some_and(|b| !is_space(*b) && *b != b'>') {
                at += 1;
            }
            while attribute(bytes, &mut at).is_some() {}
            if bytes.get(at) != Some(&b'>') {
                return None;
            }
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            at += memchr::memchr(b'>', rest)?;
        } else {
            at += 1;
        }
    }
    None
}

/// The attributes of one `meta`.
fn meta(bytes: &[u8], at: &mut usize) -> Option<&'static Encoding> {
    let (mut pragma, mut need_pragma, mut charset) = (false, None, None);
    // Of each of the three the first counts.
    let mut seen = [false; 3];
    while let Some((name, value)) = attribute(bytes, at) {
        let known = [&b"http-equiv"[..], b"content", b"charset"];
        let Some(index) = known.iter().position(|known| *known == name) else {
            continue;
        };
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                if let Some(found) = in_content(&value).and_then(readable) {
                    charset = Some(found);
                    need_pragma = Some(true);
                }
            }
            b"charset" => {
                // An unknown label is a failure that a later `content` does not mend.
                charset = readable(&value);
                need_pragma = Some(false);
            }
            _ => {}
        }
    }
    if bytes.get(*at) != Some(&b'>') {
        // Out of bytes in the middle of the tag.
        *at = bytes.len();
        return None;
    }
    match need_pragma {
        Some(true) if !pragma => None,
        Some(_) => charset,
        None => None,
    }
}

/// "Get an attribute" of the prescan: name and value in lower case.
fn attribute(bytes: &[u8], at: &mut usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let peek = |at: usize| bytes.get(at).copied();
    while peek(*at).is_some_and(|b| is_space(b) || b == b'/') {
        *at += 1;
    }
    if peek(*at)? == b'>' {
        return None;
    }
    let from = *at;
    // A leading `=` belongs to the name.
    *at += 1;
    while !matches!(peek(*at)?, b'=' | b'/' | b'>') && !is_space(peek(*at)?) {
        *at += 1;
    }
    let name = bytes[from..*at].to_ascii_lowercase();
    while peek(*at).is_some_and(is_space) {
        *at += 1;
    }
    if peek(*at)? != b'=' {
        return Some((name, Vec::new()));
    }
    *at += 1;
    while peek(*at).is_some_and(is_space) {
        *at += 1;
    }
    let value = match peek(*at)? {
        quote @ (b'"' | b'\'') => {
            let from = *at + 1;
            let length = memchr::memchr(quote, bytes.get(from..)?)?;
            *at = from + length + 1;
            &bytes[from..from + length]
        }
        b'>' => &[],
        _ => {
            let from = *at;
            while !is_space(peek(*at)?) && peek(*at)? != b'>' {
                *at += 1;
            }
            &bytes[from..*at]
        }
    };
    Some((name, value.to_ascii_lowercase()))
}

/// "Extract a character encoding from a meta element": the label in a `content` value.
fn in_content(value: &[u8]) -> Option<&[u8]> {
    let mut rest = value;
    loop {
        let at = memchr::memmem::find(rest, b"charset")?;
        rest = rest[at + 7..].trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b"=") {
            rest = after.trim_ascii_start();
            break;
        }
    }
    match rest.first()? {
        quote @ (b'"' | b'\'') => {
            let end = memchr::memchr(*quote, &rest[1..])?;
            Some(&rest[1..=end])
        }
        _ => rest.split(|b| is_space(*b) || *b == b';').next(),
    }
}
