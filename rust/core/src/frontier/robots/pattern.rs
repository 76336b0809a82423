//! Paths as patterns: `*` is any run of bytes, a final `$` is the end.

/// The pattern as compared: bytes outside ASCII escaped, escapes in upper case (RFC 9309, 2.2.2).
pub(super) fn spell(value: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(value.len());
    for (at, &byte) in value.iter().enumerate() {
        if !(0x20..0x80).contains(&byte) {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        } else if byte.is_ascii_hexdigit() && in_escape(value, at) {
            out.push(char::from(byte.to_ascii_uppercase()));
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

fn in_escape(value: &[u8], at: usize) -> bool {
    let whole = |percent: usize| {
        value[percent] == b'%'
            && matches!(value.get(percent + 1..percent + 3), Some([a, b]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
    };
    (at >= 1 && whole(at - 1)) || (at >= 2 && whole(at - 2))
}

/// `text` with the escapes of unreserved characters undone: `%7Euser` is `~user`. `None` when
/// there are none, which is nearly always.
pub(super) fn decode_unreserved(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let decoded = |at: usize| -> Option<char> {
        let high = digit(*bytes.get(at + 1)?)?;
        let low = digit(*bytes.get(at + 2)?)?;
        let byte = char::from_u32(high * 16 + low)?;
        (byte.is_ascii_alphanumeric() || matches!(byte, '-' | '.' | '_' | '~')).then_some(byte)
    };
    let first = text
        .match_indices('%')
        .find(|(at, _)| decoded(*at).is_some())?
        .0;
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = first;
    while let Some(next) = text[rest..].chars().next() {
        match (next == '%').then(|| decoded(rest)).flatten() {
            Some(plain) => {
                out.push(plain);
                rest += 3;
            }
            None => {
                out.push(next);
                rest += next.len_utf8();
            }
        }
    }
    Some(out)
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
