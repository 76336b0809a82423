//! Paths as patterns: `*` is any run of bytes, a final `$` is the end.

/// A value as it is shown and first compared: what a URL cannot have is escaped (blanks, controls, bytes
/// outside ASCII), escapes are in upper case (RFC 9309, 2.2.2).
pub(super) fn spell(value: &[u8]) -> String {
    let mut out = String::with_capacity(value.len());
    for (at, &byte) in value.iter().enumerate() {
        if !byte.is_ascii_graphic() {
            escape(&mut out, byte);
        } else if byte.is_ascii_hexdigit() && in_escape(value, at) {
            out.push(char::from(byte.to_ascii_uppercase()));
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

fn escape(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(HEX[usize::from(byte >> 4)]));
    out.push(char::from(HEX[usize::from(byte & 15)]));
}

fn in_escape(value: &[u8], at: usize) -> bool {
    let whole = |percent: usize| {
        value[percent] == b'%'
            && matches!(value.get(percent + 1..percent + 3), Some([a, b]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
    };
    (at >= 1 && whole(at - 1)) || (at >= 2 && whole(at - 2))
}

/// What is brought to its normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The path and query of a URL: `*` and `$` are letters.
    Path,
    /// A pattern: `*` and a final `$` are not letters.
    Disallow,
    /// As before, but escapes of unreserved characters stay: an `Allow` is taken to the letter there.
    Allow,
}

/// One form for all spellings of a character: escapes of printable characters are undone (`%7E` is `~`,
/// `%3A` is `:`, `%5B` is `[`), and `*` and `$` as letters are escaped, so that they differ from the
/// wildcards (RFC 9309, 2.2.3). What parts a URL stays apart from its escape: `/` and `?` in a path,
/// `&`, `=` and `+` in a query, `#` and `%` anywhere. `None` when nothing changes, which is nearly always.
pub(super) fn normal(text: &str, side: Side) -> Option<String> {
    let bytes = text.as_bytes();
    let first = bytes.iter().position(|b| matches!(b, b'%' | b'*' | b'$'))?;
    let query_at = text.find('?').unwrap_or(text.len());
    let mut out = String::with_capacity(text.len() + 4);
    out.push_str(&text[..first]);
    let (mut at, mut copied) = (first, first);
    while at < bytes.len() {
        let (spelling, length) = match bytes[at] {
            b'*' if side == Side::Path => (Some(b'*'), 1),
            b'$' if side == Side::Path || at + 1 < bytes.len() => (Some(b'$'), 1),
            b'%' => match escaped(bytes, at) {
                Some(byte) if is_undone(byte, at > query_at, side) => (Some(byte), 3),
                // Whole, so that its digits are not looked at.
                Some(_) => (None, 3),
                None => (None, 1),
            },
            _ => (None, 1),
        };
        if let Some(byte) = spelling {
            out.push_str(&text[copied..at]);
            match byte {
                b'*' | b'$' => escape(&mut out, byte),
                plain => out.push(char::from(plain)),
            }
            copied = at + length;
        }
        at += length;
    }
    out.push_str(&text[copied..]);
    (out != text).then_some(out)
}

/// The byte that the escape at `at` stands for.
fn escaped(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |place: usize| char::from(*bytes.get(place)?).to_digit(16);
    u8::try_from(digit(at + 1)? * 16 + digit(at + 2)?).ok()
}

fn is_undone(byte: u8, in_query: bool, side: Side) -> bool {
    match byte {
        b'#' | b'%' | b'*' | b'$' => false,
        b'/' | b'?' => in_query,
        b'&' | b'=' | b'+' => !in_query,
        _ if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => side != Side::Allow,
        _ => byte.is_ascii_graphic(),
    }
}

/// Whether `path` begins as `pattern` says. Each literal piece between two stars is taken at its
/// first place: a later one could never match more. So there is nothing to go back to, and the
/// time is linear in the path for each pattern.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(stem) => (stem, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        if let Some(before) = last.replace(piece) {
            match find(rest, before) {
                Some(end) => rest = &rest[end..],
                None => return false,
            }
        }
    }
    match (last, anchored) {
        (None, true) => rest.is_empty(),
        (None, false) => true,
        (Some(piece), true) => rest.ends_with(piece),
        (Some(piece), false) => find(rest, piece).is_some(),
    }
}

/// Where the first `piece` in `text` ends.
fn find(text: &str, piece: &str) -> Option<usize> {
    if piece.is_empty() {
        return Some(0);
    }
    text.find(piece).map(|at| at + piece.len())
}
