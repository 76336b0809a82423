//! The HTTP header `Link` (RFC 8288).
//!
//! Takes: one header value. Gives: its links. Lenient: what cannot be read ends the value.

/// One link of the header.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeaderLink<'a> {
    pub target: &'a str,
    pub rel: &'a str,
    pub hreflang: &'a str,
    pub title: &'a str,
    pub media_type: &'a str,
}

/// Calls `found` with each link in `value`.
pub fn links<'a>(value: &'a str, mut found: impl FnMut(HeaderLink<'a>)) {
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let Some((target, after)) = rest.strip_prefix('<').and_then(|r| r.split_once('>')) else {
            return;
        };
        let mut link = HeaderLink {
            target: target.trim(),
            ..HeaderLink::default()
        };
        rest = after.trim_start();
        while let Some(after) = rest.strip_prefix(';') {
            rest = parameter(after.trim_start(), &mut link).trim_start();
        }
        found(link);
        if !rest.starts_with(',') {
            return;
        }
    }
}

/// Reads one parameter; gives what follows. The first of a name counts.
fn parameter<'a>(text: &'a str, link: &mut HeaderLink<'a>) -> &'a str {
    let end = text.find([';', ',', '=']).unwrap_or(text.len());
    let name = text[..end].trim();
    let Some(rest) = text[end..].strip_prefix('=') else {
        return &text[end..];
    };
    let rest = rest.trim_start();
    let (value, rest) = match rest.strip_prefix('"') {
        Some(quoted) => {
            let end = quoted_end(quoted);
            (&quoted[..end], quoted.get(end + 1..).unwrap_or_default())
        }
        None => {
            let end = rest.find([';', ',']).unwrap_or(rest.len());
            (rest[..end].trim(), &rest[end..])
        }
    };
    let slot = match name {
        n if n.eq_ignore_ascii_case("rel") => &mut link.rel,
        n if n.eq_ignore_ascii_case("hreflang") => &mut link.hreflang,
        n if n.eq_ignore_ascii_case("title") => &mut link.title,
        n if n.eq_ignore_ascii_case("type") => &mut link.media_type,
        _ => return rest,
    };
    if slot.is_empty() {
        *slot = value;
    }
    rest
}

/// Where a quoted string ends; a backslash protects the next character.
fn quoted_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}
