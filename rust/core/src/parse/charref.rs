//! Character references, and the two changes the standard makes to characters.
//!
//! Takes: a slice of the document and what it was. Gives: the characters it stands for.
//! Guarantees: linear time; at most three bytes out for each byte in.

use super::tokenizer::Content;
use entities::ENTITIES;
use memchr::memchr3;
use std::sync::LazyLock;

/// Where the slice stood: the rules differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An attribute value.
    Attribute,
    /// Text of the given content.
    Text(Content),
}

/// Names without the ampersand, sorted, with what they stand for.
static NAMED: LazyLock<Vec<(&'static [u8], &'static str)>> = LazyLock::new(|| {
    let mut list: Vec<_> = ENTITIES
        .iter()
        .filter_map(|e| Some((e.entity.strip_prefix('&')?.as_bytes(), e.characters)))
        .collect();
    list.sort_unstable();
    list.dedup();
    list
});

/// Whether decoding could change `raw`.
#[inline]
pub fn needs_decoding(raw: &[u8]) -> bool {
    memchr3(b'&', b'\r', 0, raw).is_some()
}

/// Appends the characters that `raw` stands for.
pub fn decode_into(raw: &str, place: Place, out: &mut String) {
    let references = matches!(
        place,
        Place::Attribute | Place::Text(Content::Data | Content::Rcdata)
    );
    let keep_nul = matches!(place, Place::Text(Content::Data | Content::Cdata));
    let bytes = raw.as_bytes();
    let mut from = 0;
    let mut look = 0;
    while let Some(offset) = memchr3(b'&', b'\r', 0, &bytes[look..]) {
        let at = look + offset;
        look = at + 1;
        match bytes[at] {
            b'\r' => {
                out.push_str(&raw[from..at]);
                // A carriage return before a line feed goes away, alone it becomes one.
                if bytes.get(at + 1) != Some(&b'\n') {
                    out.push('\n');
                }
                from = at + 1;
            }
            0 if !keep_nul => {
                out.push_str(&raw[from..at]);
                out.push('\u{fffd}');
                from = at + 1;
            }
            b'&' if references => {
                if let Some((meant, end)) = reference(bytes, at + 1, place == Place::Attribute) {
                    out.push_str(&raw[from..at]);
                    match meant {
                        Meant::Char(char) => out.push(char),
                        Meant::Text(text) => out.push_str(text),
                    }
                    from = end;
                    look = end;
                }
            }
            _ => {}
        }
    }
    out.push_str(&raw[from..]);
}

/// What a reference stands for.
enum Meant {
    Char(char),
    Text(&'static str),
}

/// Reads one reference whose `&` stands before `at`; gives what it means and where it ends.
fn reference(bytes: &[u8], at: usize, attribute: bool) -> Option<(Meant, usize)> {
    match bytes.get(at) {
        Some(b'#') => numeric(bytes, at + 1),
        Some(b) if b.is_ascii_alphanumeric() => named(bytes, at, attribute),
        _ => None,
    }
}

fn named(bytes: &[u8], at: usize, attribute: bool) -> Option<(Meant, usize)> {
    let rest = &bytes[at..];
    if rest.starts_with(b"amp;") {
        return Some((Meant::Char('&'), at + 4));
    }
    // Narrow the sorted list byte by byte; the longest name met on the way wins. Names are at
    // most 32 bytes long, so the work per reference is bounded.
    let mut list = NAMED.as_slice();
    let mut best = None;
    for (index, &byte) in rest.iter().enumerate() {
        let low = list.partition_point(|(name, _)| name[index] < byte);
        let high = list.partition_point(|(name, _)| name[index] <= byte);
        list = &list[low..high];
        if let Some(&(name, text)) = list.first()
            && name.len() == index + 1
        {
            best = Some((index + 1, text));
            list = &list[1..];
        }
        if list.is_empty() {
            break;
        }
    }
    let (length, text) = best?;
    let next = rest.get(length);
    if attribute
        && rest[length - 1] != b';'
        && next.is_some_and(|b| *b == b'=' || b.is_ascii_alphanumeric())
    {
        return None;
    }
    Some((Meant::Text(text), at + length))
}

fn numeric(bytes: &[u8], mut at: usize) -> Option<(Meant, usize)> {
    let hexadecimal = matches!(bytes.get(at), Some(b'x' | b'X'));
    at += usize::from(hexadecimal);
    let radix = if hexadecimal { 16 } else { 10 };
    let from = at;
    let mut code: u32 = 0;
    while let Some(digit) = bytes.get(at).and_then(|b| char::from(*b).to_digit(radix)) {
        // Past the last code point only "too large" matters.
        code = (code * radix + digit).min(0x11_0000);
        at += 1;
    }
    if at == from {
        return None;
    }
    let end = at + usize::from(bytes.get(at) == Some(&b';'));
    Some((Meant::Char(code_point(code)), end))
}

/// The standard's table: what was meant by a number in the range of the C1 controls.
fn code_point(code: u32) -> char {
    const MEANT: [u16; 32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013,
        0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
    ];
    let meant = match code {
        0 => 0xFFFD,
        0x80..=0x9F => u32::from(MEANT[(code - 0x80) as usize]),
        other => other,
    };
    char::from_u32(meant).unwrap_or('\u{fffd}')
}
