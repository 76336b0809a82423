//! Paths and queries in conditions, spelt as canonical URLs have them.
//!
//! People write `/café/` and `/a b/`; URLs have `/caf%C3%A9/` and `/a%20b/`. What is spelt otherwise would
//! never match, without a word.

use std::fmt::Write;
use std::sync::LazyLock;

use crate::canonical::{Rules, canonical};

/// Where in a URL a text stands: some characters are escaped in a path and not in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    /// After a `*` that may have gone over the `?`.
    Either,
}

/// A part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// The `*` of a glob.
    Any,
    Text(&'a str),
    /// One in a path, the other in a query.
    Or(&'a str, &'a str),
}

/// The spelling of ASCII characters in a path and in a query.
static SPELT: LazyLock<[Vec<String>; 2]> = LazyLock::new(|| {
    ["http://a/x", "http://a/?x"].map(|before| {
        let spelt = |byte: u8| {
            // Between other characters: spaces at the end would be cut.
            let c = char::from(byte);
            let url = canonical(&format!("{before}{c}x"), None, &Rules::plain());
            let spelt = url.ok().and_then(|url| {
                let text = url.as_str().strip_prefix(before)?;
                Some(text.strip_suffix('x')?.to_owned())
            });
            spelt.unwrap_or_else(|| c.into())
        };
        (0..128).map(spelt).collect()
    })
});

/// A text without `*`, in one place.
pub(super) fn spell(text: &str, place: Place) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    pieces(text, place, false, |piece| match piece {
        Piece::Any => out.push('*'),
        Piece::Text(text) | Piece::Or(text, _) => out.push_str(text),
    })?;
    Ok(out)
}

/// A glob as a regular expression: `*` stands for any characters, all others for themselves.
pub(super) fn of_glob(glob: &str, place: Place) -> Result<String, String> {
    let mut out = String::from("(?s)^");
    pieces(glob, place, true, |piece| match piece {
        Piece::Any => out.push_str(".*"),
        Piece::Text(text) => out.push_str(&regex::escape(text)),
        Piece::Or(one, other) => {
            let (one, other) = (regex::escape(one), regex::escape(other));
            let _ = write!(out, "(?:{one}|{other})");
        }
    })?;
    out.push('$');
    Ok(out)
}

fn pieces(
    text: &str,
    mut place: Place,
    wild: bool,
    mut push: impl FnMut(Piece<'_>),
) -> Result<(), String> {
    let odd = |c: char| c.is_control() || c == '#';
    if let Some(c) = text.chars().find(|c| odd(*c)) {
        return Err(format!("{text:?} has {c:?}, and no URL here has it"));
    }
    if place != Place::Query && has_dots(text) {
        return Err(format!("{text:?} has a segment of dots, and no URL has it"));
    }
    let mut escape = 0;
    for (at, c) in text.char_indices() {
        let mut buffer = [0; 4];
        if escape > 0 {
            escape -= 1;
            push(Piece::Text(c.to_ascii_uppercase().encode_utf8(&mut buffer)));
        } else if c == '*' && wild {
            place = if place == Place::Path {
                Place::Either
            } else {
                place
            };
            push(Piece::Any);
        } else if c == '?' && place != Place::Query {
            place = Place::Query;
            push(Piece::Text("?"));
        } else if let Some([path, query]) = spelt(c) {
            match place {
                Place::Path => push(Piece::Text(path)),
                Place::Query => push(Piece::Text(query)),
                Place::Either if path == query => push(Piece::Text(path)),
                Place::Either => push(Piece::Or(path, query)),
            }
            let digits = text.as_bytes().get(at + 1..at + 3);
            if c == '%' && digits.is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)) {
                escape = 2;
            }
        } else {
            for byte in c.encode_utf8(&mut buffer).bytes() {
                push(Piece::Text(&format!("%{byte:02X}")));
            }
        }
    }
    Ok(())
}

/// The spellings of an ASCII character in a path and in a query.
fn spelt(c: char) -> Option<[&'static str; 2]> {
    let [path, query] = &*SPELT;
    Some([path.get(c as usize)?, query.get(c as usize)?])
}

/// Whether a whole segment of the path is `.` or `..`: canonical URLs have these folded.
fn has_dots(text: &str) -> bool {
    let path = text.split('?').next().unwrap_or_default();
    let Some((whole, last)) = path.rsplit_once('/') else {
        return false;
    };
    // The last may be the beginning of a longer one.
    let last = (path.len() < text.len()).then_some(last);
    whole.split('/').chain(last).any(|segment| {
        let plain = segment.replace("%2e", ".").replace("%2E", ".");
        plain == "." || plain == ".."
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_spelt_as_in_urls() {
        for (text, expected) in [
            ("/café/", "/caf%C3%A9/"),
            ("/a b/", "/a%20b/"),
            ("/caf%c3%a9", "/caf%C3%A9"),
            ("/a{'}?{'}", "/a%7B'%7D?{%27}"),
            ("/a\\b", "/a/b"),
            ("/100%", "/100%"),
            ("/.well-known/..", "/.well-known/.."),
        ] {
            assert_eq!(spell(text, Place::Path).unwrap(), expected, "{text}");
        }
        assert_eq!(spell("naïve'", Place::Query).unwrap(), "na%C3%AFve%27");
        for text in ["/a/../b", "/a/.?x", "/%2e%2E/", "/a#b", "/a\tb"] {
            let wrong = spell(text, Place::Path).unwrap_err();
            assert!(wrong.contains("no URL"), "{wrong}");
        }
        // After a `*` nobody knows whether the query has begun.
        let glob = of_glob("*é{*?}", Place::Path).unwrap();
        assert_eq!(glob, r"(?s)^.*%C3%A9(?:%7B|\{).*\?\}$");
    }

    proptest! {
        #[test]
        fn what_canonical_makes_of_a_text_is_what_it_is_spelt_as(
            path in "(/[a-zé '{}%^|\\[\\]`\"<>]{1,5}){1,3}", query in "[a-zé=&'{}%^|`\"<>]{0,9}",
        ) {
            // No space at the end: of a URL it would be cut.
            let text = format!("{path}?{query}x");
            let url = canonical(&format!("http://a{text}"), None, &Rules::plain()).unwrap();
            prop_assert_eq!(spell(&text, Place::Path).unwrap(), url.path_and_query());
        }
    }
}
